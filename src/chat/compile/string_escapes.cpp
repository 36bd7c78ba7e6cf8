// SPDX-License-Identifier: MIT
#include "chat/compile/string_escapes.hpp"

#include <algorithm>

#include "chat/values/characters.hpp"

namespace ingot::chat {
namespace {

/// Letters after a backslash, and what they stand for.
constexpr std::string_view letters = "abfnrtv\\'\"";
constexpr std::string_view meanings = "\a\b\f\n\r\t\v\\'\"";

constexpr char32_t replacement = 0xFFFD;  ///< for surrogates, which no text can hold

/// Reads at most `max_digits` digits of a base; the count of digits that were there.
std::size_t read_digits(std::string_view text, int base, std::size_t max_digits, char32_t& number) {
  std::size_t count = 0;
  number = 0;
  while (count < std::min(max_digits, text.size()) && digit_value(text[count]) < base) {
    number = number * static_cast<char32_t>(base) + static_cast<char32_t>(digit_value(text[count]));
    ++count;
  }
  return count;
}

void append_code_point(std::string& text, char32_t code_point) {
  const bool is_surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
  append_character(text, is_surrogate ? replacement : code_point);
}

/// One escape; `rest` begins behind its backslash. Gives the size of what was read, or 0 and a
/// reason.
std::size_t append_escape(std::string& text, std::string_view rest, std::string& reason) {
  const char kind = rest[0];
  char32_t number = 0;
  if (const std::size_t known = letters.find(kind); known != std::string_view::npos) {
    text += meanings[known];
    return 1;
  }
  if (kind == '\n') return 1;  // the line goes on
  if (const std::size_t count = read_digits(rest, 8, 3, number)) {
    append_code_point(text, number);
    return count;
  }
  if (const std::size_t width = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0) {
    if (read_digits(rest.substr(1), 16, width, number) < width || number > 0x10FFFF) {
      reason = std::string("the escape \\") + kind + " needs " + std::to_string(width) +
               " hexadecimal digits of a character";
      return 0;
    }
    append_code_point(text, number);
    return width + 1;
  }
  if (kind == 'N') {
    reason = "characters by their names (\\N{...}) are not supported";
    return 0;
  }
  const Character character = first_character(rest);
  if (character.code_point >= 0x80 && character.is_valid) {
    // Python turns characters beyond ASCII into escapes before it reads any; so a backslash before
    // one escapes the backslash of that escape.
    text += character_escape(character.code_point);
    return character.size_bytes;
  }
  text += '\\';
  text += kind;
  return 1;
}

}  // namespace

tl::expected<std::string_view, std::string> unescape_string(std::string_view literal,
                                                            Arena& arena) {
  std::size_t backslash = literal.find('\\');
  if (backslash == std::string_view::npos) return literal;
  std::string text;
  text.reserve(literal.size());
  while (backslash != std::string_view::npos) {
    text += literal.substr(0, backslash);
    literal.remove_prefix(backslash + 1);
    std::string reason;
    const std::size_t size = append_escape(text, literal, reason);
    if (size == 0) return tl::make_unexpected(std::move(reason));
    literal.remove_prefix(size);
    backslash = literal.find('\\');
  }
  text += literal;
  return arena.copy(text);
}

}  // namespace ingot::chat
