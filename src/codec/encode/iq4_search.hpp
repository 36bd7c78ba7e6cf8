// SPDX-License-Identifier: MIT
// The search of IQ4_NL and IQ4_XS: codes select one of 16 unevenly spaced values.
#pragma once

#include "codec/blocks/iq.hpp"
#include "codec/encode/searches.hpp"

namespace ingot::codec {

/// The code of the value nearest to v; of two the upper one; 15 for NaN.
[[nodiscard]] inline std::uint8_t nearest_iq4(float v) noexcept {
  const auto is_less = [](float left, std::int8_t right) { return left < to_float(right); };
  const auto above = std::upper_bound(iq4_values.begin(), iq4_values.end(), v, is_less);
  const auto code = static_cast<std::uint8_t>(above - iq4_values.begin());
  if (code == 0 || code == 16) return code == 0 ? 0 : 15;
  const float to_below = v - to_float(iq4_values[code - 1u]);
  const float to_above = to_float(iq4_values[code]) - v;
  return to_below < to_above ? static_cast<std::uint8_t>(code - 1) : code;
}

/// The scale of x[i] ~ scale * iq4_values[code].
template <std::size_t count>
float search_iq4(const float* x, const float* w) noexcept {
  const float extreme = signed_extreme(x, count);
  if (std::fabs(extreme) < least_magnitude) return 0.0f;
  const auto sums_of = [&](float t) {
    CodeSums sums;
    for (std::size_t i = 0; i < count; ++i) {
      const float value = to_float(iq4_values[nearest_iq4(t * x[i])]);
      const float product = w[i] * value;
      sums.product += product * x[i];
      sums.square += product * value;
    }
    return sums;
  };
  CodeSums sums = sums_of(1.0f / (extreme / 127.0f));
  float scale = scale_of(sums);
  float best = scale * sums.product;
  for (int k = -7; k <= 7; ++k) {
    sums = sums_of((to_float(k) - 127.0f) / extreme);
    if (!(sums.square > 0.0f && sums.product * sums.product > best * sums.square)) continue;
    scale = sums.product / sums.square;
    best = scale * sums.product;
  }
  return scale;
}

}  // namespace ingot::codec
