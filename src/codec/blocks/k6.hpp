// SPDX-License-Identifier: MIT
// Q6_K: super-blocks of 256 weights of 6 bits.
#pragma once

#include "codec/blocks/block.hpp"

namespace ingot::codec {

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
