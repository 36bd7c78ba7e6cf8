// SPDX-License-Identifier: MIT
// The only arithmetic for numbers that come from a file.
#pragma once

#include <cstdint>
#include <optional>

namespace ingot {

/// a + b, or nothing if it does not fit.
[[nodiscard]] constexpr std::optional<std::uint64_t> checked_add(std::uint64_t a,
                                                                 std::uint64_t b) noexcept {
  std::uint64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

/// a * b, or nothing if it does not fit.
[[nodiscard]] constexpr std::optional<std::uint64_t> checked_mul(std::uint64_t a,
                                                                 std::uint64_t b) noexcept {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

/// Multiplies `value` in place. If the product is above `limit`, returns false and leaves `value`
/// as it is.
[[nodiscard]] constexpr bool multiply_within(std::uint64_t limit, std::uint64_t& value,
                                             std::uint64_t factor) noexcept {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(value, factor, &product) || product > limit) return false;
  value = product;
  return true;
}

/// The smallest multiple of `alignment` (any number above 0) that is at least `value`.
[[nodiscard]] constexpr std::optional<std::uint64_t> checked_align_up(
    std::uint64_t value, std::uint64_t alignment) noexcept {
  const std::uint64_t rest = value % alignment;
  return rest == 0 ? value : checked_add(value, alignment - rest);
}

}  // namespace ingot
