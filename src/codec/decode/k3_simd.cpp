// SPDX-License-Identifier: MIT
#include "codec/blocks/k3.hpp"
#include "codec/codec.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/decode/k3_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codec/decode/dispatch_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
/// The 16 group scales, less 32.
HWY_INLINE Levels GroupScales(const Bytes<12>& groups) {
  const std::uint64_t low = u64_at(groups.data());
  const std::uint64_t high = u32_at(&groups[8]);
  constexpr std::uint64_t nibbles = 0x0F0F0F0F0F0F0F0F;
  constexpr std::uint64_t pairs = 0x3030303030303030;
  const std::uint64_t first = (low & nibbles) | ((high << 4 | high << 34) & pairs);
  const std::uint64_t last = (low >> 4 & nibbles) | ((high | high << 30) & pairs);
  return hn::Sub(LevelsOf(CodesOf(first, last)), hn::Set(LevelTag(), 32));
}

struct DecodeQ3_K {
  template <class Store>
  HWY_INLINE void operator()(const BlockQ3_K& block, float* dst, Store store) const {
    const auto scales = store.Groups(GroupScales(block.groups), HalfAt(block.scale.data()));
    const auto store_group = [&](std::size_t group, Codes low, Codes high) HWY_ATTR {
      const Codes code = hn::Or(AndByte(low, 3), AndByte(ShiftLeftMixing<2>(high), 4));
      StoreScaled(hn::Sub(LevelsOf(code), hn::Set(LevelTag(), 4)), scales[group], dst + 16 * group,
                  store);
    };
    Codes even_high = LoadCodes(&block.high_bits[0]);
    Codes odd_high = LoadCodes(&block.high_bits[16]);
    for (std::size_t half = 0; half < 2; ++half) {
      Codes even = LoadCodes(&block.codes[32 * half]);
      Codes odd = LoadCodes(&block.codes[32 * half + 16]);
      for (std::size_t group = 8 * half; group < 8 * half + 8; group += 2) {
        store_group(group, even, even_high);
        store_group(group + 1, odd, odd_high);
        even = ShiftRightMixing<2>(even);
        odd = ShiftRightMixing<2>(odd);
        even_high = ShiftRightMixing<1>(even_high);
        odd_high = ShiftRightMixing<1>(odd_high);
      }
    }
  }
};
#endif

INGOT_DECODER(Q3_K, q3_k, 256)

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::codec {

INGOT_EXPORT_DECODER(Q3_K, q3_k)

}  // namespace ingot::codec
#endif
