// SPDX-License-Identifier: MIT
#include "ingot/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "codec/lane_sums.hpp"

namespace ingot {
namespace {

/// One number after the other, in double: for what the fast sums cannot do.
Statistics compute_exactly(std::span<const float> numbers) noexcept {
  Statistics result;
  double sum = 0.0;
  for (const float number : numbers) {
    if (std::isnan(number)) {
      ++result.nans;
    } else if (std::isinf(number)) {
      ++result.infinities;
    } else {
      ++result.count;
      if (number == 0.0f) ++result.zeros;
      result.min = std::min(result.min, static_cast<double>(number));
      result.max = std::max(result.max, static_cast<double>(number));
      sum += number;
    }
  }
  if (result.count == 0) return result;
  result.mean = sum / static_cast<double>(result.count);
  for (const float number : numbers) {
    if (!std::isfinite(number)) continue;
    const double distance = number - result.mean;
    result.squares += distance * distance;
  }
  return result;
}

/// The middle of a few numbers: good enough to keep the squares of all of them small. Zero where
/// they lie on both sides of it, as weights do.
float center_of(std::span<const float> numbers) noexcept {
  double sum = 0.0;
  std::size_t positive_count = 0;
  for (const float number : numbers) {
    sum += number;
    if (number > 0.0f) ++positive_count;
  }
  if (positive_count > 0 && positive_count < numbers.size()) return 0.0f;
  return static_cast<float>(sum / static_cast<double>(numbers.size()));
}

using Lanes = float[codec::statistics_lanes];

/// Half of the lanes is added to the other half until one is left.
double total(const Lanes& lanes) noexcept {
  double sums[codec::statistics_lanes / 2];
  std::size_t half = codec::statistics_lanes / 2;
  for (std::size_t i = 0; i < half; ++i) {
    sums[i] = static_cast<double>(lanes[i]) + static_cast<double>(lanes[i + half]);
  }
  while ((half /= 2) > 0) {
    for (std::size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
  }
  return sums[0];
}

/// By floats in lanes, around `center`.
Statistics compute_around(float center, std::span<const float> numbers) noexcept {
  codec::LaneSums sums;
  codec::sum_lanes(numbers.data(), numbers.size(), center, sums);
  const double squares = total(sums.squares);
  // They are infinite or NaN if a number is, or if they overflow.
  if (!std::isfinite(squares)) return compute_exactly(numbers);
  const auto count = static_cast<double>(numbers.size());
  const double shift = total(sums.distances) / count;
  // Far from the mean, the squares hold little else than the distance to it.
  const double shift_squares = count * shift * shift;
  if (shift_squares > squares / 2 && squares > 0.0) return compute_exactly(numbers);
  Statistics result;
  result.count = numbers.size();
  result.zeros = sums.zeros;
  result.min = *std::min_element(std::begin(sums.minima), std::end(sums.minima));
  result.max = *std::max_element(std::begin(sums.maxima), std::end(sums.maxima));
  result.mean = center + shift;
  result.squares = std::max(0.0, squares - shift_squares);
  return result;
}

Statistics compute_by_lanes(std::span<const float> numbers) noexcept {
  constexpr std::size_t few = 16;
  return compute_around(center_of(numbers.first(std::min(few, numbers.size()))), numbers);
}

Statistics compute_piece(std::span<const float> numbers) noexcept {
  const std::size_t whole = numbers.size() / codec::statistics_lanes * codec::statistics_lanes;
  if (whole == 0) return compute_exactly(numbers);
  Statistics result = compute_by_lanes(numbers.first(whole));
  result.add(compute_exactly(numbers.subspan(whole)));
  return result;
}

}  // namespace

double Statistics::deviation() const noexcept {
  return count == 0 ? 0.0 : std::sqrt(squares / static_cast<double>(count));
}

// Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm", 1979.
void Statistics::add(const Statistics& other) noexcept {
  zeros += other.zeros;
  nans += other.nans;
  infinities += other.infinities;
  if (other.count == 0) return;
  min = std::min(min, other.min);
  max = std::max(max, other.max);
  const auto mine = static_cast<double>(count);
  const auto theirs = static_cast<double>(other.count);
  count += other.count;
  const double distance = other.mean - mean;
  const double share = theirs / (mine + theirs);
  mean += distance * share;
  squares += other.squares + distance * distance * mine * share;
}

Statistics compute_statistics(std::span<const float> numbers) noexcept {
  Statistics result;
  while (!numbers.empty()) {
    const std::size_t count = std::min(statistics_piece, numbers.size());
    result.add(compute_piece(numbers.first(count)));
    numbers = numbers.subspan(count);
  }
  return result;
}

}  // namespace ingot
