// SPDX-License-Identifier: MIT
// A scale for values of which few are negative: where the search of IQ2_XXS begins.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "codec/encode/quantize_common.hpp"

namespace ingot::codec {

/// Error of the scale 1/t; codes above 4 become 4, or if they are not capped, are bytes.
inline float scale_error(const float* x, const float* w, float t, bool is_capped) noexcept {
  const float scale = 1.0f / t;
  float error = 0.0f;
  for (std::size_t i = 0; i < 32; ++i) {
    const int rounded = round_even(t * x[i]);
    const int code = is_capped ? std::min(4, rounded) : rounded & 255;
    const float difference = x[i] - scale * static_cast<float>(code);
    error += w[i] * difference * difference;
  }
  return error;
}

/// The t, around 4 / largest, for which rounding t * x loses least.
inline float find_inverse_scale(const float* x, const float* w, float largest) noexcept {
  float best_t = 4.0f / largest;
  float best_error = scale_error(x, w, best_t, false);
  for (int k = -4; k <= 4; ++k) {
    if (k == 0) continue;
    const float t = (0.1f * static_cast<float>(k) + 4.0f) / largest;
    const float error = scale_error(x, w, t, true);
    if (error < best_error) {
      best_error = error;
      best_t = t;
    }
  }
  return best_t;
}

/// A scale for codes 0..4 of 32 values of which few are negative, the largest being `largest`. As
/// in the reference implementation, codes are kept in bytes: -1 becomes 255.
inline float refine_positive_scale(const float* x, const float* w, float t) noexcept {
  std::array<int, 32> codes;
  float p = 0.0f;
  float q = 0.0f;
  for (std::size_t i = 0; i < 32; ++i) {
    const int code = std::min(4, round_even(t * x[i]));
    p += w[i] * x[i] * static_cast<float>(code);
    q += w[i] * static_cast<float>(code) * static_cast<float>(code);
    codes[i] = code & 255;
  }
  bool has_changed = true;
  for (int pass = 0; pass < 5 && has_changed; ++pass) {
    has_changed = false;
    for (std::size_t i = 0; i < 32; ++i) {
      const auto old_code = static_cast<float>(codes[i]);
      const float rest_p = p - w[i] * x[i] * old_code;
      const float rest_q = q - w[i] * old_code * old_code;
      if (!(rest_p > 0.0f && rest_q > 0.0f)) continue;
      const int code = std::min(4, round_even(x[i] * rest_q / rest_p));
      if (code == codes[i]) continue;
      const auto new_code = static_cast<float>(code);
      const float new_p = rest_p + w[i] * x[i] * new_code;
      const float new_q = rest_q + w[i] * new_code * new_code;
      if (!(new_p * new_p * q > p * p * new_q)) continue;
      codes[i] = code & 255;
      p = new_p;
      q = new_q;
      has_changed = true;
    }
  }
  return q > 0.0f ? p / q : 0.0f;
}

}  // namespace ingot::codec
