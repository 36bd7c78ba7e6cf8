// SPDX-License-Identifier: MIT
#include "codec/blocks/legacy5.hpp"
#include "codec/codec.hpp"
#include "codec/cpu_targets.hpp"
#include "codec/encode/legacy_weighted.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/encode/legacy5_quantize_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codec/encode/batches_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
void QuantizeQ5_0(const FloatRows& rows) { quantize_q5_0_ref(rows); }
void QuantizeQ5_1(const FloatRows& rows) { quantize_q5_1_ref(rows); }
#else
constexpr std::size_t batch = 16;

/// The integer parts of values in [0, 33), at most 31, become codes: code_values(i) are those of
/// elements i and following.
template <class Block, class CodeValues>
HWY_INLINE void StoreCodes(Block& block, const CodeValues& code_values) {
  const WideIntTag i32;
  const auto low_bits = hn::Set(i32, 15);
  const auto fifth_bit = hn::Set(i32, 16);
  std::uint32_t low_fifths = 0;
  std::uint32_t high_fifths = 0;
  for (std::size_t i = 0; i < 16; i += wide_lanes) {
    const auto low = hn::Min(hn::ConvertTo(i32, code_values(i)), hn::Set(i32, 31));
    const auto high = hn::Min(hn::ConvertTo(i32, code_values(i + 16)), hn::Set(i32, 31));
    low_fifths |= MaskBits(i32, hn::TestBit(low, fifth_bit)) << i;
    high_fifths |= MaskBits(i32, hn::TestBit(high, fifth_bit)) << i;
    const auto high_nibbles = hn::ShiftLeft<4>(hn::And(high, low_bits));
    StoreBytes(i32, hn::Or(hn::And(low, low_bits), high_nibbles), &block.codes[i]);
  }
  // Not put_u16: byte by byte, clang makes it a slow vector. SIMD targets are little-endian.
  const auto low_word = static_cast<std::uint16_t>(low_fifths);
  const auto high_word = static_cast<std::uint16_t>(high_fifths);
  std::memcpy(&block.high_bits[0], &low_word, sizeof low_word);
  std::memcpy(&block.high_bits[2], &high_word, sizeof high_word);
}

struct CodeValuesQ5_0 {
  const float* src;
  float inverse;

  HWY_INLINE WideFloats operator()(std::size_t i) const {
    const WideTag f32;
    const auto scaled = hn::Mul(hn::LoadU(f32, src + i), hn::Set(f32, inverse));
    return hn::Add(scaled, hn::Set(f32, 16.5f));
  }
};

struct CodeValuesQ5_1 {
  const float* src;
  float minimum;
  float inverse;

  HWY_INLINE WideFloats operator()(std::size_t i) const {
    const WideTag f32;
    const auto above = hn::Sub(hn::LoadU(f32, src + i), hn::Set(f32, minimum));
    return hn::Add(hn::Mul(above, hn::Set(f32, inverse)), hn::Set(f32, 0.5f));
  }
};

struct EncodeQ5_0 {
  HWY_INLINE bool operator()(const float* src, BlockQ5_0* blocks) const {
    const WideTag f32;
    HWY_ALIGN float extremes[batch];
    if (!SignedExtremes<32, batch>(src, extremes)) return false;
    BatchScales<batch> scales;
    for (std::size_t b = 0; b < batch; b += wide_lanes) {
      const auto scale = hn::Mul(hn::Load(f32, extremes + b), hn::Set(f32, -0.0625f));
      if (!scales.Set(f32, b, scale)) return false;
    }
    for (std::size_t b = 0; b < batch; ++b, src += 32) {
      put_u16(blocks[b].scale.data(), scales.half[b]);
      StoreCodes(blocks[b], CodeValuesQ5_0{src, scales.inverse[b]});
    }
    return true;
  }
};

struct EncodeQ5_1 {
  HWY_INLINE bool operator()(const float* src, BlockQ5_1* blocks) const {
    const WideTag f32;
    const hn::Rebind<std::uint16_t, WideTag> u16;
    HWY_ALIGN float minimums[batch];
    HWY_ALIGN float ranges[batch];
    HWY_ALIGN std::uint16_t half_minimums[batch];
    if (!Ranges<32, batch>(src, minimums, ranges)) return false;
    BatchScales<batch> scales;
    for (std::size_t b = 0; b < batch; b += wide_lanes) {
      const auto scale = hn::Div(hn::Load(f32, ranges + b), hn::Set(f32, 31.0f));
      if (!scales.Set(f32, b, scale)) return false;
      hn::Store(HalfBits(f32, hn::Load(f32, minimums + b)), u16, half_minimums + b);
    }
    for (std::size_t b = 0; b < batch; ++b, src += 32) {
      put_u16(blocks[b].scale.data(), scales.half[b]);
      put_u16(blocks[b].minimum.data(), half_minimums[b]);
      StoreCodes(blocks[b], CodeValuesQ5_1{src, minimums[b], scales.inverse[b]});
    }
    return true;
  }
};

void QuantizeQ5_0(const FloatRows& rows) {
  EncodeBatches<BlockQ5_0, 32, batch>(rows, quantize_q5_0_ref, EncodeQ5_0());
}
void QuantizeQ5_1(const FloatRows& rows) {
  EncodeBatches<BlockQ5_1, 32, batch>(rows, quantize_q5_1_ref, EncodeQ5_1());
}
#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::codec {

INGOT_KERNELS(QuantizeQ5_0);
INGOT_KERNELS(QuantizeQ5_1);
void quantize_q5_0(const FloatRows& rows) noexcept {
  if (rows.weights != nullptr) return quantize_q5_0_weighted(rows);
  kernel_of(QuantizeQ5_0Kernels)(rows);
}
void quantize_q5_1(const FloatRows& rows) noexcept {
  if (rows.weights != nullptr) return quantize_q5_1_weighted(rows);
  kernel_of(QuantizeQ5_1Kernels)(rows);
}

}  // namespace ingot::codec
#endif
