// SPDX-License-Identifier: MIT
// IQ1 to IQ4: super-blocks of points of a lattice (lattice/), and 4-bit codes with a codebook.
#pragma once

#include "codec/blocks/block.hpp"

namespace ingot::codec {

// 32 octets k of 8 weights in a super-block: weight[8k + i] = D * (point[i] + shift), where the
// shift is -0.125 or +0.125. The lattice iq1 is in lattice.hpp.

/// 8 groups g of 4 octets: D = scale * (2 * group_scale[g] + 1)
///
///   bytes 0..1    scale, binary16
///   bytes 2..33   bits 0..7 of the rank of each octet
///   bytes 34..49  for each g a little-endian word: bits 3j..3j+2 are bits 8..10 of the rank of
///   octet
///                 4g+j, bits 12..14 the group scale, bit 15 is set for the shift -0.125
struct BlockIQ1_S {
  Bytes<2> scale;
  Bytes<32> ranks;
  Bytes<16> groups;
};
INGOT_CHECK_BLOCK(BlockIQ1_S, iq1_s);

/// 16 groups g of 2 octets: D = scale * (2 * group_scale[g] + 1)
///
///   bytes 0..31   bits 0..7 of the rank of each octet
///   bytes 32..47  byte 32 + k/2, low nibble for even k: bits 8..10 of the rank of octet k, and bit
///   3
///                 set for the shift -0.125
///   bytes 48..55  four little-endian words w: bits 3(g%4)..+2 of w[g/4] are the group scale; the
///   bits
///                 12..15 of w[0], w[1], w[2], w[3] are the binary16 scale, lowest nibble first
struct BlockIQ1_M {
  Bytes<32> ranks;
  Bytes<16> rank_high;
  Bytes<8> groups;
};
INGOT_CHECK_BLOCK(BlockIQ1_M, iq1_m);

/// The scale of an IQ1_M block, as bits of a binary16.
[[nodiscard]] constexpr std::uint16_t scale_bits_of(const BlockIQ1_M& block) noexcept {
  unsigned bits = 0;
  for (std::size_t i = 0; i < 4; ++i) bits |= (block.groups[2 * i + 1] & 0xF0u) >> 4 << (4 * i);
  return static_cast<std::uint16_t>(bits);
}

/// Replaces the scale of an IQ1_M block.
constexpr void put_scale_bits(BlockIQ1_M& block, std::uint16_t bits) noexcept {
  for (std::size_t i = 0; i < 4; ++i) {
    std::uint8_t& byte = block.groups[2 * i + 1];
    byte = static_cast<std::uint8_t>((byte & 0x0Fu) | (bits >> (4 * i) & 15u) << 4);
  }
}

// 32 octets k of 8 weights in a super-block: weight[8k + i] = D * point[i], negative if bit i of
// the octet's signs is set. The lattices are in lattice.hpp.

/// 8 groups g of 4 octets: D = scale * (0.5 + group_scale[g]) * 0.25
///
///   bytes 0..1    scale, binary16
///   bytes 2..65   for each g two little-endian words:
///                   A: byte j is the rank of octet 4g+j in iq2_xxs
///                   B: bits 7j..7j+6 are the even signs of octet 4g+j, bits 28..31 the group scale
struct BlockIQ2_XXS {
  Bytes<2> scale;
  Bytes<64> groups;
};
INGOT_CHECK_BLOCK(BlockIQ2_XXS, iq2_xxs);

/// 16 groups g of 2 octets: D = scale * (0.5 + group_scale[g]) * 0.25
///
///   bytes 0..1    scale, binary16
///   bytes 2..65   for each octet a word: bits 0..8 rank in iq2_xs, bits 9..15 even signs
///   bytes 66..73  byte 66 + g/2: group_scale[g], low nibble for even g
struct BlockIQ2_XS {
  Bytes<2> scale;
  Bytes<64> octets;
  Bytes<8> groups;
};
INGOT_CHECK_BLOCK(BlockIQ2_XS, iq2_xs);

/// 16 groups g of 2 octets: D = scale * (0.5 + group_scale[g]) * 0.25
///
///   bytes 0..1    scale, binary16
///   bytes 2..33   bits 0..7 of the rank of each octet in iq2_s
///   bytes 34..65  signs of each octet
///   bytes 66..73  byte 66 + k/4, bits 2(k%4)..+1: bits 8..9 of the rank of octet k
///   bytes 74..81  byte 74 + g/2: group_scale[g], low nibble for even g
struct BlockIQ2_S {
  Bytes<2> scale;
  Bytes<32> ranks;
  Bytes<32> signs;
  Bytes<8> rank_high;
  Bytes<8> groups;
};
INGOT_CHECK_BLOCK(BlockIQ2_S, iq2_s);

// 64 quads q of 4 weights in a super-block: weight[4q + i] = D * point[i], negative if the sign bit
// of the weight is set. Octet k is the quads 2k and 2k+1. The lattices are in lattice.hpp.

/// 8 groups g of 8 quads: D = scale * (0.5 + group_scale[g]) * 0.5
///
///   bytes 0..1    scale, binary16
///   bytes 2..65   the rank of each quad in iq3_xxs
///   bytes 66..97  for each g a little-endian word: bits 7j..7j+6 are the even signs of octet 4g+j,
///                 bits 28..31 the group scale
struct BlockIQ3_XXS {
  Bytes<2> scale;
  Bytes<64> ranks;
  Bytes<32> groups;
};
INGOT_CHECK_BLOCK(BlockIQ3_XXS, iq3_xxs);

/// 8 groups g of 8 quads: D = scale * (1 + 2 * group_scale[g])
///
///   bytes 0..1      scale, binary16
///   bytes 2..65     bits 0..7 of the rank of each quad in iq3_s
///   bytes 66..73    byte 66 + q/8, bit q%8: bit 8 of the rank of quad q
///   bytes 74..105   signs of each octet
///   bytes 106..109  byte 106 + g/2: group_scale[g], low nibble for even g
struct BlockIQ3_S {
  Bytes<2> scale;
  Bytes<64> ranks;
  Bytes<8> rank_high;
  Bytes<32> signs;
  Bytes<4> groups;
};
INGOT_CHECK_BLOCK(BlockIQ3_S, iq3_s);

/// The values of the codes. Source: kvalues_iq4nl of ggml.
inline constexpr std::array<std::int8_t, 16> iq4_values = {
    -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

/// 32 weights: weight[i] = scale * iq4_values[code[i]]
///
///   bytes 0..1    scale, binary16
///   bytes 2..17   byte 2+i: code[i] in the low nibble, code[i+16] in the high
struct BlockIQ4_NL {
  Bytes<2> scale;
  Bytes<16> codes;
};
INGOT_CHECK_BLOCK(BlockIQ4_NL, iq4_nl);

/// 8 groups g of 32 weights: weight[e] = scale * (group_scale[g] - 32) * iq4_values[code[e]]
///
///   bytes 0..1    scale, binary16
///   bytes 2..3    bits 2g..2g+1 of the little-endian word: bits 4..5 of group_scale[g]
///   bytes 4..7    byte 4 + g/2: bits 0..3 of group_scale[g], low nibble for even g
///   bytes 8..135  byte 8 + 16*g + i: code[32*g + i] in the low nibble, [32*g + 16 + i] in the high
struct BlockIQ4_XS {
  Bytes<2> scale;
  Bytes<2> group_high;
  Bytes<4> group_low;
  Bytes<128> codes;
};
INGOT_CHECK_BLOCK(BlockIQ4_XS, iq4_xs);

/// group_scale[g] - 32
[[nodiscard]] constexpr int group_scale_of(const BlockIQ4_XS& block, std::size_t g) noexcept {
  const unsigned low = block.group_low[g / 2] >> (4 * (g % 2)) & 15u;
  const unsigned high = block.group_high[g / 4] >> (2 * (g % 4)) & 3u;
  return static_cast<int>(low | high << 4) - 32;
}

}  // namespace ingot::codec
