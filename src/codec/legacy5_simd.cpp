// SPDX-License-Identifier: MIT
#include "codec/codec.hpp"
#include "codec/legacy5.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/legacy5_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codec/dispatch_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
/// Low nibbles, less 16 where the fifth bit is 0: bit i of the two bytes at `high_bits`.
HWY_INLINE Levels CenteredLevels(Codes codes, const std::uint8_t* high_bits) {
  const Levels low = LevelsOf(AndByte(codes, 15));
  const auto has_high = hn::LoadMaskBits(LevelTag(), high_bits);
  return hn::IfThenElse(has_high, low, hn::Sub(low, hn::Set(LevelTag(), 16)));
}

/// Low nibbles, plus 16 where the fifth bit is 1.
HWY_INLINE Levels PositiveLevels(Codes codes, const std::uint8_t* high_bits) {
  const Levels low = LevelsOf(AndByte(codes, 15));
  const auto has_high = hn::LoadMaskBits(LevelTag(), high_bits);
  return hn::IfThenElse(has_high, hn::Add(low, hn::Set(LevelTag(), 16)), low);
}

struct DecodeQ5_0 {
  template <class Store>
  HWY_INLINE void operator()(const BlockQ5_0& block, float* dst, Store store) const {
    const Floats scale = HalfAt(block.scale.data());
    const Codes low = LoadCodes(block.codes.data());
    const Codes high = ShiftRightMixing<4>(low);
    StoreScaled(CenteredLevels(low, &block.high_bits[0]), scale, dst, store);
    StoreScaled(CenteredLevels(high, &block.high_bits[2]), scale, dst + 16, store);
  }
};

struct DecodeQ5_1 {
  template <class Store>
  HWY_INLINE void operator()(const BlockQ5_1& block, float* dst, Store store) const {
    const Floats scale = HalfAt(block.scale.data());
    const Floats minimum = HalfAt(block.minimum.data());
    const Codes low = LoadCodes(block.codes.data());
    const Codes high = ShiftRightMixing<4>(low);
    StoreAffine(PositiveLevels(low, &block.high_bits[0]), scale, minimum, dst, store);
    StoreAffine(PositiveLevels(high, &block.high_bits[2]), scale, minimum, dst + 16, store);
  }
};
#endif

INGOT_DECODER(Q5_0, q5_0, 32)
INGOT_DECODER(Q5_1, q5_1, 32)

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::codec {

INGOT_EXPORT_DECODER(Q5_0, q5_0)
INGOT_EXPORT_DECODER(Q5_1, q5_1)

}  // namespace ingot::codec
#endif
