// SPDX-License-Identifier: MIT
// The inner loop of statistics: sums over one piece of numbers, in 16 lanes on every CPU.
#pragma once

#include <cstddef>

namespace ingot::codec {

inline constexpr std::size_t statistics_lanes = 16;

/// Number i belongs to lane i % 16; each lane adds up its numbers in their order.
struct LaneSums {
  alignas(64) float sums[statistics_lanes];
  alignas(64) float minima[statistics_lanes];
  alignas(64) float maxima[statistics_lanes];
  alignas(64) float zeros[statistics_lanes];  ///< Counts: exact, since a piece is short.
};

/// `count` is a multiple of 16. With a NaN among the numbers only its sum is defined.
void sum_lanes_ref(const float* numbers, std::size_t count, LaneSums& sums) noexcept;
void sum_lanes(const float* numbers, std::size_t count, LaneSums& sums) noexcept;

/// The squared distances from `center`, added up by lanes.
void sum_squares_ref(const float* numbers, std::size_t count, float center,
                     float (&squares)[statistics_lanes]) noexcept;
void sum_squares(const float* numbers, std::size_t count, float center,
                 float (&squares)[statistics_lanes]) noexcept;

}  // namespace ingot::codec
