// SPDX-License-Identifier: MIT
// Q2_K: super-blocks of 256 weights of 2 bits.
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

}  // namespace ingot::codec
