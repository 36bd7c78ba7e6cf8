// SPDX-License-Identifier: MIT
// Division that rounds up.
#pragma once

#include <cstdint>

namespace ingot {

/// How many units, the last perhaps in part, `number` needs; `unit` is above 0. Never overflows.
[[nodiscard]] constexpr std::uint64_t divide_up(std::uint64_t number, std::uint64_t unit) noexcept {
  return number / unit + (number % unit != 0 ? 1 : 0);
}

}  // namespace ingot
