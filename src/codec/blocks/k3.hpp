// SPDX-License-Identifier: MIT
// Q3_K: super-blocks of 256 weights of 3 bits.
#pragma once

#include "codec/blocks/block.hpp"

namespace ingot::codec {

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

}  // namespace ingot::codec
