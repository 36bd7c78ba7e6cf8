// SPDX-License-Identifier: MIT
// Chooses the scale of a group of MXFP4 or NVFP4 from its largest magnitude.
#pragma once

#include <bit>
#include <cstdint>

namespace ingot::codec {

/// The E8M0 byte of MXFP4 for the largest magnitude of a block, finite and not negative:
/// floor(log2(largest)) + 125 modulo 256, and 0 for 0.
///
/// The logarithm is one rounded to binary32, as in the reference implementation: the last few
/// numbers below 2^n count as 2^n. How many of them, in units of the last of 24 significant bits,
/// depends on the magnitude of the logarithm; no libm is used, since they disagree.
[[nodiscard]] constexpr std::uint8_t mxfp4_exponent(float largest) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(largest);
  if (bits == 0) return 0;
  // The largest as 1.mantissa * 2^exponent, also where it is subnormal.
  std::int32_t exponent = static_cast<std::int32_t>(bits >> 23) - 127;
  std::uint32_t mantissa = bits & 0x7FFFFFu;
  if (bits < 0x00800000u) {
    const int shift = std::countl_zero(bits) - 8;
    exponent = -126 - shift;
    mantissa = bits << shift & 0x7FFFFFu;
  }
  // Half a unit in the last place of a logarithm of magnitude 2^(w-1) .. 2^w is 2^(w-25), which is
  // 2^(w-2) * ln(2) = 0.69 * 2^(w-2) units of a number just below a power of two.
  const auto magnitude = static_cast<std::uint32_t>(exponent < 0 ? ~exponent : exponent);
  const std::uint32_t counted_up = 88u >> (8 - std::bit_width(magnitude));
  exponent += static_cast<std::int32_t>((mantissa + counted_up) >> 23);
  return static_cast<std::uint8_t>(exponent + 125);
}

/// The unsigned E4M3 byte nearest to `value`, halves up; 0 unless value > 0. From 248 on it is
/// 0x7E, which is 448.
[[nodiscard]] constexpr std::uint8_t ue4m3_from_f32(float value) noexcept {
  if (!(value > 0.0f)) return 0;
  if (value > 448.0f) value = 448.0f;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  std::int32_t exponent = static_cast<std::int32_t>(bits >> 23) - 127 + 7;
  if (exponent <= 0) {  // subnormal: multiples of 2^-9
    const auto code = static_cast<std::uint8_t>(value * 512.0f + 0.5f);
    return code < 7 ? code : std::uint8_t{7};
  }
  std::uint32_t mantissa = (bits >> 20 & 7u) + (bits >> 19 & 1u);
  if (mantissa > 7) {
    mantissa = 0;
    ++exponent;
  }
  if (exponent >= 15) return 0x7E;
  return static_cast<std::uint8_t>(static_cast<std::uint32_t>(exponent) << 3 | mantissa);
}

}  // namespace ingot::codec
