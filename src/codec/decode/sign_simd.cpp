// SPDX-License-Identifier: MIT
#include <bit>

#include "codec/blocks/sign.hpp"
#include "codec/codec.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/decode/sign_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codec/decode/dispatch_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
struct DecodeQ1_0 {
  static HWY_INLINE LevelCounts Count(const BlockQ1_0& block) {
    const int ones =
        std::popcount(u64_at(&block.signs[0])) + std::popcount(u64_at(&block.signs[8]));
    return {2 * ones - 128, 128, 128, 1};
  }

  template <class Store>
  HWY_INLINE void operator()(const BlockQ1_0& block, float* dst, Store store) const {
    const Floats scale = HalfAt(block.scale.data());
    const Floats negated = hn::Neg(scale);
    for (std::size_t i = 0; i < 128; i += 16) {
      if constexpr (float_lanes >= 8) {
        for (std::size_t j = 0; j < 16; j += float_lanes) {
          const auto is_set = hn::LoadMaskBits(FloatTag(), &block.signs[(i + j) / 8]);
          store(hn::IfThenElse(is_set, scale, negated), dst + i + j);
        }
      } else {
        const auto is_set = hn::LoadMaskBits(LevelTag(), &block.signs[i / 8]);
        const Levels levels =
            hn::IfThenElse(is_set, hn::Set(LevelTag(), 1), hn::Set(LevelTag(), -1));
        StoreScaled(levels, scale, dst + i, store);
      }
    }
  }
};
#endif

INGOT_DECODER(Q1_0, q1_0, 128)

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::codec {

INGOT_EXPORT_DECODER(Q1_0, q1_0)

}  // namespace ingot::codec
#endif
