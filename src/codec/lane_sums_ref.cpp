// SPDX-License-Identifier: MIT
#include <limits>

#include "codec/codec.hpp"
#include "codec/lane_sums.hpp"
#include "ingot/statistics.hpp"

namespace ingot::codec {

void sum_lanes_ref(const float* numbers, std::size_t count, float center, LaneSums& sums) noexcept {
  for (std::size_t lane = 0; lane < statistics_lanes; ++lane) {
    sums.distances[lane] = 0.0f;
    sums.squares[lane] = 0.0f;
    sums.minima[lane] = std::numeric_limits<float>::infinity();
    sums.maxima[lane] = -std::numeric_limits<float>::infinity();
  }
  sums.zeros = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t lane = i % statistics_lanes;
    const float number = numbers[i];
    const float distance = number - center;
    sums.distances[lane] += distance;
    sums.squares[lane] += distance * distance;
    if (number < sums.minima[lane]) sums.minima[lane] = number;
    if (number > sums.maxima[lane]) sums.maxima[lane] = number;
    if (number == 0.0f) ++sums.zeros;
  }
}

void sum_blocks_ref(DequantizeReference dequantize, std::size_t block_elements,
                    const std::byte* src, std::size_t block_count, LaneSums& sums) noexcept {
  float floats[statistics_piece];
  dequantize(src, floats, block_count);
  sum_lanes_ref(floats, block_count * block_elements, 0.0f, sums);
}

}  // namespace ingot::codec
