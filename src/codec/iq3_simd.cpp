// SPDX-License-Identifier: MIT
#include "codec/codec.hpp"
#include "codec/iq3.hpp"
#include "codec/lattice.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/iq3_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codec/dispatch_inl.hpp"
#include "codec/lattice_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
HWY_INLINE std::uint64_t TwoQuads(std::uint32_t low, std::uint32_t high) {
  return low | std::uint64_t{high} << 32;
}

struct DecodeIQ3_XXS {
  template <class Store>
  HWY_INLINE void operator()(const BlockIQ3_XXS& block, float* dst, Store store) const {
    const float scale = hn::GetLane(HalfAt(block.scale.data()));
    for (std::size_t group = 0; group < 8; ++group, dst += 32) {
      const std::uint32_t word = u32_at(&block.groups[4 * group]);
      const std::uint32_t signs = EvenSigns(word);
      const Floats factor =
          hn::Set(FloatTag(), scale * (0.5f + static_cast<float>(word >> 28)) * 0.5f);
      const std::uint8_t* ranks = &block.ranks[8 * group];
      StoreScaled(SignedLevels(Magnitudes(ranks), signs & 0xFFFF), factor, dst, store);
      StoreScaled(SignedLevels(Magnitudes(ranks + 4), signs >> 16), factor, dst + 16, store);
    }
  }

  [[nodiscard]] static HWY_INLINE Codes Magnitudes(const std::uint8_t* ranks) {
    return CodesOf(TwoQuads(iq3_xxs_grid[ranks[0]], iq3_xxs_grid[ranks[1]]),
                   TwoQuads(iq3_xxs_grid[ranks[2]], iq3_xxs_grid[ranks[3]]));
  }
};

struct DecodeIQ3_S {
  template <class Store>
  HWY_INLINE void operator()(const BlockIQ3_S& block, float* dst, Store store) const {
    const float scale = hn::GetLane(HalfAt(block.scale.data()));
    for (std::size_t group = 0; group < 8; ++group, dst += 32) {
      const unsigned group_scale = block.groups[group / 2] >> (4 * (group % 2)) & 15;
      const Floats factor = hn::Set(FloatTag(), scale * static_cast<float>(1 + 2 * group_scale));
      const std::uint8_t* ranks = &block.ranks[8 * group];
      const std::uint8_t* signs = &block.signs[4 * group];
      const unsigned high = block.rank_high[group];
      StoreScaled(SignedLevels(Magnitudes(ranks, high), u16_at(signs)), factor, dst, store);
      StoreScaled(SignedLevels(Magnitudes(ranks + 4, high >> 4), u16_at(signs + 2)), factor,
                  dst + 16, store);
    }
  }

  [[nodiscard]] static HWY_INLINE Codes Magnitudes(const std::uint8_t* ranks, unsigned high) {
    const auto quad = [&](unsigned i) { return iq3_s_grid[ranks[i] | (high << (8 - i) & 256)]; };
    return CodesOf(TwoQuads(quad(0), quad(1)), TwoQuads(quad(2), quad(3)));
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
