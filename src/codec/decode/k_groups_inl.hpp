// SPDX-License-Identifier: MIT
// The group table of Q4_K and Q5_K. Included once per CPU target, after hwy/highway.h.

// clang-format off
#if defined(INGOT_CODEC_K_GROUPS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_CODEC_K_GROUPS_INL_HPP
#undef INGOT_CODEC_K_GROUPS_INL_HPP
#else
#define INGOT_CODEC_K_GROUPS_INL_HPP
#endif
// clang-format on

#include "codec/blocks/k4.hpp"
#include "codec/decode/dispatch_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// The scales and the minimums of the 8 groups, each twice.
struct GroupNumbers {
  Levels scales;
  Levels minimums;

  HWY_INLINE explicit GroupNumbers(const Bytes<12>& groups) {
    constexpr std::uint64_t low_halves = 0x0000000030303030;
    const std::uint64_t p = u64_at(groups.data());
    const std::uint64_t last = u32_at(&groups[8]);
    const std::uint64_t six_bits = p & 0x3F3F3F3F3F3F3F3F;
    const std::uint64_t scales_4_to_7 = (last & 0x0F0F0F0F) | (p >> 2 & low_halves);
    const std::uint64_t minimums_4_to_7 = (last >> 4 & 0x0F0F0F0F) | (p >> 34 & low_halves);
    scales = Twice((six_bits & 0xFFFFFFFF) | scales_4_to_7 << 32);
    minimums = Twice(six_bits >> 32 | minimums_4_to_7 << 32);
  }

  [[nodiscard]] static HWY_INLINE Levels Twice(std::uint64_t numbers) {
    const hn::Repartition<std::uint64_t, CodeTag> u64;
    return hn::BitCast(LevelTag(), hn::Set(u64, numbers));
  }
};

#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
