// SPDX-License-Identifier: MIT
// What the kernels of the lattice types with signs share. Included once per CPU target, after
// hwy/highway.h.

// clang-format off
#if defined(INGOT_CODEC_LATTICE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_CODEC_LATTICE_INL_HPP
#undef INGOT_CODEC_LATTICE_INL_HPP
#else
#define INGOT_CODEC_LATTICE_INL_HPP
#endif
// clang-format on

#include "codec/dispatch_inl.hpp"
#include "codec/lattice.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// Four times the 7 low bits of `word`, bit 7 of each byte making the number of ones even.
HWY_INLINE std::uint32_t EvenSigns(std::uint32_t word) {
  const std::uint32_t sevens =
      (word & 0x7F) | (word << 1 & 0x7F00) | (word << 2 & 0x7F0000) | (word << 3 & 0x7F000000);
  // Neighbours move in from above, and never reach bit 0.
  std::uint32_t parity = sevens ^ sevens >> 4;
  parity ^= parity >> 2;
  parity ^= parity >> 1;
  return sevens | (parity & 0x01010101) << 7;
}

/// 16 magnitudes, negative where a sign bit is set. Magnitudes are not 0, so that the sign of a
/// product is right too.
HWY_INLINE Levels SignedLevels(Codes magnitudes, std::uint16_t signs) {
  std::uint8_t bits[8] = {static_cast<std::uint8_t>(signs), static_cast<std::uint8_t>(signs >> 8)};
  const Levels levels = LevelsOf(magnitudes);
  return hn::IfThenElse(hn::LoadMaskBits(LevelTag(), bits), hn::Neg(levels), levels);
}

#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
