// SPDX-License-Identifier: MIT
// What is added up of the numbers of a piece, for its statistics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace ingot::codec {

struct NumberSums {
  double sum = 0.0;
  double squares = 0.0;
  float min = std::numeric_limits<float>::infinity();
  float max = -std::numeric_limits<float>::infinity();
  std::uint64_t zeros = 0;
};

/// The sum of lanes, in the one order that all use: half of them is added to the other half, until
/// one is left.
template <class T, std::size_t count>
[[nodiscard]] double total_of(const T (&lanes)[count]) noexcept {
  double sums[count / 2];
  std::size_t half = count / 2;
  for (std::size_t i = 0; i < half; ++i) {
    sums[i] = static_cast<double>(lanes[i]) + static_cast<double>(lanes[i + half]);
  }
  while ((half /= 2) > 0) {
    for (std::size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
  }
  return sums[0];
}

}  // namespace ingot::codec
