// SPDX-License-Identifier: MIT
#include "codec/codec.hpp"
#include "codec/cpu_targets.hpp"
#include "codec/legacy4.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/legacy4_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codec/dispatch_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
void DequantizeQ4_0(const std::byte* src, float* dst, std::size_t block_count, Stores) {
  dequantize_q4_0_ref(src, dst, block_count);
}
#else
struct DecodeQ4_0 {
  template <class Store>
  HWY_INLINE void operator()(const BlockQ4_0& block, float* dst, Store store) const {
    const hn::CappedTag<float, 16> f32;  // half a block: every target's lane count divides 16
    const hn::RebindToSigned<decltype(f32)> i32;
    const hn::Rebind<std::uint8_t, decltype(f32)> u8;
    const auto scale = hn::Set(f32, F16At(block.scale.data()));
    for (std::size_t i = 0; i < 16; i += hn::Lanes(f32)) {
      const auto codes = hn::PromoteTo(i32, hn::LoadU(u8, &block.codes[i]));
      const auto low = hn::Sub(hn::And(codes, hn::Set(i32, 15)), hn::Set(i32, 8));
      const auto high = hn::Sub(hn::ShiftRight<4>(codes), hn::Set(i32, 8));
      store(hn::Mul(hn::ConvertTo(f32, low), scale), f32, dst + i);
      store(hn::Mul(hn::ConvertTo(f32, high), scale), f32, dst + 16 + i);
    }
  }
};

void DequantizeQ4_0(const std::byte* src, float* dst, std::size_t block_count, Stores stores) {
  DecodeBlocks<BlockQ4_0, 32>(src, dst, block_count, stores, DecodeQ4_0());
}
#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::codec {

INGOT_KERNELS(DequantizeQ4_0);
void dequantize_q4_0(const std::byte* src, float* dst, std::size_t block_count,
                     Stores stores) noexcept {
  kernel_of(DequantizeQ4_0Kernels)(src, dst, block_count, stores);
}

}  // namespace ingot::codec
#endif
