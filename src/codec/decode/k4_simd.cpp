// SPDX-License-Identifier: MIT
#include "codec/blocks/k4.hpp"
#include "codec/codec.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/decode/k4_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codec/decode/dispatch_inl.hpp"
#include "codec/decode/k_groups_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
struct DecodeQ4_K {
  template <class Store>
  HWY_INLINE void operator()(const BlockQ4_K& block, float* dst, Store store) const {
    const GroupNumbers numbers(block.groups);
    const auto factors = store.Groups(numbers.scales, HalfAt(block.scale.data()), numbers.minimums,
                                      HalfAt(block.minimum.data()));
    for (std::size_t group = 0; group < 8; group += 2, dst += 64) {
      const auto even = AffineOf<4>(factors.Scale(group), factors.Offset(group));
      const auto odd = AffineOf<4>(factors.Scale(group + 1), factors.Offset(group + 1));
      const Codes first = LoadCodes(&block.codes[16 * group]);
      const Codes last = LoadCodes(&block.codes[16 * group + 16]);
      even(first, last, dst, store);
      odd(ShiftRightMixing<4>(first), ShiftRightMixing<4>(last), dst + 32, store);
    }
  }
};
#endif

INGOT_DECODER(Q4_K, q4_k, 256)

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::codec {

INGOT_EXPORT_DECODER(Q4_K, q4_k)

}  // namespace ingot::codec
#endif
