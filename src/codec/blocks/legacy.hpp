// SPDX-License-Identifier: MIT
// Q4_0, Q4_1, Q5_0 and Q5_1: 32 weights of 4 or 5 bits with one scale.
#pragma once

#include "codec/blocks/block.hpp"

namespace ingot::codec {

/// weight[i] = scale * (code[i] - 8)
///
///   bytes 0..1    scale, binary16
///   bytes 2..17   byte 2+i: code[i] in the low nibble, code[i+16] in the high
struct BlockQ4_0 {
  Bytes<2> scale;
  Bytes<16> codes;
};
INGOT_CHECK_BLOCK(BlockQ4_0, q4_0);

/// weight[i] = code[i] * scale + minimum
///
///   bytes 0..1    scale, binary16
///   bytes 2..3    minimum, binary16
///   bytes 4..19   byte 4+i: code[i] in the low nibble, code[i+16] in the high
struct BlockQ4_1 {
  Bytes<2> scale;
  Bytes<2> minimum;
  Bytes<16> codes;
};
INGOT_CHECK_BLOCK(BlockQ4_1, q4_1);

/// weight[i] = scale * (code[i] - 16)
///
///   bytes 0..1    scale, binary16
///   bytes 2..5    bit i of the little-endian word: bit 4 of code[i]
///   bytes 6..21   byte 6+i: bits 0..3 of code[i] in the low nibble, of code[i+16] in the high
struct BlockQ5_0 {
  Bytes<2> scale;
  Bytes<4> high_bits;
  Bytes<16> codes;
};
INGOT_CHECK_BLOCK(BlockQ5_0, q5_0);

/// weight[i] = code[i] * scale + minimum
///
///   bytes 0..1    scale, binary16
///   bytes 2..3    minimum, binary16
///   bytes 4..7    bit i of the little-endian word: bit 4 of code[i]
///   bytes 8..23   byte 8+i: bits 0..3 of code[i] in the low nibble, of code[i+16] in the high
struct BlockQ5_1 {
  Bytes<2> scale;
  Bytes<2> minimum;
  Bytes<4> high_bits;
  Bytes<16> codes;
};
INGOT_CHECK_BLOCK(BlockQ5_1, q5_1);

}  // namespace ingot::codec
