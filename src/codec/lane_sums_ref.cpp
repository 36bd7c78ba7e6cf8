// SPDX-License-Identifier: MIT
#include <algorithm>
#include <iterator>
#include <limits>

#include "codec/lane_sums.hpp"

namespace ingot::codec {

void sum_lanes_ref(const float* numbers, std::size_t count, LaneSums& sums) noexcept {
  std::fill(std::begin(sums.sums), std::end(sums.sums), 0.0f);
  std::fill(std::begin(sums.minima), std::end(sums.minima), std::numeric_limits<float>::infinity());
  std::fill(std::begin(sums.maxima), std::end(sums.maxima),
            -std::numeric_limits<float>::infinity());
  std::fill(std::begin(sums.zeros), std::end(sums.zeros), 0.0f);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t lane = i % statistics_lanes;
    const float number = numbers[i];
    sums.sums[lane] += number;
    if (number < sums.minima[lane]) sums.minima[lane] = number;
    if (number > sums.maxima[lane]) sums.maxima[lane] = number;
    if (number == 0.0f) sums.zeros[lane] += 1.0f;
  }
}

void sum_squares_ref(const float* numbers, std::size_t count, float center,
                     float (&squares)[statistics_lanes]) noexcept {
  std::fill(std::begin(squares), std::end(squares), 0.0f);
  for (std::size_t i = 0; i < count; ++i) {
    const float distance = numbers[i] - center;
    squares[i % statistics_lanes] += distance * distance;
  }
}

}  // namespace ingot::codec
