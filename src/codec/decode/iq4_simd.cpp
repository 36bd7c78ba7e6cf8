// SPDX-License-Identifier: MIT
#include "codec/blocks/iq4.hpp"
#include "codec/codec.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/decode/iq4_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codec/decode/dispatch_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
struct DecodeIQ4_NL {
  template <class Store>
  HWY_INLINE void operator()(const BlockIQ4_NL& block, float* dst, Store store) const {
    const auto products = ProductsOf(iq4_values, store.Unit(block.scale));
    const Codes codes = LoadCodes(block.codes.data());
    products(codes, dst, store);
    products(ShiftRightMixing<4>(codes), dst + 16, store);
  }
};

struct DecodeIQ4_XS {
  template <class Store>
  HWY_INLINE void operator()(const BlockIQ4_XS& block, float* dst, Store store) const {
    const auto factors = store.Groups(GroupScales(block), HalfAt(block.scale.data()));
    for (std::size_t group = 0; group < 8; ++group, dst += 32) {
      if (group == 4) store.NextRun();
      const auto products = ProductsOf(iq4_values, factors[group]);
      const Codes codes = LoadCodes(&block.codes[16 * group]);
      products(codes, dst, store);
      products(ShiftRightMixing<4>(codes), dst + 16, store);
    }
  }

  /// The 8 group scales, less 32, twice.
  [[nodiscard]] static HWY_INLINE Levels GroupScales(const BlockIQ4_XS& block) {
    // Nibbles, and pairs of bits, to bytes of their own.
    std::uint64_t low = u32_at(block.group_low.data());
    low = (low | low << 16) & 0x0000FFFF0000FFFF;
    low = (low | low << 8) & 0x00FF00FF00FF00FF;
    low = (low | low << 4) & 0x0F0F0F0F0F0F0F0F;
    std::uint64_t high = u16_at(block.group_high.data());
    high = (high | high << 24) & 0x000000FF000000FF;
    high = (high | high << 12) & 0x000F000F000F000F;
    high = (high | high << 6) & 0x0303030303030303;
    const std::uint64_t scales = low | high << 4;
    return hn::Sub(LevelsOf(CodesOf(scales, scales)), hn::Set(LevelTag(), 32));
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
