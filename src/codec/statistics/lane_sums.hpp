// SPDX-License-Identifier: MIT
// The inner loop of statistics: sums over one piece of numbers, in 16 lanes on every CPU.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "codec/statistics/number_sums.hpp"

namespace ingot::codec {

inline constexpr std::size_t statistics_lanes = 16;

/// Number i belongs to lane i % 16; each lane adds up its numbers in their order.
struct LaneSums {
  LaneSums() noexcept {
    std::fill_n(minima, statistics_lanes, std::numeric_limits<float>::infinity());
    std::fill_n(maxima, statistics_lanes, -std::numeric_limits<float>::infinity());
  }

  alignas(64) float distances[statistics_lanes] = {};  ///< Sums of number - center.
  alignas(64) float squares[statistics_lanes] = {};    ///< Sums of their squares.
  alignas(64) float minima[statistics_lanes];
  alignas(64) float maxima[statistics_lanes];
  std::uint64_t zeros = 0;  ///< Of all lanes.
};

/// Adds numbers to the sums. `count` is a multiple of 16. With a NaN among the numbers only its
/// sums are defined.
void sum_lanes_ref(const float* numbers, std::size_t count, float center, LaneSums& sums) noexcept;
void sum_lanes(const float* numbers, std::size_t count, float center, LaneSums& sums) noexcept;

/// Adds the lanes to the sums.
void add_lanes(const LaneSums& lanes, NumberSums& sums) noexcept;

}  // namespace ingot::codec
