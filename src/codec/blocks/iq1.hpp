// SPDX-License-Identifier: MIT
// IQ1_S and IQ1_M: octets of -1, 0, 1 from a lattice, shifted.
#pragma once

#include "codec/blocks/block.hpp"

namespace ingot::codec {

// 32 octets k of 8 weights in a super-block: weight[8k + i] = D * (point[i] + shift), where the
// shift is -0.125 or +0.125. The lattice iq1 is in lattice.hpp.

/// 8 groups g of 4 octets: D = scale * (2 * group_scale[g] + 1)
///
///   bytes 0..1    scale, binary16
///   bytes 2..33   bits 0..7 of the rank of each octet
///   bytes 34..49  for each g a little-endian word: bits 3j..3j+2 are bits 8..10 of the rank of
///   octet
///                 4g+j, bits 12..14 the group scale, bit 15 is set for the shift -0.125
struct BlockIQ1_S {
  Bytes<2> scale;
  Bytes<32> ranks;
  Bytes<16> groups;
};
INGOT_CHECK_BLOCK(BlockIQ1_S, iq1_s);

/// 16 groups g of 2 octets: D = scale * (2 * group_scale[g] + 1)
///
///   bytes 0..31   bits 0..7 of the rank of each octet
///   bytes 32..47  byte 32 + k/2, low nibble for even k: bits 8..10 of the rank of octet k, and bit
///   3
///                 set for the shift -0.125
///   bytes 48..55  four little-endian words w: bits 3(g%4)..+2 of w[g/4] are the group scale; the
///   bits
///                 12..15 of w[0], w[1], w[2], w[3] are the binary16 scale, lowest nibble first
struct BlockIQ1_M {
  Bytes<32> ranks;
  Bytes<16> rank_high;
  Bytes<8> groups;
};
INGOT_CHECK_BLOCK(BlockIQ1_M, iq1_m);

/// The scale of an IQ1_M block, as bits of a binary16.
[[nodiscard]] constexpr std::uint16_t scale_bits_of(const BlockIQ1_M& block) noexcept {
  unsigned bits = 0;
  for (std::size_t i = 0; i < 4; ++i) bits |= (block.groups[2 * i + 1] & 0xF0u) >> 4 << (4 * i);
  return static_cast<std::uint16_t>(bits);
}

}  // namespace ingot::codec
