// SPDX-License-Identifier: MIT
// The pairs that BPE merges.
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.hpp"
#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tokenizer/special_block.hpp"

namespace ingot::huggingface {
namespace {

/// The most pairs of a vocabulary.
constexpr std::size_t max_merges = std::size_t{4} << 20;

/// A part of a pair. A space would end it, so the letter that stands for a space among bytes takes
/// its place.
std::string without_spaces(std::string_view part) {
  std::string text(part);
  replace_all(text, " ", "\xC4\xA0");  // U+0120
  return text;
}

Result<std::vector<std::string>> from_array(JsonView list, const std::string& file) {
  std::vector<std::string> merges;
  for (const JsonView merge : list.elements()) {
    const bool is_pair =
        merge.is_array() && merge.size() == 2 && merge.at(0).is_text() && merge.at(1).is_text();
    const bool is_valid = merge.is_text() || is_pair;
    if (is_valid) merges.emplace_back(merge.text());
    if (!is_valid || merges.size() > max_merges) {
      return refuse(file, "merge " + std::to_string(merges.size()) +
                              " is neither a text nor a pair of texts, or there are too many");
    }
    if (!is_pair) continue;
    merges.back() = without_spaces(merge.at(0).text()) + " " + without_spaces(merge.at(1).text());
  }
  return merges;
}

/// The next word of a line; empty at its end. White space separates, as Python splits.
std::string_view take_word(std::string_view& line) {
  constexpr std::string_view blanks = " \t\v\f\r\x1C\x1D\x1E\x1F";
  const std::size_t begin = line.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  line.remove_prefix(begin);
  const std::string_view word = line.substr(0, line.find_first_of(blanks));
  line.remove_prefix(word.size());
  return word;
}

std::vector<std::string> from_lines(std::string_view text) {
  std::vector<std::string> merges;
  bool is_first = true;
  while (!text.empty() && merges.size() < max_merges) {
    std::string_view line = take_part(text, '\n');
    const bool is_title = is_first && line.starts_with('#');
    is_first = false;
    const std::string_view left = take_word(line);
    const std::string_view right = take_word(line);
    if (is_title || right.empty() || !take_word(line).empty()) continue;
    merges.push_back(std::string(left) + " " + std::string(right));
  }
  return merges;
}

}  // namespace

Result<std::vector<std::string>> read_merges(const TokenizerFiles& files) {
  const JsonView list = files.tokenizer.root()["model"]["merges"];
  if (list.size() != 0) return from_array(list, files.folder->locate(file_names::tokenizer));
  if (!files.folder->has(file_names::merges)) return std::vector<std::string>();
  INGOT_TRY(const std::string text, files.folder->read_text(file_names::merges, max_table_bytes));
  return from_lines(with_line_feeds(text));
}

}  // namespace ingot::huggingface
