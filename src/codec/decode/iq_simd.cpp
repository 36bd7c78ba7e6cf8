// SPDX-License-Identifier: MIT
#define HWY_TARGET_INCLUDE "codec/decode/iq_simd.cpp"
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

#include "codec/blocks/iq.hpp"
#include "codec/decode/decoding_inl.hpp"
#include "codec/decode/lattice_inl.hpp"
#include "codec/lattice/lattice.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
/// Points of the lattice, plus or minus an eighth, in eighths: points are -1, 0 and 1, whose low
/// nibbles are 15, 0 and 1, for +0.125; and four less for -0.125. A scale divided by 8 is exact,
/// and so are products with it: the smallest scale is 2^-24.
constexpr Codebook shifted_points = {1, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, -9, -1, 7, 0, -7};

template <class Store>
HWY_INLINE void Decode(const BlockIQ1_S& block, float* dst, Store store) {
  // Bits 12..14 of word g are bits 4..6 of byte 2g+1. The even bytes become unused
  // numbers, no larger than a scale can be.
  const Codes bytes = LoadCodes(block.groups.data());
  const Codes odd = hn::Or(AndByte(ShiftRightMixing<3>(bytes), 14), hn::Set(CodeTag(), 1));
  const Factors factors(LevelsOf(odd), EighthOf(HalfAt(block.scale.data())));
  for (std::size_t group = 0; group < 8; ++group, dst += 32) {
    const unsigned word = u16_at(&block.groups[2 * group]);
    const Codes shift = hn::Set(CodeTag(), static_cast<std::uint8_t>(word >> 15 << 2));
    const Products products(shifted_points, factors[2 * group + 1]);
    const std::uint8_t* ranks = &block.ranks[4 * group];
    const Codes first =
        CodesOf(iq1_grid[ranks[0] | (word << 8 & 0x700)], iq1_grid[ranks[1] | (word << 5 & 0x700)]);
    const Codes second =
        CodesOf(iq1_grid[ranks[2] | (word << 2 & 0x700)], iq1_grid[ranks[3] | (word >> 1 & 0x700)]);
    products(hn::Sub(first, shift), dst, store);
    products(hn::Sub(second, shift), dst + 16, store);
  }
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

template <class Store>
HWY_INLINE void Decode(const BlockIQ1_M& block, float* dst, Store store) {
  const Floats scale = FloatsFromHalves(hn::Set(HalfBitsTag(), scale_bits_of(block)));
  const Factors factors(OddScalesOfWords(u64_at(block.groups.data())), EighthOf(scale));

  // Bits 8..10 of the ranks, octet after octet.
  const Codes nibbles = LoadCodes(block.rank_high.data());
  const Codes even = AndByte(nibbles, 7);
  const Codes odd = AndByte(ShiftRightMixing<4>(nibbles), 7);
  RankArray<32> ranks;
  ranks.Set(0, LoadCodes(&block.ranks[0]), hn::InterleaveLower(CodeTag(), even, odd));
  ranks.Set(16, LoadCodes(&block.ranks[16]), hn::InterleaveUpper(CodeTag(), even, odd));

  const Codes minus_bits = CodesOf(0x0808080808080808, 0x8080808080808080);
  const Codes four = hn::Set(CodeTag(), 4);
  for (std::size_t group = 0; group < 16; ++group, dst += 16) {
    const Codes points = CodesOf(iq1_grid[ranks[2 * group]], iq1_grid[ranks[2 * group + 1]]);
    const auto is_minus = hn::TestBit(hn::Set(CodeTag(), block.rank_high[group]), minus_bits);
    const Products products(shifted_points, factors[group]);
    products(hn::IfThenElse(is_minus, hn::Sub(points, four), points), dst, store);
  }
}

template <class Store>
HWY_INLINE void Decode(const BlockIQ2_XXS& block, float* dst, Store store) {
  // Every other word holds ranks; their signs are not used.
  const SignWords<16> words(block.groups.data());
  const Factors factors(OddScalesOfTops<8>(block.groups.data()),
                        EighthOf(HalfAt(block.scale.data())));
  for (std::size_t group = 0; group < 8; ++group, dst += 32) {
    const std::uint8_t* ranks = &block.groups[8 * group];
    const std::uint8_t* signs = &words.signs[8 * group + 4];
    const auto factor = factors[group];
    const Codes first = CodesOf(iq2_xxs_grid[ranks[0]], iq2_xxs_grid[ranks[1]]);
    const Codes second = CodesOf(iq2_xxs_grid[ranks[2]], iq2_xxs_grid[ranks[3]]);
    StoreScaled(SignedLevels(first, signs), factor, dst, store);
    StoreScaled(SignedLevels(second, signs + 2), factor, dst + 16, store);
  }
}

template <class Store>
HWY_INLINE void Decode(const BlockIQ2_XS& block, float* dst, Store store) {
  const hn::CappedTag<std::uint16_t, 16> u16;
  const hn::RebindToSigned<decltype(u16)> i16;
  const hn::Repartition<std::uint8_t, decltype(u16)> u8;
  const hn::Half<decltype(u8)> half_u8;
  HWY_ALIGN std::uint8_t signs[32 + 8];
  for (std::size_t i = 0; i < 32; i += hn::Lanes(u16)) {
    const auto words = hn::BitCast(u16, hn::LoadU(u8, &block.octets[2 * i]));
    const auto even = EvenBytes(u16, hn::ShiftRight<9>(words));
    hn::Store(hn::DemoteTo(half_u8, hn::BitCast(i16, even)), half_u8, signs + i);
  }
  const Factors factors(OddScales(u64_at(block.groups.data())),
                        EighthOf(HalfAt(block.scale.data())));
  for (std::size_t group = 0; group < 16; ++group, dst += 16) {
    const std::size_t low = u16_at(&block.octets[4 * group]);
    const std::size_t high = u16_at(&block.octets[4 * group + 2]);
    const Codes magnitudes = CodesOf(iq2_xs_grid[low & 511], iq2_xs_grid[high & 511]);
    StoreScaled(SignedLevels(magnitudes, signs + 2 * group), factors[group], dst, store);
  }
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

template <class Store>
HWY_INLINE void Decode(const BlockIQ2_S& block, float* dst, Store store) {
  const Factors factors(OddScales(u64_at(block.groups.data())),
                        EighthOf(HalfAt(block.scale.data())));
  const RankArray<32> ranks = RanksOf(block);
  for (std::size_t group = 0; group < 16; ++group, dst += 16) {
    const Codes magnitudes =
        CodesOf(iq2_s_grid[ranks[2 * group]], iq2_s_grid[ranks[2 * group + 1]]);
    StoreScaled(SignedLevels(magnitudes, &block.signs[2 * group]), factors[group], dst, store);
  }
}

/// Four points of four bytes.
HWY_INLINE Codes FourQuads(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  const hn::Repartition<std::uint32_t, CodeTag> u32;
  const hn::Repartition<std::uint64_t, CodeTag> u64;
  const auto ab = hn::InterleaveLower(u32, hn::Set(u32, a), hn::Set(u32, b));
  const auto cd = hn::InterleaveLower(u32, hn::Set(u32, c), hn::Set(u32, d));
  return hn::BitCast(CodeTag(),
                     hn::InterleaveLower(u64, hn::BitCast(u64, ab), hn::BitCast(u64, cd)));
}

HWY_INLINE Codes Magnitudes(const std::uint8_t* ranks) {
  return FourQuads(iq3_xxs_grid[ranks[0]], iq3_xxs_grid[ranks[1]], iq3_xxs_grid[ranks[2]],
                   iq3_xxs_grid[ranks[3]]);
}

template <class Store>
HWY_INLINE void Decode(const BlockIQ3_XXS& block, float* dst, Store store) {
  const SignWords<8> words(block.groups.data());
  const Floats quarter = hn::Mul(HalfAt(block.scale.data()), hn::Set(FloatTag(), 0.25f));
  const Factors factors(OddScalesOfTops<4>(block.groups.data()), quarter);
  for (std::size_t group = 0; group < 8; ++group, dst += 32) {
    const auto factor = factors[group];
    const std::uint8_t* ranks = &block.ranks[8 * group];
    const std::uint8_t* signs = &words.signs[4 * group];
    StoreScaled(SignedLevels(Magnitudes(ranks), signs), factor, dst, store);
    StoreScaled(SignedLevels(Magnitudes(ranks + 4), signs + 2), factor, dst + 16, store);
  }
}

template <class Store>
HWY_INLINE void Decode(const BlockIQ3_S& block, float* dst, Store store) {
  // There are 8 groups; the rest is not used.
  const Factors factors(OddScales(u32_at(block.groups.data())), HalfAt(block.scale.data()));
  RankArray<64> ranks;
  for (std::size_t i = 0; i < 64; i += 16) {
    const std::uint8_t* high_bits = &block.rank_high[i / 8];
    const auto has_high = hn::LoadMaskBits(CodeTag(), high_bits);
    ranks.Set(i, LoadCodes(&block.ranks[i]), hn::IfThenElseZero(has_high, hn::Set(CodeTag(), 1)));
  }
  for (std::size_t i = 0; i < 16; ++i, dst += 16) {
    const Codes magnitudes = FourQuads(iq3_s_grid[ranks[4 * i]], iq3_s_grid[ranks[4 * i + 1]],
                                       iq3_s_grid[ranks[4 * i + 2]], iq3_s_grid[ranks[4 * i + 3]]);
    // The last signs have four bytes of group scales behind them.
    StoreScaled(SignedLevels(magnitudes, &block.signs[2 * i]), factors[i / 2], dst, store);
  }
}

template <class Store>
HWY_INLINE void Decode(const BlockIQ4_NL& block, float* dst, Store store) {
  const Products products(iq4_values, HalfAt(block.scale.data()));
  const Codes codes = LoadCodes(block.codes.data());
  products(codes, dst, store);
  products(ShiftRightMixing<4>(codes), dst + 16, store);
}

/// The 8 group scales, less 32, twice.
HWY_INLINE Levels GroupScales(const BlockIQ4_XS& block) {
  // Nibbles, and pairs of bits, to bytes of their own.
  std::uint64_t low = u32_at(block.group_low.data());
  low = (low | low << 16) & 0x0000FFFF0000FFFF;
  low = (low | low << 8) & 0x00FF00FF00FF00FF;
  low = (low | low << 4) & 0x0F0F0F0F0F0F0F0F;
  std::uint64_t high = u16_at(block.group_high.data());
  high = (high | high << 24) & 0x000000FF000000FF;
  high = (high | high << 12) & 0x000F000F000F000F;
  high = (high | high << 6) & 0x0303030303030303;
  const std::uint64_t scales = low | high << 4;
  return hn::Sub(LevelsOf(CodesOf(scales, scales)), hn::Set(LevelTag(), 32));
}

template <class Store>
HWY_INLINE void Decode(const BlockIQ4_XS& block, float* dst, Store store) {
  const Factors factors(GroupScales(block), HalfAt(block.scale.data()));
  for (std::size_t group = 0; group < 8; ++group, dst += 32) {
    const Products products(iq4_values, factors[group]);
    const Codes codes = LoadCodes(&block.codes[16 * group]);
    products(codes, dst, store);
    products(ShiftRightMixing<4>(codes), dst + 16, store);
  }
}

#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

INGOT_DECODER(IQ1_S, iq1_s)
INGOT_DECODER(IQ1_M, iq1_m)
INGOT_DECODER(IQ2_XXS, iq2_xxs)
INGOT_DECODER(IQ2_XS, iq2_xs)
INGOT_DECODER(IQ2_S, iq2_s)
INGOT_DECODER(IQ3_XXS, iq3_xxs)
INGOT_DECODER(IQ3_S, iq3_s)
INGOT_DECODER(IQ4_NL, iq4_nl)
INGOT_DECODER(IQ4_XS, iq4_xs)
