// SPDX-License-Identifier: MIT
// Q5_0 and Q5_1: 32 weights of 5 bits.
#pragma once

#include "codec/blocks/block.hpp"

namespace ingot::codec {

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
