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
/// The low nibbles of `codes`, and bit i of the two bytes at `high_bits` as bit 4 of code i.
HWY_INLINE Codes FiveBits(Codes codes, const std::uint8_t* high_bits, std::uint8_t value_if_set) {
  const Codes low = AndByte(codes, 15);
  const auto has_high = hn::LoadMaskBits(CodeTag(), high_bits);
  return hn::Or(low, hn::IfThenElseZero(has_high, hn::Set(CodeTag(), value_if_set)));
}

struct DecodeQ5_0 {
  template <class Store>
  HWY_INLINE void operator()(const BlockQ5_0& block, float* dst, Store store) const {
    const Floats scale = HalfAt(block.scale.data());
    const Codes codes = LoadCodes(block.codes.data());
    // Setting bits 4..7 of a nibble subtracts 16; that is done where the fifth bit is 0.
    const Codes flip = hn::Set(CodeTag(), 0xF0);
    const Codes low = FiveBits(codes, &block.high_bits[0], 0xF0);
    const Codes high = FiveBits(ShiftRightMixing<4>(codes), &block.high_bits[2], 0xF0);
    StoreScaled(LevelsOf(hn::Xor(low, flip)), scale, dst, store);
    StoreScaled(LevelsOf(hn::Xor(high, flip)), scale, dst + 16, store);
  }
};

struct DecodeQ5_1 {
  template <class Store>
  HWY_INLINE void operator()(const BlockQ5_1& block, float* dst, Store store) const {
    const Floats scale = HalfAt(block.scale.data());
    const Floats minimum = HalfAt(block.minimum.data());
    const Codes codes = LoadCodes(block.codes.data());
    const Codes low = FiveBits(codes, &block.high_bits[0], 0x10);
    const Codes high = FiveBits(ShiftRightMixing<4>(codes), &block.high_bits[2], 0x10);
    StoreAffine(LevelsOf(low), scale, minimum, dst, store);
    StoreAffine(LevelsOf(high), scale, minimum, dst + 16, store);
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
