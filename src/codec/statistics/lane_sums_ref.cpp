// SPDX-License-Identifier: MIT
#include <algorithm>
#include <iterator>

#include "codec/codec.hpp"
#include "codec/statistics/lane_sums.hpp"

namespace ingot::codec {

void sum_lanes_ref(const float* numbers, std::size_t count, float center, LaneSums& sums) noexcept {
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

void add_lanes(const LaneSums& lanes, NumberSums& sums) noexcept {
  sums.sum += total_of(lanes.distances);
  sums.squares += total_of(lanes.squares);
  // A zero loses its sign: which of +0 and -0 is found depends on the CPU.
  const float min = *std::min_element(std::begin(lanes.minima), std::end(lanes.minima)) + 0.0f;
  const float max = *std::max_element(std::begin(lanes.maxima), std::end(lanes.maxima)) + 0.0f;
  sums.min = std::min(sums.min, min);
  sums.max = std::max(sums.max, max);
  sums.zeros += lanes.zeros;
}

void sum_floats_ref(const TensorTypeInfo& type, DequantizeReference dequantize,
                    const std::byte* src, std::size_t block_count, NumberSums& sums) noexcept {
  constexpr std::size_t most_elements = 1024;  // whole blocks of every type
  float floats[most_elements];
  const std::size_t most_blocks = most_elements / type.block_elements;
  LaneSums lanes;
  for (std::size_t first = 0; first < block_count; first += most_blocks) {
    const std::size_t count = std::min(most_blocks, block_count - first);
    dequantize(src, floats, count);
    sum_lanes_ref(floats, count * type.block_elements, 0.0f, lanes);
    src += count * type.block_bytes;
  }
  add_lanes(lanes, sums);
}

}  // namespace ingot::codec
