// SPDX-License-Identifier: MIT
#include "codec/blocks/k5.hpp"
#include "codec/codec.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/decode/k5_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codec/decode/dispatch_inl.hpp"
#include "codec/decode/k_groups_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
struct DecodeQ5_K {
  template <class Store>
  HWY_INLINE void operator()(const BlockQ5_K& block, float* dst, Store store) const {
    const GroupNumbers numbers(block.groups);
    const auto factors = store.Groups(numbers.scales, HalfAt(block.scale.data()), numbers.minimums,
                                      HalfAt(block.minimum.data()));
    const auto code_of = [](Codes low, Codes high) HWY_ATTR {
      return LevelsOf(hn::Or(AndByte(low, 15), AndByte(high, 16)));
    };
    Codes first_high = LoadCodes(&block.high_bits[0]);
    Codes last_high = LoadCodes(&block.high_bits[16]);
    for (std::size_t group = 0; group < 8; group += 2, dst += 64) {
      const Codes first = LoadCodes(&block.codes[16 * group]);
      const Codes last = LoadCodes(&block.codes[16 * group + 16]);
      StoreAffine(code_of(first, ShiftLeftMixing<4>(first_high)),
                  code_of(last, ShiftLeftMixing<4>(last_high)), factors.Scale(group),
                  factors.Offset(group), dst, store);
      StoreAffine(code_of(ShiftRightMixing<4>(first), ShiftLeftMixing<3>(first_high)),
                  code_of(ShiftRightMixing<4>(last), ShiftLeftMixing<3>(last_high)),
                  factors.Scale(group + 1), factors.Offset(group + 1), dst + 32, store);
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
