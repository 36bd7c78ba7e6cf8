// SPDX-License-Identifier: MIT
// Formulas over numbers that come from a file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/checked.hpp"

namespace ingot {

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
