// SPDX-License-Identifier: MIT
#include "codec/codec.hpp"
#include "codec/iq2.hpp"
#include "codec/lattice.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/iq2_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codec/dispatch_inl.hpp"
#include "codec/lattice_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
HWY_INLINE Floats GroupFactor(float scale, unsigned group_scale) {
  return hn::Set(FloatTag(), scale * (0.5f + static_cast<float>(group_scale)) * 0.25f);
}

struct DecodeIQ2_XXS {
  template <class Store>
  HWY_INLINE void operator()(const BlockIQ2_XXS& block, float* dst, Store store) const {
    const float scale = hn::GetLane(HalfAt(block.scale.data()));
    for (std::size_t group = 0; group < 8; ++group, dst += 32) {
      const std::uint8_t* ranks = &block.groups[8 * group];
      const std::uint32_t word = u32_at(ranks + 4);
      const std::uint32_t signs = EvenSigns(word);
      const Floats factor = GroupFactor(scale, word >> 28);
      const Codes first = CodesOf(iq2_xxs_grid[ranks[0]], iq2_xxs_grid[ranks[1]]);
      const Codes second = CodesOf(iq2_xxs_grid[ranks[2]], iq2_xxs_grid[ranks[3]]);
      StoreScaled(SignedLevels(first, signs & 0xFFFF), factor, dst, store);
      StoreScaled(SignedLevels(second, signs >> 16), factor, dst + 16, store);
    }
  }
};

struct DecodeIQ2_XS {
  template <class Store>
  HWY_INLINE void operator()(const BlockIQ2_XS& block, float* dst, Store store) const {
    const float scale = hn::GetLane(HalfAt(block.scale.data()));
    for (std::size_t group = 0; group < 16; ++group, dst += 16) {
      const unsigned low = u16_at(&block.octets[4 * group]);
      const unsigned high = u16_at(&block.octets[4 * group + 2]);
      const std::uint32_t signs = EvenSigns(low >> 9 | high >> 9 << 7);
      const Codes magnitudes = CodesOf(iq2_xs_grid[low & 511], iq2_xs_grid[high & 511]);
      const unsigned group_scale = block.groups[group / 2] >> (4 * (group % 2)) & 15;
      StoreScaled(SignedLevels(magnitudes, signs & 0xFFFF), GroupFactor(scale, group_scale), dst,
                  store);
    }
  }
};

struct DecodeIQ2_S {
  template <class Store>
  HWY_INLINE void operator()(const BlockIQ2_S& block, float* dst, Store store) const {
    const float scale = hn::GetLane(HalfAt(block.scale.data()));
    for (std::size_t group = 0; group < 16; ++group, dst += 16) {
      const unsigned high = block.rank_high[group / 2] >> (4 * (group % 2));
      const unsigned low_rank = block.ranks[2 * group] | (high << 8 & 0x300);
      const unsigned high_rank = block.ranks[2 * group + 1] | (high << 6 & 0x300);
      const Codes magnitudes = CodesOf(iq2_s_grid[low_rank], iq2_s_grid[high_rank]);
      const unsigned group_scale = block.groups[group / 2] >> (4 * (group % 2)) & 15;
      StoreScaled(SignedLevels(magnitudes, u16_at(&block.signs[2 * group])),
                  GroupFactor(scale, group_scale), dst, store);
    }
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
