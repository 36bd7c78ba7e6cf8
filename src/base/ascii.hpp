// SPDX-License-Identifier: MIT
// Letters and digits as every locale has them.
#pragma once

#include <string>
#include <string_view>

namespace ingot {

[[nodiscard]] constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

[[nodiscard]] constexpr bool is_lower(char c) noexcept { return c >= 'a' && c <= 'z'; }
[[nodiscard]] constexpr bool is_upper(char c) noexcept { return c >= 'A' && c <= 'Z'; }
[[nodiscard]] constexpr bool is_letter(char c) noexcept { return is_lower(c) || is_upper(c); }
[[nodiscard]] constexpr bool is_lower_or_digit(char c) noexcept {
  return is_lower(c) || is_digit(c);
}
[[nodiscard]] constexpr bool is_letter_or_digit(char c) noexcept {
  return is_letter(c) || is_digit(c);
}

[[nodiscard]] constexpr char lower_case(char c) noexcept {
  return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
}

[[nodiscard]] inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = lower_case(c);
  return lower;
}

}  // namespace ingot
