// SPDX-License-Identifier: MIT
#include "codec/codec.hpp"
#include "codec/k5.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/k5_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codec/dispatch_inl.hpp"
#include "codec/k_groups_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
struct DecodeQ5_K {
  template <class Store>
  HWY_INLINE void operator()(const BlockQ5_K& block, float* dst, Store store) const {
    const GroupNumbers numbers(block.groups);
    const auto factors = store.Groups(numbers.scales, HalfAt(block.scale.data()), numbers.minimums,
                                      HalfAt(block.minimum.data()));
    const auto store_half = [&](std::size_t group, std::size_t i, Codes low, Codes high) HWY_ATTR {
      const Codes code = hn::Or(AndByte(low, 15), AndByte(high, 16));
      StoreAffine(LevelsOf(code), factors.Scale(group), factors.Offset(group), dst + 32 * group + i,
                  store);
    };
    Codes first_high = LoadCodes(&block.high_bits[0]);
    Codes last_high = LoadCodes(&block.high_bits[16]);
    for (std::size_t group = 0; group < 8; group += 2) {
      const Codes first = LoadCodes(&block.codes[16 * group]);
      const Codes last = LoadCodes(&block.codes[16 * group + 16]);
      store_half(group, 0, first, ShiftLeftMixing<4>(first_high));
      store_half(group, 16, last, ShiftLeftMixing<4>(last_high));
      store_half(group + 1, 0, ShiftRightMixing<4>(first), ShiftLeftMixing<3>(first_high));
      store_half(group + 1, 16, ShiftRightMixing<4>(last), ShiftLeftMixing<3>(last_high));
      first_high = ShiftRightMixing<2>(first_high);
      last_high = ShiftRightMixing<2>(last_high);
    }
  }
};
#endif

INGOT_DECODER(Q5_K, q5_k, 256)

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::codec {

INGOT_EXPORT_DECODER(Q5_K, q5_k)

}  // namespace ingot::codec
#endif
