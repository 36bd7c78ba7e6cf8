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

#include "codec/blocks/iq.hpp"
#include "codec/decode/decoding_inl.hpp"
#include "codec/lattice/lattice.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

// Group factors: the descriptions have scale * (0.5 + n) * 0.25 and the like. A binary16 has 11
// bits and 2n + 1 has 5, so that no such product is rounded, nor too small for a normal float:
// scale / 8 * (2n + 1) is the same.

HWY_INLINE Floats EighthOf(Floats scale) { return hn::Mul(scale, hn::Set(FloatTag(), 0.125f)); }

/// Points of the lattice, plus or minus an eighth, in eighths: points are -1, 0 and 1, whose low
/// nibbles are 15, 0 and 1, for +0.125; and four less for -0.125. A scale divided by 8 is exact,
/// and so are products with it: the smallest scale is 2^-24.
constexpr Codebook shifted_points = {1, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, -9, -1, 7, 0, -7};

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
  /// Sets sixteen ranks from their lower and upper bytes.
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

HWY_INLINE RankArray<32> RanksOf(const BlockIQ1_S& block) {
  // Each word has bits 8..10 of four ranks.
  const hn::CappedTag<std::uint32_t, 8> u32;
  const hn::Rebind<std::uint16_t, decltype(u32)> u16;
  HWY_ALIGN std::uint32_t high[8];
  for (std::size_t i = 0; i < 8; i += hn::Lanes(u32)) {
    const hn::Repartition<std::uint8_t, decltype(u16)> u8;
    const auto word = hn::PromoteTo(u32, hn::BitCast(u16, hn::LoadU(u8, &block.groups[2 * i])));
    const auto fields = hn::Or(hn::Or(hn::And(word, hn::Set(u32, 0x7)),
                                      hn::And(hn::ShiftLeft<5>(word), hn::Set(u32, 0x700))),
                               hn::Or(hn::And(hn::ShiftLeft<10>(word), hn::Set(u32, 0x70000)),
                                      hn::And(hn::ShiftLeft<15>(word), hn::Set(u32, 0x7000000))));
    hn::Store(fields, u32, high + i);
  }
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(high);
  RankArray<32> ranks;
  ranks.Set(0, LoadCodes(&block.ranks[0]), LoadCodes(bytes));
  ranks.Set(16, LoadCodes(&block.ranks[16]), LoadCodes(bytes + 16));
  return ranks;
}

HWY_INLINE RankArray<32> RanksOf(const BlockIQ1_M& block) {
  // Bits 8..10, octet after octet.
  const Codes nibbles = LoadCodes(block.rank_high.data());
  const Codes even = AndByte(nibbles, 7);
  const Codes odd = AndByte(ShiftRightMixing<4>(nibbles), 7);
  RankArray<32> ranks;
  ranks.Set(0, LoadCodes(&block.ranks[0]), hn::InterleaveLower(CodeTag(), even, odd));
  ranks.Set(16, LoadCodes(&block.ranks[16]), hn::InterleaveUpper(CodeTag(), even, odd));
  return ranks;
}

HWY_INLINE RankArray<32> RanksOf(const BlockIQ2_S& block) {
  // Two bits of octets 4i, 4i + 1, ...; then of 4i and 4i + 1 in turns; then of all.
  const hn::Repartition<std::uint16_t, CodeTag> u16;
  const Codes high = CodesOf(u64_at(block.rank_high.data()), 0);
  const Codes high_0 = AndByte(high, 3);
  const Codes high_1 = AndByte(ShiftRightMixing<2>(high), 3);
  const Codes high_2 = AndByte(ShiftRightMixing<4>(high), 3);
  const Codes high_3 = AndByte(ShiftRightMixing<6>(high), 3);
  const auto high_01 = hn::BitCast(u16, hn::InterleaveLower(CodeTag(), high_0, high_1));
  const auto high_23 = hn::BitCast(u16, hn::InterleaveLower(CodeTag(), high_2, high_3));
  RankArray<32> ranks;
  ranks.Set(0, LoadCodes(&block.ranks[0]),
            hn::BitCast(CodeTag(), hn::InterleaveLower(u16, high_01, high_23)));
  ranks.Set(16, LoadCodes(&block.ranks[16]),
            hn::BitCast(CodeTag(), hn::InterleaveUpper(u16, high_01, high_23)));
  return ranks;
}

HWY_INLINE RankArray<64> RanksOf(const BlockIQ3_S& block) {
  RankArray<64> ranks;
  for (std::size_t i = 0; i < 64; i += 16) {
    const auto has_high = hn::LoadMaskBits(CodeTag(), &block.rank_high[i / 8]);
    ranks.Set(i, LoadCodes(&block.ranks[i]), hn::IfThenElseZero(has_high, hn::Set(CodeTag(), 1)));
  }
  return ranks;
}

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

/// The signs of 32 octets: bits 9..15 of 16-bit words are even signs.
HWY_INLINE void StoreOctetSigns(const std::uint8_t* octets, std::uint8_t* signs) {
  const hn::CappedTag<std::uint16_t, 16> u16;
  const hn::RebindToSigned<decltype(u16)> i16;
  const hn::Repartition<std::uint8_t, decltype(u16)> u8;
  const hn::Half<decltype(u8)> half_u8;
  for (std::size_t i = 0; i < 32; i += hn::Lanes(u16)) {
    const auto words = hn::BitCast(u16, hn::LoadU(u8, octets + 2 * i));
    const auto even = EvenBytes(u16, hn::ShiftRight<9>(words));
    hn::Store(hn::DemoteTo(half_u8, hn::BitCast(i16, even)), half_u8, signs + i);
  }
}

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

/// 2 * scale + 1 of words of 16 bits that have a scale in bits 12..14, stored in their second
/// bytes. The first bytes become unused numbers, no larger than a scale.
HWY_INLINE Codes OddScalesOfSecondBytes(Codes words) {
  return hn::Or(AndByte(ShiftRightMixing<3>(words), 14), hn::Set(CodeTag(), 1));
}

/// In both halves, the four fields of three bits each to a byte of its own.
HWY_INLINE std::uint64_t SpreadFields(std::uint64_t fields) {
  return (fields & 0x0000000700000007) | (fields << 5 & 0x0000070000000700) |
         (fields << 10 & 0x0007000000070000) | (fields << 15 & 0x0700000007000000);
}

/// 2 * scale + 1 of the 16 groups; each 16-bit word has four scales in its lower 12 bits.
HWY_INLINE Levels OddScalesOfWords(std::uint64_t words) {
  constexpr std::uint64_t lower_words = 0x0000FFFF0000FFFF;
  const std::uint64_t even = SpreadFields(words & lower_words);       // words 0 and 2
  const std::uint64_t odd = SpreadFields(words >> 16 & lower_words);  // words 1 and 3
  const std::uint64_t first = (even & 0xFFFFFFFF) | odd << 32;
  const std::uint64_t last = even >> 32 | (odd & 0xFFFFFFFF00000000);
  constexpr std::uint64_t ones = 0x0101010101010101;
  return LevelsOf(CodesOf(first << 1 | ones, last << 1 | ones));
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
