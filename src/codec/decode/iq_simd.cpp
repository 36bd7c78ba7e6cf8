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
template <class Store>
HWY_INLINE void Decode(const BlockIQ1_S& block, float* dst, Store store) {
  const Codes scales = OddScalesOfSecondBytes(LoadCodes(block.groups.data()));
  const Factors factors(LevelsOf(scales), EighthOf(HalfAt(block.scale.data())));
  const RankArray<32> ranks = RanksOf(block);
  for (std::size_t group = 0; group < 8; ++group, dst += 32) {
    const unsigned shift_bit = block.groups[2 * group + 1] >> 7;
    const Codes shift = hn::Set(CodeTag(), static_cast<std::uint8_t>(shift_bit << 2));
    const Products products(shifted_points, factors[2 * group + 1]);
    const auto octet = [&](std::size_t j) HWY_ATTR { return iq1_grid[ranks[4 * group + j]]; };
    products(hn::Sub(CodesOf(octet(0), octet(1)), shift), dst, store);
    products(hn::Sub(CodesOf(octet(2), octet(3)), shift), dst + 16, store);
  }
}

template <class Store>
HWY_INLINE void Decode(const BlockIQ1_M& block, float* dst, Store store) {
  const Floats scale = FloatsFromHalves(hn::Set(HalfBitsTag(), scale_bits_of(block)));
  const Factors factors(OddScalesOfWords(u64_at(block.groups.data())), EighthOf(scale));
  const RankArray<32> ranks = RanksOf(block);
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
  HWY_ALIGN std::uint8_t signs[32 + 8];  // loads of 16 bits may read 64
  StoreOctetSigns(block.octets.data(), signs);
  const Factors factors(OddScales(u64_at(block.groups.data())),
                        EighthOf(HalfAt(block.scale.data())));
  for (std::size_t group = 0; group < 16; ++group, dst += 16) {
    const std::size_t low = u16_at(&block.octets[4 * group]);
    const std::size_t high = u16_at(&block.octets[4 * group + 2]);
    const Codes magnitudes = CodesOf(iq2_xs_grid[low & 511], iq2_xs_grid[high & 511]);
    StoreScaled(SignedLevels(magnitudes, signs + 2 * group), factors[group], dst, store);
  }
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

/// Joins four points of four bytes.
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
  // There are 8 groups; the other lanes are not used.
  const Factors factors(OddScales(u32_at(block.groups.data())), HalfAt(block.scale.data()));
  const RankArray<64> ranks = RanksOf(block);
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

/// The 8 group scales minus 32, twice.
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
