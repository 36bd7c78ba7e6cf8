// SPDX-License-Identifier: MIT
// IQ4_NL and IQ4_XS: weights of 4 bits, which select one of 16 unevenly spaced values.
#pragma once

#include "codec/blocks/block.hpp"

namespace ingot::codec {

/// The values of the codes. Source: kvalues_iq4nl of ggml.
inline constexpr std::array<std::int8_t, 16> iq4_values = {
    -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

/// 32 weights: weight[i] = scale * iq4_values[code[i]]
///
///   bytes 0..1    scale, binary16
///   bytes 2..17   byte 2+i: code[i] in the low nibble, code[i+16] in the high
struct BlockIQ4_NL {
  Bytes<2> scale;
  Bytes<16> codes;
};
INGOT_CHECK_BLOCK(BlockIQ4_NL, iq4_nl);

/// 8 groups g of 32 weights: weight[e] = scale * (group_scale[g] - 32) * iq4_values[code[e]]
///
///   bytes 0..1    scale, binary16
///   bytes 2..3    bits 2g..2g+1 of the little-endian word: bits 4..5 of group_scale[g]
///   bytes 4..7    byte 4 + g/2: bits 0..3 of group_scale[g], low nibble for even g
///   bytes 8..135  byte 8 + 16*g + i: code[32*g + i] in the low nibble, [32*g + 16 + i] in the high
struct BlockIQ4_XS {
  Bytes<2> scale;
  Bytes<2> group_high;
  Bytes<4> group_low;
  Bytes<128> codes;
};
INGOT_CHECK_BLOCK(BlockIQ4_XS, iq4_xs);

}  // namespace ingot::codec
