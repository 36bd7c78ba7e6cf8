// SPDX-License-Identifier: MIT
// Numbers and bytes in hexadecimal digits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ascii.hpp"

namespace ingot {

inline constexpr std::string_view hexadecimal_digits = "0123456789abcdef";
inline constexpr std::string_view upper_hexadecimal_digits = "0123456789ABCDEF";

/// A number in hexadecimal, with at least `min_digits` digits.
[[nodiscard]] inline std::string hexadecimal(std::uint64_t number, std::size_t min_digits,
                                             std::string_view digits = hexadecimal_digits) {
  std::string text;
  for (; number != 0 || text.size() < min_digits; number >>= 4) {
    text.insert(text.begin(), digits[number & 15]);
  }
  return text;
}

/// The two digits of a byte.
[[nodiscard]] inline std::string hexadecimal_byte(char byte, std::string_view digits) {
  return hexadecimal(static_cast<unsigned char>(byte), 2, digits);
}

/// The number that a digit of either case stands for; nothing if the character is not a digit.
[[nodiscard]] constexpr std::optional<unsigned> value_of_hexadecimal(char c) noexcept {
  const std::size_t value = hexadecimal_digits.find(lower_case(c));
  return value < 16 ? std::optional(static_cast<unsigned>(value)) : std::nullopt;
}

/// The byte that two digits spell; nothing if they are not digits.
[[nodiscard]] constexpr std::optional<char> byte_of_hexadecimal(std::string_view text) noexcept {
  if (text.size() != 2) return std::nullopt;
  const auto high = value_of_hexadecimal(text[0]);
  const auto low = value_of_hexadecimal(text[1]);
  return high && low ? std::optional(static_cast<char>(*high * 16 + *low)) : std::nullopt;
}

/// Whether a text has this many digits, in lower case, and nothing else.
[[nodiscard]] constexpr bool is_hexadecimal(std::string_view text,
                                            std::size_t digit_count) noexcept {
  return text.size() == digit_count && text.find_first_not_of(hexadecimal_digits) == text.npos;
}

}  // namespace ingot
