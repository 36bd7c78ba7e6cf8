// SPDX-License-Identifier: MIT
// Texts that are decimal numbers.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace ingot {

/// The number that the whole text spells; nothing if it spells none or the number does not fit.
template <class Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text) noexcept {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  return is_whole ? std::optional(number) : std::nullopt;
}

}  // namespace ingot
