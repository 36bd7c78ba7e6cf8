// SPDX-License-Identifier: MIT
// IQ3_XXS and IQ3_S: quads of magnitudes from a lattice, with signs.
#pragma once

#include "codec/blocks/block.hpp"

namespace ingot::codec {

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

}  // namespace ingot::codec
