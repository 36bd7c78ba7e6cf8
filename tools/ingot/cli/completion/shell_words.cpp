// SPDX-License-Identifier: MIT
#include "cli/completion/shell_words.hpp"

namespace ingot::cli {

ShellLine split_shell_line(std::string_view line, std::string_view breaks) {
  ShellLine result;
  result.words.emplace_back();
  bool is_within = false;  // a word has begun, even if it is empty
  char quote = '\0';
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    std::string& word = result.words.back();
    const bool is_escape = c == '\\' && quote != '\'' && i + 1 < line.size();
    if (quote == '\0' && (c == ' ' || c == '\t' || c == '\n')) {
      if (is_within) result.words.emplace_back();
      if (is_within) result.kept.clear();
      is_within = false;
      continue;
    }
    is_within = true;
    if (is_escape) {
      word += line[++i];
    } else if (c == quote) {
      quote = '\0';
    } else if (quote == '\0' && (c == '"' || c == '\'')) {
      quote = c;
    } else {
      word += c;
      if (quote == '\0' && breaks.find(c) != std::string_view::npos) result.kept = word;
    }
  }
  return result;
}

}  // namespace ingot::cli
