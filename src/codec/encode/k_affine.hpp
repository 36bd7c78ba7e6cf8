// SPDX-License-Identifier: MIT
// How the K types with a scale and a minimum for each group are quantized: what Q2_K differs in
// from Q4_K and Q5_K.
#pragma once

#include "codec/blocks/k.hpp"
#include "codec/encode/searches.hpp"

namespace ingot::codec {

struct AffineQ2_K {
  static constexpr std::size_t group_elements = 16;
  static constexpr float mean_factor = 1.0f;   ///< The factor of the mean square that goes with
                                               ///< importances.
  static constexpr bool adds_average = false;  ///< Whether the average is added to weights without
                                               ///< importances.
  static constexpr AffineTries tries = {3, -0.5f, 0.1f, 15, true};
  static constexpr AffineTries weighted_tries = affine_weighted_tries(tries.max_code);
  static constexpr int top = 15;  ///< The largest code of scales and minimums.
  // The masks of the reference for codes out of range: after rounding, and when stored.
  static constexpr int rounded_bits = 15;
  static constexpr unsigned kept_bits = 255;
};

template <const AffineTries& unweighted_tries>
struct AffineK45 {
  static constexpr std::size_t group_elements = 32;
  static constexpr float mean_factor = 2.0f;
  static constexpr bool adds_average = true;
  static constexpr AffineTries tries = unweighted_tries;
  static constexpr AffineTries weighted_tries = affine_weighted_tries(tries.max_code);
  static constexpr int top = 63;
  static constexpr int rounded_bits = 255;
  static constexpr unsigned kept_bits = 63;
};

inline constexpr AffineTries q4_k_tries = {15, -1.0f, 0.1f, 20};
inline constexpr AffineTries q5_k_tries = {31, -0.5f, 0.1f, 15};
using AffineQ4_K = AffineK45<q4_k_tries>;
using AffineQ5_K = AffineK45<q5_k_tries>;

}  // namespace ingot::codec
