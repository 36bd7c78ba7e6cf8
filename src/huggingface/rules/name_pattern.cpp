// SPDX-License-Identifier: MIT
#include "huggingface/rules/name_pattern.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii.hpp"
#include "base/strings.hpp"
#include "huggingface/folder/refusal.hpp"

namespace ingot::huggingface {
namespace {

constexpr std::size_t max_number_digits = 9;

std::size_t digits_at_start(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
}

}  // namespace

std::optional<std::uint64_t> number_of(std::string_view text) noexcept {
  return text.size() > max_number_digits ? std::nullopt : parse_number<std::uint64_t>(text);
}

std::optional<std::uint64_t> layer_of(std::string_view name) noexcept {
  while (!name.empty()) {
    if (const auto number = number_of(take_part(name, '.'))) return number;
  }
  return std::nullopt;
}

Result<NamePattern> NamePattern::parse(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, Kind>, 5> placeholders = {{
      {"*", Kind::any},
      {"{base}", Kind::base},
      {"{layer}", Kind::layer},
      {"{expert}", Kind::expert},
      {"{part}", Kind::part},
  }};
  NamePattern pattern;
  pattern.text_ = text;
  std::string literal;
  const auto end_literal = [&] {
    if (!literal.empty()) pattern.pieces_.push_back({Kind::literal, std::exchange(literal, {})});
  };
  while (!text.empty()) {
    const auto found = std::ranges::find_if(
        placeholders, [&](const auto& placeholder) { return text.starts_with(placeholder.first); });
    if (found != placeholders.end()) {
      end_literal();
      pattern.pieces_.push_back({found->second, {}});
      text.remove_prefix(found->first.size());
    } else {
      if (text.front() == '{' || text.front() == '}') {
        return refuse("pattern", "unknown placeholder at " + std::string(text));
      }
      literal += text.front();
      text.remove_prefix(1);
    }
  }
  end_literal();
  return pattern;
}

std::optional<NameParts> NamePattern::match(std::string_view name,
                                            std::span<const std::string> parts) const {
  NameParts found;
  if (!match_from(0, name, parts, found)) return std::nullopt;
  return found;
}

bool NamePattern::match_from(std::size_t piece, std::string_view rest,
                             std::span<const std::string> parts, NameParts& found) const {
  if (piece == pieces_.size()) return rest.empty();
  const Piece& wanted = pieces_[piece];
  const auto go_on = [&](std::size_t length) {
    return match_from(piece + 1, rest.substr(length), parts, found);
  };
  switch (wanted.kind) {
    case Kind::literal:
      return rest.starts_with(wanted.literal) && go_on(wanted.literal.size());
    case Kind::any:
    case Kind::base:
      for (std::size_t length = 0; length <= rest.size(); ++length) {
        if (!go_on(length)) continue;
        if (wanted.kind == Kind::base) found.base = rest.substr(0, length);
        return true;
      }
      return false;
    case Kind::layer:
    case Kind::expert: {
      const std::size_t length = digits_at_start(rest);
      const auto number = number_of(rest.substr(0, length));
      if (!number || !go_on(length)) return false;
      (wanted.kind == Kind::layer ? found.layer : found.expert) = number;
      return true;
    }
    case Kind::part:
      for (const std::string& part : parts) {
        if (!rest.starts_with(part) || !go_on(part.size())) continue;
        found.part = rest.substr(0, part.size());
        return true;
      }
      return false;
  }
  return false;
}

Result<std::string> fill_pattern(std::string_view pattern, const NameParts& parts,
                                 std::string_view name) {
  std::string filled;
  while (!pattern.empty()) {
    const std::size_t open = pattern.find('{');
    filled += pattern.substr(0, open);
    if (open == pattern.npos) return filled;
    pattern.remove_prefix(open);
    const std::size_t close = pattern.find('}');
    const std::string_view placeholder =
        pattern.substr(0, close == pattern.npos ? close : close + 1);
    if (placeholder == "{base}") {
      filled += parts.base;
    } else if (placeholder == "{part}") {
      filled += parts.part;
    } else if (placeholder == "{expert}" && parts.expert) {
      filled += std::to_string(*parts.expert);
    } else if (placeholder == "{layer}") {
      const auto layer = parts.layer ? parts.layer : layer_of(name);
      if (!layer) return refuse(std::string(name), "the name has no number of a layer");
      filled += std::to_string(*layer);
    } else {
      return refuse("pattern", "unknown placeholder " + std::string(placeholder));
    }
    pattern.remove_prefix(placeholder.size());
  }
  return filled;
}

}  // namespace ingot::huggingface
