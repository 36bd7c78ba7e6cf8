// SPDX-License-Identifier: MIT
// MXFP4 and NVFP4: 4-bit floats (E2M1) with a shared scale of 8 bits.
#pragma once

#include "codec/blocks/block.hpp"

namespace ingot::codec {

/// Twice the value of each E2M1 code, which makes them integers. Code 8, "minus zero", is +0.
inline constexpr std::array<std::int8_t, 16> e2m1_doubled = {0, 1,  2,  3,  4,  6,  8,  12,
                                                             0, -1, -2, -3, -4, -6, -8, -12};

/// Half of the E8M0 number 2^(byte - 127), since the codes are doubled. 255 is no NaN here.
[[nodiscard]] constexpr float half_e8m0(std::uint8_t byte) noexcept {
  // 2^-128 and 2^-127 are subnormal.
  return std::bit_cast<float>(byte < 2 ? 0x00200000u << byte : (byte - 1u) << 23);
}

/// Half of the unsigned E4M3 number, since the codes are doubled: 0x00 and 0x7F are 0, bit 7 is
/// ignored, and 0xFF is 240, as in the reference implementation.
[[nodiscard]] constexpr float half_ue4m3(std::uint8_t byte) noexcept {
  if (byte == 0 || byte == 0x7F) return 0.0f;
  const unsigned exponent = byte >> 3 & 15u;
  const unsigned mantissa = byte & 7u;
  if (exponent == 0) return static_cast<float>(mantissa) * 0x1p-10f;
  return std::bit_cast<float>((exponent - 8 + 127) << 23 | mantissa << 20);
}

/// 32 weights: weight[i] = e2m1_doubled[code[i]] * half_e8m0(exponent)
///
///   byte 0        exponent, E8M0
///   bytes 1..16   byte 1+i: code[i] in the low nibble, code[i+16] in the high
struct BlockMXFP4 {
  std::uint8_t exponent;
  Bytes<16> codes;
};
INGOT_CHECK_BLOCK(BlockMXFP4, mxfp4);

/// 4 groups g of 16 weights: weight[16*g + i] = e2m1_doubled[code] * half_ue4m3(scales[g])
///
///   bytes 0..3    scales, unsigned E4M3
///   bytes 4..35   byte 4 + 8*g + i: code of 16*g + i in the low nibble, of 16*g + 8 + i in the
///   high
struct BlockNVFP4 {
  Bytes<4> scales;
  Bytes<32> codes;
};
INGOT_CHECK_BLOCK(BlockNVFP4, nvfp4);

}  // namespace ingot::codec
