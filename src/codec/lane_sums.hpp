// SPDX-License-Identifier: MIT
// The inner loop of statistics: sums over one piece of numbers, in 16 lanes on every CPU.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot::codec {

inline constexpr std::size_t statistics_lanes = 16;

/// Number i belongs to lane i % 16; each lane adds up its numbers in their order.
struct LaneSums {
  alignas(64) float distances[statistics_lanes];  ///< Sums of number - center.
  alignas(64) float squares[statistics_lanes];    ///< Sums of their squares.
  alignas(64) float minima[statistics_lanes];
  alignas(64) float maxima[statistics_lanes];
  std::uint64_t zeros;  ///< Of all lanes.
};

/// `count` is a multiple of 16. With a NaN among the numbers only its sums are defined.
void sum_lanes_ref(const float* numbers, std::size_t count, float center, LaneSums& sums) noexcept;
void sum_lanes(const float* numbers, std::size_t count, float center, LaneSums& sums) noexcept;

}  // namespace ingot::codec
