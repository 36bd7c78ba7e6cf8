// SPDX-License-Identifier: MIT
// Division that rounds up.
#pragma once

#include <cstdint>

namespace ingot {

/// The number of units, the last perhaps in part, that `number` needs; `unit` is above 0. Never
/// overflows.
[[nodiscard]] constexpr std::uint64_t divide_up(std::uint64_t number, std::uint64_t unit) noexcept {
  return number / unit + (number % unit != 0 ? 1 : 0);
}

}  // namespace ingot
