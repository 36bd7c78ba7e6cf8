// SPDX-License-Identifier: MIT
// Shared by the scalar quantizers without a search: extremes, one scale, exact rounding.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace ingot::codec {

/// The value with the largest magnitude; the first one wins a tie. +0 if all are zeros.
template <std::size_t count>
[[nodiscard]] float signed_extreme(const std::array<float, count>& x) noexcept {
  float extreme = 0.0f;
  for (const float value : x) {
    if (std::fabs(value) > std::fabs(extreme)) extreme = value;
  }
  return extreme;
}

template <std::size_t count>
[[nodiscard]] float largest_magnitude(const std::array<float, count>& x) noexcept {
  return std::fabs(signed_extreme(x));
}

/// The first of the smallest values, which matters for the sign of a zero.
template <std::size_t count>
[[nodiscard]] float first_smallest(const std::array<float, count>& x) noexcept {
  float smallest = x[0];
  for (const float value : x) {
    if (value < smallest) smallest = value;
  }
  return smallest;
}

/// The largest value minus the smallest.
template <std::size_t count>
[[nodiscard]] float range(const std::array<float, count>& x) noexcept {
  float largest = x[0];
  for (const float value : x) {
    if (value > largest) largest = value;
  }
  return largest - first_smallest(x);
}

/// Rounds magnitudes below 2^31 to the nearest integer, ties away from zero.
[[nodiscard]] inline std::int32_t round_away(float value) noexcept {
  const float magnitude = std::fabs(value);
  const float whole = std::floor(magnitude);
  const float rounded = magnitude - whole >= 0.5f ? whole + 1.0f : whole;
  return static_cast<std::int32_t>(value < 0.0f ? -rounded : rounded);
}

/// The values of a block, their scale, and 1 / scale, which is 0 for a scale of 0.
template <std::size_t count>
struct ScaledBlock {
  std::array<float, count> x;
  float scale;
  float inverse;
};

/// A block and its scale, scale_of(x). A block counts as zeros if 1 / scale overflows, or
/// the scale itself (a range from -3e38 to 3e38 is infinite): the codes would be undefined.
template <std::size_t count, class ScaleOf>
[[nodiscard]] ScaledBlock<count> scaled_block(const std::array<float, count>& x,
                                              const ScaleOf& scale_of) noexcept {
  const float scale = scale_of(x);
  const float inverse = scale != 0.0f ? 1.0f / scale : 0.0f;
  if (std::isfinite(scale) && std::isfinite(inverse)) return {x, scale, inverse};
  const std::array<float, count> zeros{};
  return {zeros, scale_of(zeros), 0.0f};
}

}  // namespace ingot::codec
