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

#include "codec/dispatch_inl.hpp"
#include "codec/k4.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// The 8 group scales, then the 8 group minimums.
HWY_INLINE Levels GroupNumbers(const Bytes<12>& groups) {
  constexpr std::uint64_t low_halves = 0x0000000030303030;
  const std::uint64_t p = u64_at(groups.data());
  const std::uint64_t last = u32_at(&groups[8]);
  const std::uint64_t six_bits = p & 0x3F3F3F3F3F3F3F3F;
  const std::uint64_t scales_4_to_7 = (last & 0x0F0F0F0F) | (p >> 2 & low_halves);
  const std::uint64_t minimums_4_to_7 = (last >> 4 & 0x0F0F0F0F) | (p >> 34 & low_halves);
  return LevelsOf(CodesOf((six_bits & 0xFFFFFFFF) | scales_4_to_7 << 32,
                          six_bits >> 32 | minimums_4_to_7 << 32));
}

/// Of each of the 8 groups, what code 1 is worth and what code 0 stands for.
class GroupFactors {
 public:
  HWY_INLINE GroupFactors(const Bytes<12>& groups, Floats scale, Floats minimum)
      : scales_(GroupNumbers(groups), scale), offsets_(GroupNumbers(groups), hn::Neg(minimum)) {}

  [[nodiscard]] HWY_INLINE Floats Scale(std::size_t group) const { return scales_[group]; }
  [[nodiscard]] HWY_INLINE Floats Offset(std::size_t group) const { return offsets_[8 + group]; }

 private:
  Factors scales_;
  Factors offsets_;
};

#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
