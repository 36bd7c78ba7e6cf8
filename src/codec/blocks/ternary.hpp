// SPDX-License-Identifier: MIT
// Q1_0: weights -scale and scale. Q2_0, TQ1_0 and TQ2_0: also zero.
#pragma once

#include "codec/blocks/block.hpp"

namespace ingot::codec {

/// weight[i] = scale if bit i is set, else -scale
///
///   bytes 0..1    scale, binary16
///   bytes 2..17   byte 2 + i/8, bit i%8
struct BlockQ1_0 {
  Bytes<2> scale;
  Bytes<16> signs;
};
INGOT_CHECK_BLOCK(BlockQ1_0, q1_0);

/// 64 weights: weight[i] = (code[i] - 1) * scale; code 3 decodes to 2 * scale, and none is written.
///
///   bytes 0..1    scale, binary16
///   bytes 2..17   byte 2 + i/4, bits 2(i%4)..+1: code[i]
struct BlockQ2_0 {
  Bytes<2> scale;
  Bytes<16> codes;
};
INGOT_CHECK_BLOCK(BlockQ2_0, q2_0);

/// 256 weights: weight[e] = (trit - 1) * scale. Byte b holds the trits of a number v in base 3, the
/// first most significant, as ceil(v * 256 / 243): trit t is (b * 3^t mod 256) * 3 / 256.
///
///   bytes 0..31    5 trits each: trit t of byte j is weight 32*t + j
///   bytes 32..47   5 trits each: trit t of byte 32+j is weight 160 + 16*t + j
///   bytes 48..51   4 trits each: trit t of byte 48+j is weight 240 + 4*t + j
///   bytes 52..53   scale, binary16
struct BlockTQ1_0 {
  Bytes<52> trits;
  Bytes<2> scale;
};
INGOT_CHECK_BLOCK(BlockTQ1_0, tq1_0);

/// 256 weights: weight[e] = (code[e] - 1) * scale; code 3 decodes to 2 * scale, and none is
/// written.
///
///   bytes 0..63    byte 32*half + l, bits 2t..2t+1: code[128*half + 32*t + l]
///   bytes 64..65   scale, binary16
struct BlockTQ2_0 {
  Bytes<64> codes;
  Bytes<2> scale;
};
INGOT_CHECK_BLOCK(BlockTQ2_0, tq2_0);

}  // namespace ingot::codec
