// SPDX-License-Identifier: MIT
#include "codec/blocks/legacy5.hpp"
#include "codec/codec.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/decode/legacy5_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codec/decode/dispatch_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
/// Low nibbles, plus 16 where the fifth bit is 1, bit i of the two bytes at `high_bits`; and plus
/// `offset`.
HWY_INLINE Levels FiveBitLevels(Codes codes, const std::uint8_t* high_bits, std::int8_t offset) {
  const Levels low = hn::Add(LevelsOf(AndByte(codes, 15)), hn::Set(LevelTag(), offset));
  const auto has_high = hn::LoadMaskBits(LevelTag(), high_bits);
  return hn::IfThenElse(has_high, hn::Add(low, hn::Set(LevelTag(), 16)), low);
}

struct DecodeQ5_0 {
  template <class Store>
  HWY_INLINE void operator()(const BlockQ5_0& block, float* dst, Store store) const {
    const auto scale = store.Unit(block.scale);
    const Codes low = LoadCodes(block.codes.data());
    const Codes high = ShiftRightMixing<4>(low);
    StoreScaled(FiveBitLevels(low, &block.high_bits[0], -16), scale, dst, store);
    StoreScaled(FiveBitLevels(high, &block.high_bits[2], -16), scale, dst + 16, store);
  }
};

struct DecodeQ5_1 {
  template <class Store>
  HWY_INLINE void operator()(const BlockQ5_1& block, float* dst, Store store) const {
    const auto scale = store.Unit(block.scale);
    const auto minimum = store.Offset(block.minimum);
    const Codes low = LoadCodes(block.codes.data());
    const Codes high = ShiftRightMixing<4>(low);
    StoreAffine(FiveBitLevels(low, &block.high_bits[0], 0), scale, minimum, dst, store);
    StoreAffine(FiveBitLevels(high, &block.high_bits[2], 0), scale, minimum, dst + 16, store);
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
