// SPDX-License-Identifier: MIT
#include "convert/error_sums.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace ingot::convert {
namespace {

// Vectors of the compiler, which every CPU has or takes apart into numbers: the same sums in the
// same order everywhere.
using Lanes [[gnu::vector_size(16)]] = float;
constexpr std::size_t lane_count = 4;
constexpr std::size_t vectors = 4;
constexpr std::size_t step = lane_count * vectors;
/// Squares that are summed in single precision before they are added to a double.
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

bool is_finite(float number) noexcept { return std::isfinite(number); }

/// For numbers that are odd or too large to square in single precision.
QuantizationError compare_slowly(std::span<const float> source, std::span<const float> decoded,
                                 bool& has_not_finite) noexcept {
  QuantizationError error;
  error.element_count = source.size();
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (!is_finite(source[i]) || !is_finite(decoded[i])) {
      has_not_finite = true;
      continue;
    }
    const double x = source[i];
    const double difference = static_cast<double>(decoded[i]) - x;
    error.squared_error += difference * difference;
    error.squared_source += x * x;
    error.max_error = std::max(error.max_error, std::abs(difference));
  }
  return error;
}

void add_slowly(std::span<const float> source, std::span<const float> decoded,
                QuantizationError& error) noexcept {
  bool ignored = false;
  QuantizationError rest = compare_slowly(source, decoded, ignored);
  rest.element_count = 0;
  error.add(rest);
}

}  // namespace

std::optional<std::size_t> find_not_finite(std::span<const float> numbers) noexcept {
  std::size_t i = 0;
  // x - x is 0 for finite numbers and NaN for all others, and a sum with a NaN in it is one.
  for (; i + run <= numbers.size(); i += run) {
    std::array<Lanes, vectors> sums{};
    for (std::size_t j = 0; j < run; j += step) {
      for (std::size_t k = 0; k < vectors; ++k) {
        const Lanes x = load(&numbers[i + j + k * lane_count]);
        sums[k] += x - x;
      }
    }
    if (sum_of(sums) != 0.0) break;
  }
  for (; i < numbers.size(); ++i) {
    if (!is_finite(numbers[i])) return i;
  }
  return std::nullopt;
}

QuantizationError compare(std::span<const float> source, std::span<const float> decoded,
                          bool& has_not_finite) noexcept {
  QuantizationError error;
  error.element_count = source.size();
  Lanes highest{};
  std::size_t i = 0;
  for (; i + run <= source.size(); i += run) {
    std::array<Lanes, vectors> errors{};
    std::array<Lanes, vectors> squares{};
    for (std::size_t j = 0; j < run; j += step) {
      for (std::size_t k = 0; k < vectors; ++k) {
        const std::size_t at = i + j + k * lane_count;
        const Lanes x = load(&source[at]);
        const Lanes difference = load(&decoded[at]) - x;
        errors[k] += difference * difference;
        squares[k] += x * x;
        highest = difference > highest ? difference : highest;
        const Lanes negative = -difference;
        highest = negative > highest ? negative : highest;
      }
    }
    error.squared_error += sum_of(errors);
    error.squared_source += sum_of(squares);
  }
  // NaN and infinities are in the sums, and so are numbers whose squares are infinite.
  if (!std::isfinite(error.squared_error) || !std::isfinite(error.squared_source)) {
    return compare_slowly(source, decoded, has_not_finite);
  }
  for (std::size_t lane = 0; lane < lane_count; ++lane) {
    error.max_error = std::max(error.max_error, static_cast<double>(highest[lane]));
  }
  const auto rest = source.subspan(i);
  const auto rest_decoded = decoded.subspan(i);
  if (find_not_finite(rest) || find_not_finite(rest_decoded)) has_not_finite = true;
  add_slowly(rest, rest_decoded, error);
  return error;
}

void add_weighted(std::span<const float> source, std::span<const float> decoded,
                  std::span<const float> weights, QuantizationError& error) noexcept {
  for (std::size_t row = 0; row + weights.size() <= source.size(); row += weights.size()) {
    // Two sums for even and odd columns, so that one addition need not wait for the other.
    std::array<double, 2> errors{};
    std::array<double, 2> squares{};
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double x = source[row + i];
      const double difference = static_cast<double>(decoded[row + i]) - x;
      const double weight = weights[i];
      if (!std::isfinite(x) || !std::isfinite(difference)) continue;
      errors[i % 2] += weight * (difference * difference);
      squares[i % 2] += weight * (x * x);
    }
    error.weighted_error += errors[0] + errors[1];
    error.weighted_source += squares[0] + squares[1];
  }
}

}  // namespace ingot::convert

namespace ingot {

double QuantizationError::rmse() const noexcept {
  return element_count == 0 ? 0.0 : std::sqrt(squared_error / static_cast<double>(element_count));
}

double QuantizationError::sqnr_decibels() const noexcept {
  return 10.0 * std::log10(squared_source / squared_error);
}

double QuantizationError::relative_error() const noexcept {
  if (weighted_source > 0.0) return std::sqrt(weighted_error / weighted_source);
  return squared_source > 0.0 ? std::sqrt(squared_error / squared_source) : 0.0;
}

void QuantizationError::add(const QuantizationError& other) noexcept {
  element_count += other.element_count;
  squared_error += other.squared_error;
  squared_source += other.squared_source;
  weighted_error += other.weighted_error;
  weighted_source += other.weighted_source;
  max_error = std::max(max_error, other.max_error);
}

}  // namespace ingot
