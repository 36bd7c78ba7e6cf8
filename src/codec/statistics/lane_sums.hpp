// SPDX-License-Identifier: MIT
// The inner loop of statistics: sums, extremes and zeros of floats, in 32 lanes on every CPU.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace ingot::codec {

/// Two vectors of the widest CPUs: the additions of one vector alone would wait for each other.
inline constexpr std::size_t statistics_lanes = 32;

/// Number i belongs to lane i % 32; each lane adds up its numbers in their order.
struct LaneSums {
  LaneSums() noexcept {
    std::fill_n(minima, statistics_lanes, std::numeric_limits<float>::infinity());
    std::fill_n(maxima, statistics_lanes, -std::numeric_limits<float>::infinity());
  }

  alignas(64) float sums[statistics_lanes] = {};
  alignas(64) float squares[statistics_lanes] = {};  ///< Sums of squares.
  alignas(64) float minima[statistics_lanes];
  alignas(64) float maxima[statistics_lanes];
  std::uint64_t zeros = 0;  ///< The zeros of all lanes.
};

/// Adds numbers to the sums, the first one to lane 0. A NaN makes the sums of its lane NaN; the
/// extremes are then undefined. An extreme that is zero may have either sign.
void sum_lanes_ref(const float* numbers, std::size_t count, LaneSums& sums) noexcept;

/// Adds numbers; `count` is a multiple of 32.
void sum_lanes(const float* numbers, std::size_t count, LaneSums& sums) noexcept;

}  // namespace ingot::codec
