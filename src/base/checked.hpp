// SPDX-License-Identifier: MIT
// The only arithmetic for numbers that come from a file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
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

/// The number of units, the last perhaps in part, that `number` needs; `unit` is above 0. Never
/// overflows.
[[nodiscard]] constexpr std::uint64_t divide_up(std::uint64_t number, std::uint64_t unit) noexcept {
  return number / unit + (number % unit != 0 ? 1 : 0);
}

struct WideProduct {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  bool operator==(const WideProduct&) const = default;
};

/// All bits of a product, by products of halves.
[[nodiscard]] constexpr WideProduct multiply_halves(std::uint64_t a, std::uint64_t b) noexcept {
  constexpr std::uint64_t half = 0xffffffff;
  const std::uint64_t low = (a & half) * (b & half);
  const std::uint64_t one = (a >> 32) * (b & half) + (low >> 32);
  const std::uint64_t other = (a & half) * (b >> 32) + (one & half);
  return {other << 32 | (low & half), (a >> 32) * (b >> 32) + (one >> 32) + (other >> 32)};
}

/// All bits of a product.
[[nodiscard]] constexpr WideProduct multiply_wide(std::uint64_t a, std::uint64_t b) noexcept {
#ifdef __SIZEOF_INT128__
  __extension__ using Wide = unsigned __int128;
  const Wide product = Wide{a} * b;
  return {static_cast<std::uint64_t>(product), static_cast<std::uint64_t>(product >> 64)};
#else
  return multiply_halves(a, b);
#endif
}

/// A number as a size or place in memory. One that is too large for this system becomes the
/// largest, which nothing in memory has.
[[nodiscard]] constexpr std::size_t to_size(std::uint64_t number) noexcept {
  return static_cast<std::size_t>(
      std::min<std::uint64_t>(number, std::numeric_limits<std::size_t>::max()));
}

/// A number that remembers whether every sum and product so far fitted 64 bits. A formula reads
/// like one and is checked once, at its end.
class CheckedNumber {
 public:
  constexpr CheckedNumber() noexcept = default;
  // The conversion is implicit, so that formulas can mix plain numbers in.
  constexpr CheckedNumber(std::uint64_t value) noexcept : value_(value) {}  // NOLINT

  /// The number; nothing if it does not fit.
  [[nodiscard]] constexpr std::optional<std::uint64_t> value() const noexcept { return value_; }

  friend constexpr CheckedNumber operator+(CheckedNumber a, CheckedNumber b) noexcept {
    return a.value_ && b.value_ ? CheckedNumber(checked_add(*a.value_, *b.value_)) : overflow();
  }
  friend constexpr CheckedNumber operator*(CheckedNumber a, CheckedNumber b) noexcept {
    return a.value_ && b.value_ ? CheckedNumber(checked_mul(*a.value_, *b.value_)) : overflow();
  }
  constexpr CheckedNumber& operator+=(CheckedNumber other) noexcept {
    return *this = *this + other;
  }

  /// The larger one; an overflow is larger than every number.
  friend constexpr CheckedNumber max(CheckedNumber a, CheckedNumber b) noexcept {
    return a.value_ && b.value_ ? CheckedNumber(std::max(*a.value_, *b.value_)) : overflow();
  }

 private:
  constexpr explicit CheckedNumber(std::optional<std::uint64_t> value) noexcept : value_(value) {}
  [[nodiscard]] static constexpr CheckedNumber overflow() noexcept {
    return CheckedNumber(std::optional<std::uint64_t>());
  }

  std::optional<std::uint64_t> value_ = 0;
};

}  // namespace ingot
