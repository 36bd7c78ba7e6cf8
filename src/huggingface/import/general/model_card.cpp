// SPDX-License-Identifier: MIT
#include "ingot/model_card.hpp"

#include "base/strings.hpp"
#include "huggingface/import/general/card_parser.hpp"

namespace ingot {
namespace {

/// The lines between the first, which must be `---`, and the next such line, or the end.
std::string front_matter(std::string_view text) {
  constexpr std::string_view fence = "---";
  std::string lines = with_line_feeds(std::string(text));
  std::string_view rest = lines;
  if (take_part(rest, '\n') != fence) return {};
  std::string matter;
  while (!rest.empty()) {
    const std::string_view line = take_part(rest, '\n');
    if (line == fence) break;
    matter.append(line).append("\n");
  }
  replace_all(matter, "\t", "  ");  // YAML allows no tabs for indentation
  return matter;
}

}  // namespace

const CardValue& CardValue::operator[](std::string_view name) const noexcept {
  static const CardValue nothing;
  for (std::size_t i = names.size(); i-- > 0;) {
    if (names[i] == name) return items[i];
  }
  return nothing;
}

bool CardValue::contains(std::string_view name) const noexcept {
  for (const std::string& own : names) {
    if (own == name) return true;
  }
  return false;
}

Result<CardValue> parse_model_card(std::string_view text, const std::string& file) {
  const std::string matter = front_matter(text);
  return huggingface::parse_card(matter, file, 2);
}

Result<CardValue> parse_yaml(std::string_view text, const std::string& file) {
  return huggingface::parse_card(text, file, 1);
}

}  // namespace ingot
