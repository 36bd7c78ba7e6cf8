// SPDX-License-Identifier: MIT
#define HWY_TARGET_INCLUDE "codec/decode/legacy_simd.cpp"
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

#include "codec/blocks/legacy.hpp"
#include "codec/decode/decoding_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
constexpr Codebook four_bits = {-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7};

template <class Store>
HWY_INLINE void Decode(const BlockQ4_0& block, float* dst, Store store) {
  const Products products(four_bits, HalfAt(block.scale.data()));
  const Codes codes = LoadCodes(block.codes.data());
  products(codes, dst, store);
  products(ShiftRightMixing<4>(codes), dst + 16, store);
}

template <class Store>
HWY_INLINE void Decode(const BlockQ4_1& block, float* dst, Store store) {
  const auto scale = HalfAt(block.scale.data());
  const auto minimum = HalfAt(block.minimum.data());
  const AffineCodes<4> values(scale, minimum);
  const Codes codes = LoadCodes(block.codes.data());
  values(codes, dst, store);
  values(ShiftRightMixing<4>(codes), dst + 16, store);
}

/// Low nibbles, plus 16 where the fifth bit is 1, bit i of the two bytes at `high_bits`; and plus
/// `offset`.
HWY_INLINE Levels FiveBitLevels(Codes codes, const std::uint8_t* high_bits, std::int8_t offset) {
  const Levels low = hn::Add(LevelsOf(AndByte(codes, 15)), hn::Set(LevelTag(), offset));
  const auto has_high = hn::LoadMaskBits(LevelTag(), high_bits);
  return hn::IfThenElse(has_high, hn::Add(low, hn::Set(LevelTag(), 16)), low);
}

template <class Store>
HWY_INLINE void Decode(const BlockQ5_0& block, float* dst, Store store) {
  const auto scale = HalfAt(block.scale.data());
  const Codes low = LoadCodes(block.codes.data());
  const Codes high = ShiftRightMixing<4>(low);
  StoreScaled(FiveBitLevels(low, &block.high_bits[0], -16), scale, dst, store);
  StoreScaled(FiveBitLevels(high, &block.high_bits[2], -16), scale, dst + 16, store);
}

template <class Store>
HWY_INLINE void Decode(const BlockQ5_1& block, float* dst, Store store) {
  const auto scale = HalfAt(block.scale.data());
  const auto minimum = HalfAt(block.minimum.data());
  const Codes low = LoadCodes(block.codes.data());
  const Codes high = ShiftRightMixing<4>(low);
  StoreAffine(FiveBitLevels(low, &block.high_bits[0], 0), scale, minimum, dst, store);
  StoreAffine(FiveBitLevels(high, &block.high_bits[2], 0), scale, minimum, dst + 16, store);
}
#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

INGOT_DECODER(Q4_0, q4_0)
INGOT_DECODER(Q4_1, q4_1)
INGOT_DECODER(Q5_0, q5_0)
INGOT_DECODER(Q5_1, q5_1)
