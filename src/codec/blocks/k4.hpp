// SPDX-License-Identifier: MIT
// Q4_K: super-blocks of 256 weights of 4 bits; and the group table that Q5_K shares.
#pragma once

#include "codec/blocks/block.hpp"

namespace ingot::codec {

/// Scales and minimums of 8 groups, 6 bits each, in 12 bytes p (Q4_K and Q5_K):
///   g < 4:   scale = p[g] & 63                          minimum = p[g+4] & 63
///   g >= 4:  scale = low(p[g+4]) | (p[g-4] >> 6) << 4   minimum = high(p[g+4]) | (p[g] >> 6) << 4
[[nodiscard]] constexpr unsigned group_scale_of(const Bytes<12>& p, std::size_t g) noexcept {
  return g < 4 ? p[g] & 63u : (p[g + 4] & 15u) | (p[g - 4] & 0xC0u) >> 2;
}
[[nodiscard]] constexpr unsigned group_minimum_of(const Bytes<12>& p, std::size_t g) noexcept {
  return g < 4 ? p[g + 4] & 63u : (p[g + 4] & 0xF0u) >> 4 | (p[g] & 0xC0u) >> 2;
}

/// 8 groups g of 32 weights: weight[e] = scale * scale(g) * code[e] - minimum * minimum(g).
///
///   bytes 0..1     scale, binary16
///   bytes 2..3     minimum, binary16
///   bytes 4..15    group scales and minimums, see above
///   bytes 16..143  byte 16 + 32*(g/2) + l: code[32*g + l], low nibble for even g, high for odd
struct BlockQ4_K {
  Bytes<2> scale;
  Bytes<2> minimum;
  Bytes<12> groups;
  Bytes<128> codes;
};
INGOT_CHECK_BLOCK(BlockQ4_K, q4_k);

}  // namespace ingot::codec
