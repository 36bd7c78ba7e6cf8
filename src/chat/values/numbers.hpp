// SPDX-License-Identifier: MIT
// Numbers as Python writes, reads and rounds them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ingot::chat {

/// What writing a real with many digits takes, in steps of a rendering.
inline constexpr std::uint64_t real_text_steps = 50;

/// `repr()` of a float: the shortest text that reads back as the same number.
[[nodiscard]] std::string real_text(double number);

/// Digits after the point, rounded half to even on the exact value.
[[nodiscard]] std::string fixed_text(double number, int decimals);
/// `1.50e+10`
[[nodiscard]] std::string exponent_text(double number, int decimals);
/// `%g`: `digits` significant ones; `keeps_zeros` as with the flag #.
[[nodiscard]] std::string general_text(double number, int digits, bool keeps_zeros);

/// `int()` of a float; nothing for what has no integer of 64 bits.
[[nodiscard]] std::optional<std::int64_t> truncate_real(double number) noexcept;

/// `round()` to a number of decimals, which may be negative.
[[nodiscard]] double round_real(double number, std::int64_t decimals);
/// Nothing if the result does not fit.
[[nodiscard]] std::optional<std::int64_t> round_integer(std::int64_t number, std::int64_t decimals);

/// `int(text, base)`; base 0 takes the base from the text. Nothing if the text is none, or beyond
/// 64 bits.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text, std::int64_t base);
/// `float(text)`
[[nodiscard]] std::optional<double> parse_real(std::string_view text);

/// An integer in base 2, 8, 10 or 16, without sign.
[[nodiscard]] std::string digits_text(std::uint64_t number, unsigned base);

/// The magnitude, also of the smallest integer.
[[nodiscard]] constexpr std::uint64_t magnitude_of(std::int64_t number) noexcept {
  return number < 0 ? ~static_cast<std::uint64_t>(number) + 1 : static_cast<std::uint64_t>(number);
}

/// How many steps, which are not 0, go from `start` to before `stop`. Unsigned arithmetic holds the
/// distance of any two integers.
[[nodiscard]] constexpr std::uint64_t step_count(std::int64_t start, std::int64_t stop,
                                                 std::int64_t step) noexcept {
  if (step > 0 ? start >= stop : start <= stop) return 0;
  const auto low = static_cast<std::uint64_t>(step > 0 ? start : stop);
  const auto high = static_cast<std::uint64_t>(step > 0 ? stop : start);
  return (high - low - 1) / magnitude_of(step) + 1;
}

}  // namespace ingot::chat
