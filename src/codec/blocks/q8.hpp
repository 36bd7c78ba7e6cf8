// SPDX-License-Identifier: MIT
// Q8_0, Q8_1 and Q8_K: weights of 8 bits.
#pragma once

#include "codec/blocks/block.hpp"

namespace ingot::codec {

/// 32 weights: weight[i] = code[i] * scale
///
///   bytes 0..1    scale, binary16
///   bytes 2..33   signed codes
struct BlockQ8_0 {
  Bytes<2> scale;
  Bytes<32> codes;
};
INGOT_CHECK_BLOCK(BlockQ8_0, q8_0);

/// 32 weights: weight[i] = code[i] * scale. The other factor of dot products with Q4_1 and Q5_1.
///
///   bytes 0..1    scale, binary16
///   bytes 2..3    (sum of the codes) * scale, binary16; not needed to decode
///   bytes 4..35   signed codes
struct BlockQ8_1 {
  Bytes<2> scale;
  Bytes<2> sum;
  Bytes<32> codes;
};
INGOT_CHECK_BLOCK(BlockQ8_1, q8_1);

/// 256 weights: weight[i] = scale * code[i]. The other factor of dot products with K types.
///
///   bytes 0..3      scale, binary32
///   bytes 4..259    signed codes
///   bytes 260..291  16 sums of 16 codes each, int16; not needed to decode
struct BlockQ8_K {
  Bytes<4> scale;
  Bytes<256> codes;
  Bytes<32> sums;
};
INGOT_CHECK_BLOCK(BlockQ8_K, q8_k);

}  // namespace ingot::codec
