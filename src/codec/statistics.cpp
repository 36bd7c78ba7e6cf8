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

/// By floats in lanes. Their sums are infinite or NaN if a number is, or if they overflow.
Statistics compute_by_lanes(std::span<const float> numbers) noexcept {
  codec::LaneSums sums;
  codec::sum_lanes(numbers.data(), numbers.size(), sums);
  double sum = 0.0;
  double zeros = 0.0;
  for (std::size_t lane = 0; lane < codec::statistics_lanes; ++lane) {
    sum += sums.sums[lane];
    zeros += sums.zeros[lane];
  }
  if (!std::isfinite(sum)) return compute_exactly(numbers);
  Statistics result;
  const auto count = static_cast<double>(numbers.size());
  const auto center = static_cast<float>(sum / count);
  float squares[codec::statistics_lanes];
  codec::sum_squares(numbers.data(), numbers.size(), center, squares);
  for (const float square : squares) result.squares += square;
  if (!std::isfinite(result.squares)) return compute_exactly(numbers);
  result.count = numbers.size();
  result.zeros = static_cast<std::uint64_t>(zeros);
  result.min = *std::min_element(std::begin(sums.minima), std::end(sums.minima));
  result.max = *std::max_element(std::begin(sums.maxima), std::end(sums.maxima));
  result.mean = sum / count;
  // The squares are those around the rounded mean.
  const double shift = result.mean - center;
  result.squares = std::max(0.0, result.squares - count * shift * shift);
  return result;
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
