// SPDX-License-Identifier: MIT
// Decoding lattice types: scales, signs and ranks are unpacked for a whole
// block at once, and points then looked up one by one. Included once per CPU target, after
// hwy/highway.h.

// clang-format off
#if defined(INGOT_CODEC_LATTICE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_CODEC_LATTICE_INL_HPP
#undef INGOT_CODEC_LATTICE_INL_HPP
#else
#define INGOT_CODEC_LATTICE_INL_HPP
#endif
// clang-format on

#include "codec/decode/decoding_inl.hpp"
#include "codec/lattice/lattice.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

// Group factors: the descriptions have scale * (0.5 + n) * 0.25 and the like. A binary16 has 11
// bits and 2n + 1 has 5, so that no such product is rounded, nor too small for a normal float:
// scale / 8 * (2n + 1) is the same.

HWY_INLINE Floats EighthOf(Floats scale) { return hn::Mul(scale, hn::Set(FloatTag(), 0.125f)); }

/// 2n + 1 of the nibbles n, the low one of each byte first.
HWY_INLINE Levels OddScales(std::uint64_t nibbles) {
  const Codes bytes = CodesOf(nibbles, 0);
  const Codes low = AndByte(ShiftLeftMixing<1>(bytes), 30);
  const Codes high = AndByte(ShiftRightMixing<3>(bytes), 30);
  const Codes doubled = hn::InterleaveLower(CodeTag(), low, high);
  return LevelsOf(hn::Or(doubled, hn::Set(CodeTag(), 1)));
}

/// `count` ranks of more than 8 bits.
template <std::size_t count>
class RankArray {
 public:
  /// Sixteen of them, from their lower and upper bytes.
  HWY_INLINE void Set(std::size_t first, Codes low, Codes high) {
    std::uint8_t* to = bytes_ + 2 * first;
    hn::Store(hn::InterleaveLower(CodeTag(), low, high), CodeTag(), to);
    hn::Store(hn::InterleaveUpper(CodeTag(), low, high), CodeTag(), to + 16);
  }
  [[nodiscard]] HWY_INLINE std::size_t operator[](std::size_t index) const {
    return u16_at(bytes_ + 2 * index);
  }

 private:
  HWY_ALIGN std::uint8_t bytes_[2 * count];
};

/// Gives each byte of `sevens` (bit 7 is 0) an even number of ones.
template <class D>
HWY_INLINE hn::Vec<D> EvenBytes(D d, hn::Vec<D> sevens) {
  // Neighbours move in from above, and never reach bit 0.
  auto parity = hn::Xor(sevens, hn::ShiftRight<4>(sevens));
  parity = hn::Xor(parity, hn::ShiftRight<2>(parity));
  parity = hn::Xor(parity, hn::ShiftRight<1>(parity));
  const auto ones = hn::Set(d, static_cast<hn::TFromD<D>>(0x01010101));
  return hn::Or(sevens, hn::ShiftLeft<7>(hn::And(parity, ones)));
}

/// The signs in 32-bit words: bits 7j..7j+6 are even signs.
template <std::size_t count>
struct SignWords {
  HWY_ALIGN std::uint8_t signs[4 * count + 8];  // loads of 16 bits may read 64

  HWY_INLINE explicit SignWords(const std::uint8_t* words) {
    const hn::CappedTag<std::uint32_t, 8> u32;
    const hn::Repartition<std::uint8_t, decltype(u32)> u8;
    for (std::size_t i = 0; i < count; i += hn::Lanes(u32)) {
      const auto word = hn::BitCast(u32, hn::LoadU(u8, words + 4 * i));
      const auto sevens = hn::Or(hn::Or(hn::And(word, hn::Set(u32, 0x7F)),
                                        hn::And(hn::ShiftLeft<1>(word), hn::Set(u32, 0x7F00))),
                                 hn::Or(hn::And(hn::ShiftLeft<2>(word), hn::Set(u32, 0x7F0000)),
                                        hn::And(hn::ShiftLeft<3>(word), hn::Set(u32, 0x7F000000))));
      hn::Store(hn::BitCast(u8, EvenBytes(u32, sevens)), u8, signs + 4 * i);
    }
  }
};

/// 2n + 1 of the upper nibbles n of the last of each `stride` bytes, 8 times.
template <std::size_t stride>
HWY_INLINE Levels OddScalesOfTops(const std::uint8_t* bytes) {
  std::uint64_t tops = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    tops |= std::uint64_t{bytes[stride * i + stride - 1]} << (8 * i);
  }
  const Codes doubled = AndByte(ShiftRightMixing<3>(CodesOf(tops, tops)), 30);
  return LevelsOf(hn::Or(doubled, hn::Set(CodeTag(), 1)));
}

/// 16 magnitudes, negative where a bit is set in the two bytes at `signs`; 8 bytes there must be
/// readable. Magnitudes are not 0, so that the sign of a product is right too.
HWY_INLINE Levels SignedLevels(Codes magnitudes, const std::uint8_t* signs) {
  const Levels levels = LevelsOf(magnitudes);
  return hn::IfThenElse(hn::LoadMaskBits(LevelTag(), signs), hn::Neg(levels), levels);
}

#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
