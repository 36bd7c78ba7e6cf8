// SPDX-License-Identifier: MIT
// Codes and scales of more than one bit that lie apart, to vectors of bytes. Included once per CPU
// target, after hwy/highway.h.

// clang-format off
#if defined(INGOT_CODEC_UNPACKING_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_CODEC_UNPACKING_INL_HPP
#undef INGOT_CODEC_UNPACKING_INL_HPP
#else
#define INGOT_CODEC_UNPACKING_INL_HPP
#endif
// clang-format on

#include "codec/blocks/k.hpp"
#include "codec/blocks/ternary.hpp"
#include "codec/decode/decoding_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// The 16 group scales minus 32.
HWY_INLINE Levels GroupScales(const BlockQ3_K& block) {
  const std::uint64_t low = u64_at(block.groups.data());
  const std::uint64_t high = u32_at(&block.groups[8]);
  constexpr std::uint64_t nibbles = 0x0F0F0F0F0F0F0F0F;
  constexpr std::uint64_t pairs = 0x3030303030303030;
  const std::uint64_t first = (low & nibbles) | ((high << 4 | high << 34) & pairs);
  const std::uint64_t last = (low >> 4 & nibbles) | ((high | high << 30) & pairs);
  return hn::Sub(LevelsOf(CodesOf(first, last)), hn::Set(LevelTag(), 32));
}

/// visit(i, codes) for the codes of the weights i .. i + 15, in the low bits of bytes.
template <class Visit>
HWY_INLINE void VisitCodes(const BlockQ2_0& block, const Visit& visit) {
  const hn::Repartition<std::uint16_t, CodeTag> u16;
  // Code t of each byte, then 0 1 0 1.. and 2 3 2 3.., then 0 1 2 3...
  const Codes codes_0 = LoadCodes(block.codes.data());
  const Codes codes_1 = ShiftRightMixing<2>(codes_0);
  const Codes codes_2 = ShiftRightMixing<4>(codes_0);
  const Codes codes_3 = ShiftRightMixing<6>(codes_0);
  const auto low_01 = hn::BitCast(u16, hn::InterleaveLower(CodeTag(), codes_0, codes_1));
  const auto low_23 = hn::BitCast(u16, hn::InterleaveLower(CodeTag(), codes_2, codes_3));
  const auto high_01 = hn::BitCast(u16, hn::InterleaveUpper(CodeTag(), codes_0, codes_1));
  const auto high_23 = hn::BitCast(u16, hn::InterleaveUpper(CodeTag(), codes_2, codes_3));
  visit(0, hn::BitCast(CodeTag(), hn::InterleaveLower(u16, low_01, low_23)));
  visit(16, hn::BitCast(CodeTag(), hn::InterleaveUpper(u16, low_01, low_23)));
  visit(32, hn::BitCast(CodeTag(), hn::InterleaveLower(u16, high_01, high_23)));
  visit(48, hn::BitCast(CodeTag(), hn::InterleaveUpper(u16, high_01, high_23)));
}

#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
