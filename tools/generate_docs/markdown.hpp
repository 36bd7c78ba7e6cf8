// SPDX-License-Identifier: MIT
// Pieces of Markdown.
#pragma once

#include <string>
#include <string_view>

namespace ingot::docs {

/// A row of a table: the cells between bars.
template <class... Cells>
std::string row(const Cells&... cells) {
  std::string text = "|";
  ((text.append(" ").append(cells).append(" |")), ...);
  return text + '\n';
}

/// Escapes characters that Markdown would take for markup.
inline std::string plain(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (std::string_view("\\|*<>`").find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

/// Escapes markup, but leaves code between backticks as it is.
inline std::string escape_markup(std::string_view text) {
  std::string result;
  bool is_code = false;
  for (const char c : text) {
    if (c == '`') is_code = !is_code;
    if (!is_code && std::string_view("\\|*<>").find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

inline std::string code(std::string_view text) { return '`' + std::string(text) + '`'; }

}  // namespace ingot::docs
