// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ingot/tensor_profile.hpp"

namespace ingot {
namespace {

/// Sums run in this many lanes, whatever the CPU has, so that a compiler may use vectors and the
/// digits are the same.
constexpr std::size_t lane_count = 8;

struct Lanes {
  std::array<double, lane_count> squared_error{};
  std::array<double, lane_count> squared_signal{};
  std::array<double, lane_count> largest{};
  std::array<std::uint64_t, lane_count> count{};

  void add(std::size_t lane, double reference, double number) noexcept {
    // The difference of finite floats is a finite double; anything else gives NaN or infinity.
    const double error = std::abs(number - reference);
    const bool is_finite = error <= std::numeric_limits<double>::max();
    const double kept_error = is_finite ? error : 0.0;
    const double kept_signal = is_finite ? reference : 0.0;
    squared_error[lane] += kept_error * kept_error;
    squared_signal[lane] += kept_signal * kept_signal;
    largest[lane] = kept_error > largest[lane] ? kept_error : largest[lane];
    count[lane] += is_finite ? 1 : 0;
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
  Lanes lanes;
  std::size_t i = 0;
  for (; i + lane_count <= count; i += lane_count) {
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
      lanes.add(lane, static_cast<double>(reference[i + lane]),
                static_cast<double>(numbers[i + lane]));
    }
  }
  for (; i < count; ++i) {
    lanes.add(i % lane_count, static_cast<double>(reference[i]), static_cast<double>(numbers[i]));
  }
  QuantizationError result;
  for (std::size_t lane = 0; lane < lane_count; ++lane) {
    result.add({lanes.count[lane], lanes.squared_error[lane], lanes.squared_signal[lane],
                lanes.largest[lane]});
  }
  return result;
}

}  // namespace ingot
