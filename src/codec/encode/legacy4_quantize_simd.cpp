// SPDX-License-Identifier: MIT
#include "codec/blocks/legacy4.hpp"
#include "codec/codec.hpp"
#include "codec/cpu_targets.hpp"
#include "codec/encode/legacy_weighted.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/encode/legacy4_quantize_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codec/encode/batches_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
void QuantizeQ4_0(const FloatRows& rows) { quantize_q4_0_ref(rows); }
void QuantizeQ4_1(const FloatRows& rows) { quantize_q4_1_ref(rows); }
#else
constexpr std::size_t batch = 16;

/// The integer part of a value in [0, 17), at most 15.
HWY_INLINE WideInts CodeOf(WideFloats value) {
  const WideIntTag i32;
  return hn::Min(hn::ConvertTo(i32, value), hn::Set(i32, 15));
}

struct EncodeQ4_0 {
  HWY_INLINE bool operator()(const float* src, BlockQ4_0* blocks) const {
    const WideTag f32;
    const WideIntTag i32;
    HWY_ALIGN float extremes[batch];
    if (!SignedExtremes<32, batch>(src, extremes)) return false;
    BatchScales<batch> scales;
    for (std::size_t b = 0; b < batch; b += wide_lanes) {
      const auto scale = hn::Mul(hn::Load(f32, extremes + b), hn::Set(f32, -0.125f));
      if (!scales.Set(f32, b, scale)) return false;
    }
    const auto offset = hn::Set(f32, 8.5f);
    for (std::size_t b = 0; b < batch; ++b, src += 32) {
      put_u16(blocks[b].scale.data(), scales.half[b]);
      const auto inverse = hn::Set(f32, scales.inverse[b]);
      for (std::size_t i = 0; i < 16; i += wide_lanes) {
        const auto low = hn::Mul(hn::LoadU(f32, src + i), inverse);
        const auto high = hn::Mul(hn::LoadU(f32, src + 16 + i), inverse);
        const auto low_code = CodeOf(hn::Add(low, offset));
        const auto high_code = CodeOf(hn::Add(high, offset));
        StoreBytes(i32, hn::Or(low_code, hn::ShiftLeft<4>(high_code)), &blocks[b].codes[i]);
      }
    }
    return true;
  }
};

struct EncodeQ4_1 {
  HWY_INLINE bool operator()(const float* src, BlockQ4_1* blocks) const {
    const WideTag f32;
    const WideIntTag i32;
    const hn::Rebind<std::uint16_t, WideTag> u16;
    HWY_ALIGN float minimums[batch];
    HWY_ALIGN float ranges[batch];
    HWY_ALIGN std::uint16_t half_minimums[batch];
    if (!Ranges<32, batch>(src, minimums, ranges)) return false;
    BatchScales<batch> scales;
    for (std::size_t b = 0; b < batch; b += wide_lanes) {
      const auto scale = hn::Div(hn::Load(f32, ranges + b), hn::Set(f32, 15.0f));
      if (!scales.Set(f32, b, scale)) return false;
      hn::Store(HalfBits(f32, hn::Load(f32, minimums + b)), u16, half_minimums + b);
    }
    const auto offset = hn::Set(f32, 0.5f);
    for (std::size_t b = 0; b < batch; ++b, src += 32) {
      put_u16(blocks[b].scale.data(), scales.half[b]);
      put_u16(blocks[b].minimum.data(), half_minimums[b]);
      const auto inverse = hn::Set(f32, scales.inverse[b]);
      const auto minimum = hn::Set(f32, minimums[b]);
      for (std::size_t i = 0; i < 16; i += wide_lanes) {
        const auto low = hn::Mul(hn::Sub(hn::LoadU(f32, src + i), minimum), inverse);
        const auto high = hn::Mul(hn::Sub(hn::LoadU(f32, src + 16 + i), minimum), inverse);
        const auto low_code = CodeOf(hn::Add(low, offset));
        const auto high_code = CodeOf(hn::Add(high, offset));
        StoreBytes(i32, hn::Or(low_code, hn::ShiftLeft<4>(high_code)), &blocks[b].codes[i]);
      }
    }
    return true;
  }
};

void QuantizeQ4_0(const FloatRows& rows) {
  EncodeBatches<BlockQ4_0, 32, batch>(rows, quantize_q4_0_ref, EncodeQ4_0());
}
void QuantizeQ4_1(const FloatRows& rows) {
  EncodeBatches<BlockQ4_1, 32, batch>(rows, quantize_q4_1_ref, EncodeQ4_1());
}
#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::codec {

INGOT_KERNELS(QuantizeQ4_0);
INGOT_KERNELS(QuantizeQ4_1);
void quantize_q4_0(const FloatRows& rows) noexcept {
  if (rows.weights != nullptr) return quantize_q4_0_weighted(rows);
  kernel_of(QuantizeQ4_0Kernels)(rows);
}
void quantize_q4_1(const FloatRows& rows) noexcept {
  if (rows.weights != nullptr) return quantize_q4_1_weighted(rows);
  kernel_of(QuantizeQ4_1Kernels)(rows);
}

}  // namespace ingot::codec
#endif
