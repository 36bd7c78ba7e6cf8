// SPDX-License-Identifier: MIT
#include "text/markdown.hpp"

#include <ingot/text.hpp>

#include "text/words.hpp"

namespace ingot::cli {
namespace {

constexpr bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/// Whether the character at `at` begins or ends something in that place.
bool is_mark(std::string_view text, std::size_t at) {
  const char c = text[at];
  const bool follows_word = at > 0 && is_word(text[at - 1]);
  // An underscore inside of a word marks nothing, and names of files are full of them.
  if (c == '_') return !follows_word || at + 1 == text.size() || !is_word(text[at + 1]);
  // Addresses become links by themselves.
  if (c == ':') return text.substr(at, 3) == "://";
  if (c == '.') return at >= 3 && lower_case(text.substr(at - 3, 3)) == "www";
  return std::string_view("\\`*[]<>#|~&$@").find(c) != std::string_view::npos;
}

}  // namespace

std::string markdown_text(std::string_view text) {
  const std::string safe = escape(text);
  std::string result;
  for (std::size_t i = 0; i < safe.size(); ++i) {
    if (is_mark(safe, i)) result += '\\';
    result += safe[i];
  }
  return result;
}

}  // namespace ingot::cli
