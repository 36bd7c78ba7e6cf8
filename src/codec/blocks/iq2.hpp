// SPDX-License-Identifier: MIT
// IQ2_XXS, IQ2_XS and IQ2_S: octets of magnitudes from a lattice, with signs.
#pragma once

#include "codec/blocks/block.hpp"

namespace ingot::codec {

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

}  // namespace ingot::codec
