// SPDX-License-Identifier: MIT
// Numbers as people write them.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace ingot::cli {

/// The number that the whole text spells; nothing if it spells none or the number does not fit.
template <class Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && last == end ? std::optional(number) : std::nullopt;
}

}  // namespace ingot::cli
