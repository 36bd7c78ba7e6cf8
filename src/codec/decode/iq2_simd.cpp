// SPDX-License-Identifier: MIT
#include "codec/blocks/iq2.hpp"
#include "codec/codec.hpp"
#include "codec/lattice/lattice.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/decode/iq2_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codec/decode/dispatch_inl.hpp"
#include "codec/decode/lattice_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
struct DecodeIQ2_XXS {
  template <class Store>
  HWY_INLINE void operator()(const BlockIQ2_XXS& block, float* dst, Store store) const {
    // Every other word holds ranks instead, which do no harm.
    const SignWords<16> words(block.groups.data());
    const auto factors =
        store.Groups(OddScalesOfTops<8>(block.groups.data()), EighthOf(HalfAt(block.scale.data())));
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
};

struct DecodeIQ2_XS {
  template <class Store>
  HWY_INLINE void operator()(const BlockIQ2_XS& block, float* dst, Store store) const {
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
    const auto factors =
        store.Groups(OddScales(u64_at(block.groups.data())), EighthOf(HalfAt(block.scale.data())));
    for (std::size_t group = 0; group < 16; ++group, dst += 16) {
      const std::size_t low = u16_at(&block.octets[4 * group]);
      const std::size_t high = u16_at(&block.octets[4 * group + 2]);
      const Codes magnitudes = CodesOf(iq2_xs_grid[low & 511], iq2_xs_grid[high & 511]);
      StoreScaled(SignedLevels(magnitudes, signs + 2 * group), factors[group], dst, store);
    }
  }
};

struct DecodeIQ2_S {
  template <class Store>
  HWY_INLINE void operator()(const BlockIQ2_S& block, float* dst, Store store) const {
    const auto factors =
        store.Groups(OddScales(u64_at(block.groups.data())), EighthOf(HalfAt(block.scale.data())));
    const RankArray<32> ranks = Ranks(block);
    for (std::size_t group = 0; group < 16; ++group, dst += 16) {
      const Codes magnitudes =
          CodesOf(iq2_s_grid[ranks[2 * group]], iq2_s_grid[ranks[2 * group + 1]]);
      StoreScaled(SignedLevels(magnitudes, &block.signs[2 * group]), factors[group], dst, store);
    }
  }

  [[nodiscard]] static HWY_INLINE RankArray<32> Ranks(const BlockIQ2_S& block) {
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
};
#endif

INGOT_DECODER(IQ2_XXS, iq2_xxs, 256)
INGOT_DECODER(IQ2_XS, iq2_xs, 256)
INGOT_DECODER(IQ2_S, iq2_s, 256)

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::codec {

INGOT_EXPORT_DECODER(IQ2_XXS, iq2_xxs)
INGOT_EXPORT_DECODER(IQ2_XS, iq2_xs)
INGOT_EXPORT_DECODER(IQ2_S, iq2_s)

}  // namespace ingot::codec
#endif
