// SPDX-License-Identifier: MIT
// Q1_0: 128 weights of one bit.
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

}  // namespace ingot::codec
