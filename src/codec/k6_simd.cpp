// SPDX-License-Identifier: MIT
#include "codec/codec.hpp"
#include "codec/k6.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/k6_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codec/dispatch_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
struct DecodeQ6_K {
  template <class Store>
  HWY_INLINE void operator()(const BlockQ6_K& block, float* dst, Store store) const {
    const Factors scales(LevelsOf(LoadCodes(block.groups.data())), HalfAt(block.scale.data()));
    for (std::size_t chunk = 0; chunk < 4; ++chunk) {  // 16 bytes of each of 4 rows
      const std::size_t half = chunk / 2;
      const std::size_t column = chunk % 2;
      const Codes first = LoadCodes(&block.codes[64 * half + 16 * column]);
      const Codes second = LoadCodes(&block.codes[64 * half + 32 + 16 * column]);
      const Codes high = LoadCodes(&block.high_bits[16 * chunk]);
      const std::size_t group = 8 * half + column;
      const auto store_row = [&](std::size_t t, Codes low_bits, Codes high_bits) HWY_ATTR {
        const Codes code = hn::Or(AndByte(low_bits, 0x0F), AndByte(high_bits, 0x30));
        StoreScaled(hn::Sub(LevelsOf(code), hn::Set(LevelTag(), 32)), scales[group + 2 * t],
                    dst + 16 * (group + 2 * t), store);
      };
      store_row(0, first, ShiftLeftMixing<4>(high));
      store_row(1, second, ShiftLeftMixing<2>(high));
      store_row(2, ShiftRightMixing<4>(first), high);
      store_row(3, ShiftRightMixing<4>(second), ShiftRightMixing<2>(high));
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
