// SPDX-License-Identifier: MIT
#include "codec/blocks/k2.hpp"
#include "codec/codec.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/decode/k2_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codec/decode/dispatch_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
struct DecodeQ2_K {
  template <class Store>
  HWY_INLINE void operator()(const BlockQ2_K& block, float* dst, Store store) const {
    const Codes groups = LoadCodes(block.groups.data());
    const auto factors = store.Groups(LevelsOf(AndByte(groups, 15)), HalfAt(block.scale.data()),
                                      LevelsOf(AndByte(ShiftRightMixing<4>(groups), 15)),
                                      HalfAt(block.minimum.data()));
    for (std::size_t half = 0; half < 2; ++half) {
      Codes even = LoadCodes(&block.codes[32 * half]);
      Codes odd = LoadCodes(&block.codes[32 * half + 16]);
      for (std::size_t t = 0; t < 4; ++t) {
        const std::size_t group = 8 * half + 2 * t;
        const auto even_values = AffineOf<2>(factors.Scale(group), factors.Offset(group));
        const auto odd_values = AffineOf<2>(factors.Scale(group + 1), factors.Offset(group + 1));
        even_values(even, dst + 16 * group, store);
        odd_values(odd, dst + 16 * group + 16, store);
        even = ShiftRightMixing<2>(even);
        odd = ShiftRightMixing<2>(odd);
      }
    }
  }
};
#endif

INGOT_DECODER(Q2_K, q2_k, 256)

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::codec {

INGOT_EXPORT_DECODER(Q2_K, q2_k)

}  // namespace ingot::codec
#endif
