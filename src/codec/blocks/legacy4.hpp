// SPDX-License-Identifier: MIT
// Q4_0 and Q4_1: 32 weights of 4 bits.
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

}  // namespace ingot::codec
