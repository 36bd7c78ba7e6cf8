// SPDX-License-Identifier: MIT
#include "codec/statistics/lane_sums.hpp"

namespace ingot::codec {

void sum_lanes_ref(const float* numbers, std::size_t count, LaneSums& sums) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t lane = i % statistics_lanes;
    const float number = numbers[i];
    sums.sums[lane] += number;
    sums.squares[lane] += number * number;
    if (number < sums.minima[lane]) sums.minima[lane] = number;
    if (number > sums.maxima[lane]) sums.maxima[lane] = number;
    if (number == 0.0f) ++sums.zeros;
  }
}

}  // namespace ingot::codec
