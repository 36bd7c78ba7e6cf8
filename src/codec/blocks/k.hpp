// SPDX-License-Identifier: MIT
// Q2_K to Q6_K: super-blocks of 256 weights in groups that have scales of their own.
#pragma once

#include "codec/blocks/block.hpp"

namespace ingot::codec {

/// 16 groups g of 16 weights: weight[e] = scale * low(g) * code[e] - minimum * high(g), where
/// low(g) and high(g) are the nibbles of groups[g].
///
///   bytes 0..15    groups
///   bytes 16..79   byte 16 + 32*half + l, bits 2t..2t+1: code[128*half + 32*t + l]
///   bytes 80..81   scale, binary16
///   bytes 82..83   minimum, binary16
struct BlockQ2_K {
  Bytes<16> groups;
  Bytes<64> codes;
  Bytes<2> scale;
  Bytes<2> minimum;
};
INGOT_CHECK_BLOCK(BlockQ2_K, q2_k);

/// 16 groups g of 16 weights: weight[e] = scale * (group_scale[g] - 32) * (code[e] - 4).
///
///   bytes 0..31     byte e % 32, bit e / 32: bit 2 of code[e]
///   bytes 32..95    byte 32 + 32*half + l, bits 2t..2t+1: bits 0..1 of code[128*half + 32*t + l]
///   bytes 96..103   byte 96+g: bits 0..3 of group_scale[g] in the low nibble, of [g+8] in the high
///   bytes 104..107  byte 104 + g%4, bits 2(g/4)..+1: bits 4..5 of group_scale[g]
///   bytes 108..109  scale, binary16
struct BlockQ3_K {
  Bytes<32> high_bits;
  Bytes<64> codes;
  Bytes<12> groups;
  Bytes<2> scale;
};
INGOT_CHECK_BLOCK(BlockQ3_K, q3_k);

/// group_scale[g] - 32
[[nodiscard]] constexpr int group_scale_of(const BlockQ3_K& block, std::size_t g) noexcept {
  const unsigned low = block.groups[g % 8] >> (4 * (g / 8)) & 15u;
  const unsigned high = block.groups[8 + g % 4] >> (2 * (g / 4)) & 3u;
  return static_cast<int>(low | high << 4) - 32;
}

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

/// 8 groups g of 32 weights: weight[e] = scale * scale(g) * code[e] - minimum * minimum(g).
///
///   bytes 0..1     scale, binary16
///   bytes 2..3     minimum, binary16
///   bytes 4..15    group scales and minimums as in Q4_K (k4.hpp)
///   bytes 16..47   byte 16 + l, bit g: bit 4 of code[32*g + l]
///   bytes 48..175  byte 48 + 32*(g/2) + l: bits 0..3 of code[32*g + l], low nibble for even g
struct BlockQ5_K {
  Bytes<2> scale;
  Bytes<2> minimum;
  Bytes<12> groups;
  Bytes<32> high_bits;
  Bytes<128> codes;
};
INGOT_CHECK_BLOCK(BlockQ5_K, q5_k);

/// 16 groups g of 16 weights: weight[e] = scale * group_scale[g] * (code[e] - 32). With e =
/// 128*half + 32*t + l:
///
///   bytes 0..127    byte 64*half + 32*(t%2) + l: bits 0..3 of code[e], low nibble for t < 2
///   bytes 128..191  byte 128 + 32*half + l, bits 2t..2t+1: bits 4..5 of code[e]
///   bytes 192..207  group scales, signed
///   bytes 208..209  scale, binary16
struct BlockQ6_K {
  Bytes<128> codes;
  Bytes<64> high_bits;
  Bytes<16> groups;
  Bytes<2> scale;
};
INGOT_CHECK_BLOCK(BlockQ6_K, q6_k);

}  // namespace ingot::codec
