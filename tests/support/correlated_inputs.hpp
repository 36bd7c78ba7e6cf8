// SPDX-License-Identifier: MIT
// Inputs of a matrix that go together, as those of a trained one do.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/random.hpp"

namespace ingot::test {

/// Numbers from -1 to 1.
class EvenNumbers {
 public:
  explicit EvenNumbers(std::uint64_t seed) : random_(seed) {}
  float next() { return static_cast<float>(random_() >> 40) * 0x1p-23f - 1.0f; }

 private:
  Random random_;
};

/// The second moments of one block of columns, row by row: the mean of a a^T over four times as
/// many inputs a as there are columns, each column being much like the one before it.
inline std::vector<float> correlated_moments(std::size_t columns, std::uint64_t seed = 1) {
  EvenNumbers numbers(seed);
  const std::size_t inputs = 4 * columns;
  std::vector<double> sums(columns * columns);
  std::vector<double> a(columns);
  for (std::size_t t = 0; t < inputs; ++t) {
    double last = 0.0;
    for (double& value : a) value = last = 0.9 * last + static_cast<double>(numbers.next());
    for (std::size_t i = 0; i < columns; ++i) {
      double* const row = &sums[i * columns];
      for (std::size_t j = 0; j <= i; ++j) row[j] += a[i] * a[j];
    }
  }
  std::vector<float> moments;
  for (std::size_t i = 0; i < columns; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      const double sum = sums[std::max(i, j) * columns + std::min(i, j)];
      moments.push_back(static_cast<float>(sum / static_cast<double>(inputs)));
    }
  }
  return moments;
}

}  // namespace ingot::test
