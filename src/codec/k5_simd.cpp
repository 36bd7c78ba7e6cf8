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
    const GroupFactors factors(block.groups, HalfAt(block.scale.data()),
                               HalfAt(block.minimum.data()));
    for (std::size_t i = 0; i < 32; i += 16) {
      Codes high = LoadCodes(&block.high_bits[i]);
      for (std::size_t group = 0; group < 8; group += 2) {
        const Codes codes = LoadCodes(&block.codes[16 * group + i]);
        const Codes even = hn::Or(AndByte(codes, 15), AndByte(ShiftLeftMixing<4>(high), 16));
        const Codes odd =
            hn::Or(AndByte(ShiftRightMixing<4>(codes), 15), AndByte(ShiftLeftMixing<3>(high), 16));
        StoreAffine(LevelsOf(even), factors.Scale(group), factors.Offset(group),
                    dst + 32 * group + i, store);
        StoreAffine(LevelsOf(odd), factors.Scale(group + 1), factors.Offset(group + 1),
                    dst + 32 * (group + 1) + i, store);
        high = ShiftRightMixing<2>(high);
      }
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
