// SPDX-License-Identifier: MIT
// Shared by the quantizers of Q4_K and Q5_K: all but the size of a code.
#pragma once

#include "codec/blocks/k.hpp"
#include "codec/encode/searches.hpp"

namespace ingot::codec {

/// The tries without importances differ between the two types.
inline constexpr AffineTries q4_k_tries = {15, -1.0f, 0.1f, 20};
inline constexpr AffineTries q5_k_tries = {31, -0.5f, 0.1f, 15};
/// With importances they are the same.
[[nodiscard]] constexpr AffineTries k45_weighted_tries(int max_code) noexcept {
  return {max_code, -0.9f, 0.05f, 36};
}

/// Puts the scale and the minimum of group g, 6 bits each, into the table of Q4_K.
constexpr void put_group(Bytes<12>& p, std::size_t g, unsigned scale, unsigned minimum) noexcept {
  const auto put = [&p](std::size_t at, unsigned bits) {
    p[at] = static_cast<std::uint8_t>(p[at] | bits);
  };
  if (g < 4) {
    put(g, scale);
    put(g + 4, minimum);
    return;
  }
  put(g + 4, (scale & 15) | (minimum & 15) << 4);
  put(g - 4, scale >> 4 << 6);
  put(g, minimum >> 4 << 6);
}

}  // namespace ingot::codec
