// SPDX-License-Identifier: MIT
// Characters as Python's str sees them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/ascii.hpp"
#include "base/utf8.hpp"

namespace ingot::chat {

struct Character {
  char32_t code_point = 0;
  std::size_t size_bytes = 1;
  bool is_valid = true;
};

/// The first character of `text`, which is not empty. A byte that is no UTF-8 is a character.
[[nodiscard]] inline Character first_character(std::string_view text) noexcept {
  const auto byte = static_cast<unsigned char>(text[0]);
  if (byte < 0x80) return {byte, 1, true};
  const Utf8Character character = decode_utf8(text);
  if (character.size_bytes == 0) return {byte, 1, false};
  return {character.code_point, character.size_bytes, true};
}

/// The last character of `text`, which is not empty.
[[nodiscard]] Character last_character(std::string_view text) noexcept;

[[nodiscard]] bool is_ascii(std::string_view text) noexcept;
[[nodiscard]] std::size_t count_characters(std::string_view text) noexcept;

/// The byte at which the character with an index begins; the size of `text` beyond its end.
[[nodiscard]] std::size_t byte_of_character(std::string_view text, std::size_t index) noexcept;

void append_character(std::string& text, char32_t code_point);

enum class CharacterClass : std::uint8_t {
  other,
  letter,
  decimal,  ///< 0 to 9 of any script
  digit,    ///< superscripts and the like
  numeric,  ///< fractions, Roman numerals
  hidden,   ///< what repr() escapes
};

[[nodiscard]] CharacterClass class_of(char32_t code_point) noexcept;
[[nodiscard]] bool is_space(char32_t code_point) noexcept;
[[nodiscard]] bool is_alphanumeric(char32_t code_point) noexcept;
/// Title: letters like U+01C5, which have a lower case and an upper case.
enum class CaseClass : std::uint8_t { none, lower, upper, title };
[[nodiscard]] CaseClass case_class_of(char32_t code_point) noexcept;
[[nodiscard]] bool is_upper(char32_t code_point) noexcept;
[[nodiscard]] bool is_lower(char32_t code_point) noexcept;
[[nodiscard]] bool is_cased(char32_t code_point) noexcept;
[[nodiscard]] bool continues_name(char32_t code_point) noexcept;

enum class Case : std::uint8_t { upper, lower, title, folded };

/// Appends a character, or the characters that it becomes in another case.
void append_in_case(std::string& text, Case wanted, char32_t code_point);

/// A whole text in another case. `before` is what precedes it in its word: the lower case of a
/// Greek sigma depends on its neighbours.
[[nodiscard]] std::string in_case(std::string_view text, Case wanted);

/// The value of a digit or letter of ASCII, to base 36; 99 for others.
[[nodiscard]] constexpr int digit_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = lower_case(c);
  return lower >= 'a' && lower <= 'z' ? lower - 'a' + 10 : 99;
}

/// The escape of a character as Python writes it: `\x1b`, `\u200b` or `\U000e0001`.
[[nodiscard]] std::string character_escape(char32_t code_point);

[[nodiscard]] std::string_view strip_left(std::string_view text) noexcept;
[[nodiscard]] std::string_view strip_right(std::string_view text) noexcept;

}  // namespace ingot::chat
