// SPDX-License-Identifier: MIT
#include "quantization/error_sums.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace ingot::quantization {
namespace {

// Vectors of the compiler, which every CPU has or takes apart into numbers: the same sums in the
// same order everywhere.
using Lanes [[gnu::vector_size(16)]] = float;
constexpr std::size_t lane_count = 4;
constexpr std::size_t vectors = 4;
constexpr std::size_t weights_at_once = lane_count * vectors;
/// Numbers that are summed in single precision before they are added to a double.
constexpr std::size_t run = 256;

Lanes load(const float* from) noexcept {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

double sum_of(const std::array<Lanes, vectors>& sums) noexcept {
  const Lanes all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  return (static_cast<double>(all[0]) + static_cast<double>(all[1])) +
         (static_cast<double>(all[2]) + static_cast<double>(all[3]));
}

/// The sum of source x (result - source) over a run; not finite if one of them is not.
double excess_in_lanes(const float* source, const float* decoded) noexcept {
  std::array<Lanes, vectors> sums{};
  for (std::size_t i = 0; i < run; i += weights_at_once) {
    for (std::size_t k = 0; k < vectors; ++k) {
      const Lanes x = load(source + i + k * lane_count);
      sums[k] += x * (load(decoded + i + k * lane_count) - x);
    }
  }
  return sum_of(sums);
}

/// The excess over any number of elements that are finite in both.
double excess_of_finite(const float* source, const float* decoded, std::size_t count) noexcept {
  double sum = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    const double x = source[i];
    const double difference = static_cast<double>(decoded[i]) - x;
    if (std::isfinite(difference)) sum += x * difference;
  }
  return sum;
}

double excess_of(const float* source, const float* decoded, std::size_t count) noexcept {
  if (count == run) {
    const double sum = excess_in_lanes(source, decoded);
    if (std::isfinite(sum)) return sum;
  }
  return excess_of_finite(source, decoded, count);
}

}  // namespace

std::optional<std::size_t> find_not_finite(std::span<const float> numbers) noexcept {
  std::size_t i = 0;
  // x - x is 0 for finite numbers and NaN for all others, and a sum with a NaN in it is one.
  for (; i + run <= numbers.size(); i += run) {
    std::array<Lanes, vectors> sums{};
    for (std::size_t j = 0; j < run; j += weights_at_once) {
      for (std::size_t k = 0; k < vectors; ++k) {
        const Lanes x = load(&numbers[i + j + k * lane_count]);
        sums[k] += x - x;
      }
    }
    if (sum_of(sums) != 0.0) break;
  }
  for (; i < numbers.size(); ++i) {
    if (!std::isfinite(numbers[i])) return i;
  }
  return std::nullopt;
}

void add_products(std::span<const float> source, std::span<const float> decoded,
                  TensorError& error) noexcept {
  // A product is the square of the source and the source times the difference; measure_error has
  // summed the squares. The second part is small, so single precision is enough for a run of it.
  double excess = 0.0;
  for (std::size_t first = 0; first < source.size(); first += run) {
    const std::size_t size = std::min(run, source.size() - first);
    excess += excess_of(&source[first], &decoded[first], size);
  }
  error.product += error.plain.squared_signal + excess;
}

void add_weighted(std::span<const float> source, std::span<const float> decoded,
                  std::span<const float> weights, TensorError& error) noexcept {
  for (std::size_t row = 0; row + weights.size() <= source.size(); row += weights.size()) {
    // Even and odd columns have separate sums, so that one addition need not wait for the other.
    std::array<double, 2> errors{};
    std::array<double, 2> squares{};
    std::array<double, 2> products{};
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double x = source[row + i];
      const double difference = static_cast<double>(decoded[row + i]) - x;
      const double weight = weights[i];
      if (!std::isfinite(x) || !std::isfinite(difference)) continue;
      errors[i % 2] += weight * (difference * difference);
      squares[i % 2] += weight * (x * x);
      products[i % 2] += weight * (x * static_cast<double>(decoded[row + i]));
    }
    error.weighted_error += errors[0] + errors[1];
    error.weighted_signal += squares[0] + squares[1];
    error.weighted_product += products[0] + products[1];
  }
}

}  // namespace ingot::quantization

namespace ingot {

double TensorError::relative() const noexcept {
  if (weighted_signal > 0.0) return std::sqrt(weighted_error / weighted_signal);
  if (plain.squared_signal > 0.0) return std::sqrt(plain.squared_error / plain.squared_signal);
  return 0.0;
}

std::optional<double> TensorError::relative_output() const noexcept {
  if (!(output_signal > 0.0)) return std::nullopt;
  return std::sqrt(std::max(0.0, output_error) / output_signal);
}

double TensorError::slope() const noexcept {
  if (weighted_signal > 0.0) return weighted_product / weighted_signal;
  return plain.squared_signal > 0.0 ? product / plain.squared_signal : 1.0;
}

void TensorError::add(const TensorError& other) noexcept {
  plain.add(other.plain);
  weighted_error += other.weighted_error;
  weighted_signal += other.weighted_signal;
  weighted_product += other.weighted_product;
  product += other.product;
  output_error += other.output_error;
  output_signal += other.output_signal;
}

}  // namespace ingot
