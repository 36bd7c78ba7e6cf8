// SPDX-License-Identifier: MIT
#include "codec/blocks/k6.hpp"
#include "codec/codec.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/decode/k6_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codec/decode/dispatch_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
struct DecodeQ6_K {
  template <class Store>
  HWY_INLINE void operator()(const BlockQ6_K& block, float* dst, Store store) const {
    const auto scales =
        store.Groups(LevelsOf(LoadCodes(block.groups.data())), HalfAt(block.scale.data()));
    const auto store_group = [&](std::size_t group, Codes low_bits, Codes high_bits) HWY_ATTR {
      const Codes code = hn::Or(AndByte(low_bits, 0x0F), AndByte(high_bits, 0x30));
      StoreScaled(hn::Sub(LevelsOf(code), hn::Set(LevelTag(), 32)), scales[group], dst + 16 * group,
                  store);
    };
    for (std::size_t half = 0; half < 2; ++half) {
      if (half == 1) store.NextRun();
      const std::uint8_t* codes = &block.codes[64 * half];
      const Codes row0[2] = {LoadCodes(codes), LoadCodes(codes + 16)};
      const Codes row1[2] = {LoadCodes(codes + 32), LoadCodes(codes + 48)};
      const Codes high[2] = {LoadCodes(&block.high_bits[32 * half]),
                             LoadCodes(&block.high_bits[32 * half + 16])};
      const std::size_t group = 8 * half;
      for (std::size_t i = 0; i < 2; ++i)
        store_group(group + i, row0[i], ShiftLeftMixing<4>(high[i]));
      for (std::size_t i = 0; i < 2; ++i)
        store_group(group + 2 + i, row1[i], ShiftLeftMixing<2>(high[i]));
      store.NextRun();
      for (std::size_t i = 0; i < 2; ++i)
        store_group(group + 4 + i, ShiftRightMixing<4>(row0[i]), high[i]);
      for (std::size_t i = 0; i < 2; ++i)
        store_group(group + 6 + i, ShiftRightMixing<4>(row1[i]), ShiftRightMixing<2>(high[i]));
    }
  }
};
#endif

INGOT_DECODER(Q6_K, q6_k, 256)

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::codec {

INGOT_EXPORT_DECODER(Q6_K, q6_k)

}  // namespace ingot::codec
#endif
