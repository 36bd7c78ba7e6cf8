// SPDX-License-Identifier: MIT
#include "codec/blocks/iq3.hpp"
#include "codec/codec.hpp"
#include "codec/lattice/lattice.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/decode/iq3_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codec/decode/dispatch_inl.hpp"
#include "codec/decode/lattice_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
/// Four points of four bytes.
HWY_INLINE Codes FourQuads(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  const hn::Repartition<std::uint32_t, CodeTag> u32;
  const hn::Repartition<std::uint64_t, CodeTag> u64;
  const auto ab = hn::InterleaveLower(u32, hn::Set(u32, a), hn::Set(u32, b));
  const auto cd = hn::InterleaveLower(u32, hn::Set(u32, c), hn::Set(u32, d));
  return hn::BitCast(CodeTag(),
                     hn::InterleaveLower(u64, hn::BitCast(u64, ab), hn::BitCast(u64, cd)));
}

struct DecodeIQ3_XXS {
  template <class Store>
  HWY_INLINE void operator()(const BlockIQ3_XXS& block, float* dst, Store store) const {
    const SignWords<8> words(block.groups.data());
    const Floats quarter = hn::Mul(HalfAt(block.scale.data()), hn::Set(FloatTag(), 0.25f));
    const auto factors = store.Groups(OddScalesOfTops<4>(block.groups.data()), quarter);
    for (std::size_t group = 0; group < 8; ++group, dst += 32) {
      const auto factor = factors[group];
      const std::uint8_t* ranks = &block.ranks[8 * group];
      const std::uint8_t* signs = &words.signs[4 * group];
      StoreScaled(SignedLevels(Magnitudes(ranks), signs), factor, dst, store);
      StoreScaled(SignedLevels(Magnitudes(ranks + 4), signs + 2), factor, dst + 16, store);
    }
  }

  [[nodiscard]] static HWY_INLINE Codes Magnitudes(const std::uint8_t* ranks) {
    return FourQuads(iq3_xxs_grid[ranks[0]], iq3_xxs_grid[ranks[1]], iq3_xxs_grid[ranks[2]],
                     iq3_xxs_grid[ranks[3]]);
  }
};

struct DecodeIQ3_S {
  template <class Store>
  HWY_INLINE void operator()(const BlockIQ3_S& block, float* dst, Store store) const {
    // There are 8 groups; the rest is not used.
    const auto factors =
        store.Groups(OddScales(u32_at(block.groups.data())), HalfAt(block.scale.data()));
    RankArray<64> ranks;
    for (std::size_t i = 0; i < 64; i += 16) {
      const std::uint8_t* high_bits = &block.rank_high[i / 8];
      const auto has_high = hn::LoadMaskBits(CodeTag(), high_bits);
      ranks.Set(i, LoadCodes(&block.ranks[i]), hn::IfThenElseZero(has_high, hn::Set(CodeTag(), 1)));
    }
    for (std::size_t i = 0; i < 16; ++i, dst += 16) {
      const Codes magnitudes =
          FourQuads(iq3_s_grid[ranks[4 * i]], iq3_s_grid[ranks[4 * i + 1]],
                    iq3_s_grid[ranks[4 * i + 2]], iq3_s_grid[ranks[4 * i + 3]]);
      // The last signs have four bytes of group scales behind them.
      StoreScaled(SignedLevels(magnitudes, &block.signs[2 * i]), factors[i / 2], dst, store);
    }
  }
};
#endif

INGOT_DECODER(IQ3_XXS, iq3_xxs, 256)
INGOT_DECODER(IQ3_S, iq3_s, 256)

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::codec {

INGOT_EXPORT_DECODER(IQ3_XXS, iq3_xxs)
INGOT_EXPORT_DECODER(IQ3_S, iq3_s)

}  // namespace ingot::codec
#endif
