// SPDX-License-Identifier: MIT
// Q5_K: super-blocks of 256 weights of 5 bits.
#pragma once

#include "codec/blocks/block.hpp"
#include "codec/blocks/k4.hpp"

namespace ingot::codec {

/// 8 groups g of 32 weights: weight[e] = scale * scale(g) * code[e] - minimum * minimum(g).
///
///   bytes 0..1     scale, binary16
///   bytes 2..3     minimum, binary16
///   bytes 4..15    group scales and minimums as in Q4_K (k4.hpp)
///   bytes 16..47   byte 16 + l, bit g: bit 4 of code[32*g + l]
///   bytes 48..175  byte 48 + 32*(g/2) + l: bits 0..3 of code[32*g + l], low nibble for even g
struct BlockQ5_K {
  Bytes<2> scale;
  Bytes<2> minimum;
  Bytes<12> groups;
  Bytes<32> high_bits;
  Bytes<128> codes;
};
INGOT_CHECK_BLOCK(BlockQ5_K, q5_k);

}  // namespace ingot::codec
