// SPDX-License-Identifier: MIT
#include "codec/blocks/legacy4.hpp"
#include "codec/codec.hpp"
#include "codec/cpu_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/decode/legacy4_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codec/decode/dispatch_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
struct DecodeQ4_0 {
  static constexpr Codebook codebook = {-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7};

  template <class Store>
  HWY_INLINE void operator()(const BlockQ4_0& block, float* dst, Store store) const {
    const auto products = ProductsOf(codebook, store.Unit(block.scale));
    const Codes codes = LoadCodes(block.codes.data());
    products(codes, dst, store);
    products(ShiftRightMixing<4>(codes), dst + 16, store);
  }
};

struct DecodeQ4_1 {
  template <class Store>
  HWY_INLINE void operator()(const BlockQ4_1& block, float* dst, Store store) const {
    const auto scale = store.Unit(block.scale);
    const auto minimum = store.Offset(block.minimum);
    const auto values = AffineOf<4>(scale, minimum);
    const Codes codes = LoadCodes(block.codes.data());
    values(codes, dst, store);
    values(ShiftRightMixing<4>(codes), dst + 16, store);
  }
};
#endif

INGOT_DECODER(Q4_0, q4_0, 32)
INGOT_DECODER(Q4_1, q4_1, 32)

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::codec {

INGOT_EXPORT_DECODER(Q4_0, q4_0)
INGOT_EXPORT_DECODER(Q4_1, q4_1)

}  // namespace ingot::codec
#endif
