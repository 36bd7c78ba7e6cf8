// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "ingot/tensor_profile.hpp"

namespace ingot {
namespace {

// Vectors of the compiler, which every CPU has or takes apart into numbers: the same sums in the
// same order everywhere.
using Floats [[gnu::vector_size(8)]] = float;
using Doubles [[gnu::vector_size(16)]] = double;

/// Number i of a span is added to lane i % 8, and the lanes are added up in their order at the end.
constexpr std::size_t lanes_of_vector = 2;
constexpr std::size_t vector_count = 4;
constexpr std::size_t lane_count = lanes_of_vector * vector_count;

/// Numbers between two looks at whether a sum is still finite.
constexpr std::size_t run = 256;

Doubles load(const float* from) noexcept {
  Floats floats;
  std::memcpy(&floats, from, sizeof floats);
  return __builtin_convertvector(floats, Doubles);
}

using Lanes = std::array<Doubles, vector_count>;

double sum_of(const Lanes& lanes) noexcept {
  double sum = 0.0;
  for (const Doubles& vector : lanes) sum = sum + vector[0] + vector[1];
  return sum;
}

struct ErrorSums {
  Lanes squared_error{};
  Lanes squared_signal{};
  Lanes largest{};  ///< The largest squared errors; the root of a square is exact.

  /// Numbers that are all finite; lane_count of them, or a multiple.
  void add(const float* reference, const float* numbers, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; i += lane_count) {
      for (std::size_t k = 0; k < vector_count; ++k) {
        const Doubles x = load(&reference[i + k * lanes_of_vector]);
        const Doubles difference = load(&numbers[i + k * lanes_of_vector]) - x;
        const Doubles square = difference * difference;
        squared_error[k] += square;
        squared_signal[k] += x * x;
        largest[k] = square > largest[k] ? square : largest[k];
      }
    }
  }

  /// Adds any numbers, the first in lane 0. Returns the number of finite pairs.
  std::size_t add_finite(const float* reference, const float* numbers, std::size_t count) noexcept {
    std::size_t finite = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double x = reference[i];
      const double difference = static_cast<double>(numbers[i]) - x;
      if (!std::isfinite(difference)) continue;
      ++finite;
      const std::size_t k = i % lane_count / lanes_of_vector;
      const std::size_t lane = i % lanes_of_vector;
      const double square = difference * difference;
      squared_error[k][lane] += square;
      squared_signal[k][lane] += x * x;
      largest[k][lane] = std::max(largest[k][lane], square);
    }
    return finite;
  }

  /// The square of a finite float is far below the largest double, so only NaN and infinities get
  /// here.
  [[nodiscard]] bool are_finite() const noexcept {
    return std::isfinite(sum_of(squared_error) + sum_of(squared_signal));
  }
};

}  // namespace

double QuantizationError::rmse() const noexcept {
  return count == 0 ? 0.0 : std::sqrt(squared_error / static_cast<double>(count));
}

double QuantizationError::sqnr_db() const noexcept {
  if (squared_error == 0.0) return std::numeric_limits<double>::infinity();
  return 10.0 * std::log10(squared_signal / squared_error);
}

void QuantizationError::add(const QuantizationError& other) noexcept {
  count += other.count;
  squared_error += other.squared_error;
  squared_signal += other.squared_signal;
  largest = std::max(largest, other.largest);
}

QuantizationError measure_error(std::span<const float> reference,
                                std::span<const float> numbers) noexcept {
  const std::size_t count = std::min(reference.size(), numbers.size());
  ErrorSums sums;
  QuantizationError result;
  for (std::size_t first = 0; first < count; first += run) {
    const std::size_t size = std::min(run, count - first);
    const std::size_t whole = size / lane_count * lane_count;
    const float* x = reference.data() + first;
    const float* y = numbers.data() + first;
    const ErrorSums before = sums;
    sums.add(x, y, whole);
    if (sums.are_finite()) {
      result.count += whole + sums.add_finite(x + whole, y + whole, size - whole);
    } else {
      sums = before;
      result.count += sums.add_finite(x, y, size);
    }
  }
  result.squared_error = sum_of(sums.squared_error);
  result.squared_signal = sum_of(sums.squared_signal);
  for (const Doubles& vector : sums.largest) {
    result.largest = std::max({result.largest, vector[0], vector[1]});
  }
  result.largest = std::sqrt(result.largest);
  return result;
}

}  // namespace ingot
