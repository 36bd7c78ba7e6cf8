// SPDX-License-Identifier: MIT
#include "codec/codec.hpp"
#include "codec/iq4.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/iq4_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codec/dispatch_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
struct DecodeIQ4_NL {
  template <class Store>
  HWY_INLINE void operator()(const BlockIQ4_NL& block, float* dst, Store store) const {
    const Products products(iq4_values, HalfAt(block.scale.data()));
    const Codes codes = LoadCodes(block.codes.data());
    products(codes, dst, store);
    products(ShiftRightMixing<4>(codes), dst + 16, store);
  }
};

struct DecodeIQ4_XS {
  template <class Store>
  HWY_INLINE void operator()(const BlockIQ4_XS& block, float* dst, Store store) const {
    const float scale = hn::GetLane(HalfAt(block.scale.data()));
    unsigned low = u32_at(block.group_low.data());
    unsigned high = u16_at(block.group_high.data());
    for (std::size_t group = 0; group < 8; ++group, dst += 32, low >>= 4, high >>= 2) {
      const int group_scale = static_cast<int>((low & 15) | (high & 3) << 4) - 32;
      const Products products(iq4_values,
                              hn::Set(FloatTag(), scale * static_cast<float>(group_scale)));
      const Codes codes = LoadCodes(&block.codes[16 * group]);
      products(codes, dst, store);
      products(ShiftRightMixing<4>(codes), dst + 16, store);
    }
  }
};
#endif

INGOT_DECODER(IQ4_NL, iq4_nl, 32)
INGOT_DECODER(IQ4_XS, iq4_xs, 256)

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::codec {

INGOT_EXPORT_DECODER(IQ4_NL, iq4_nl)
INGOT_EXPORT_DECODER(IQ4_XS, iq4_xs)

}  // namespace ingot::codec
#endif
