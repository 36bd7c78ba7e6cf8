// SPDX-License-Identifier: MIT
#define HWY_TARGET_INCLUDE "codec/encode/legacy_quantize_simd.cpp"
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

#include "codec/blocks/legacy.hpp"
#include "codec/encode/direct_inl.hpp"
#include "codec/encode/legacy_weighted.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
constexpr std::size_t legacy_batch = 16;

/// The integer part of a value in [0, 17), at most 15.
HWY_INLINE WideInts CodeBelow16(WideFloats value) {
  const WideIntTag i32;
  return hn::Min(hn::ConvertTo(i32, value), hn::Set(i32, 15));
}

struct EncodeQ4_0 {
  static constexpr Quantize reference = quantize_q4_0_ref;
  static constexpr std::size_t batch = legacy_batch;

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
        const auto low_code = CodeBelow16(hn::Add(low, offset));
        const auto high_code = CodeBelow16(hn::Add(high, offset));
        StoreBytes(i32, hn::Or(low_code, hn::ShiftLeft<4>(high_code)), &blocks[b].codes[i]);
      }
    }
    return true;
  }
};

struct EncodeQ4_1 {
  static constexpr Quantize reference = quantize_q4_1_ref;
  static constexpr std::size_t batch = legacy_batch;

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
        const auto low_code = CodeBelow16(hn::Add(low, offset));
        const auto high_code = CodeBelow16(hn::Add(high, offset));
        StoreBytes(i32, hn::Or(low_code, hn::ShiftLeft<4>(high_code)), &blocks[b].codes[i]);
      }
    }
    return true;
  }
};

/// The integer parts of values in [0, 33), at most 31, become codes: code_values(i) are those of
/// elements i and following.
template <class Block, class CodeValues>
HWY_INLINE void StoreFiveBitCodes(Block& block, const CodeValues& code_values) {
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
  static constexpr Quantize reference = quantize_q5_0_ref;
  static constexpr std::size_t batch = legacy_batch;

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
      StoreFiveBitCodes(blocks[b], CodeValuesQ5_0{src, scales.inverse[b]});
    }
    return true;
  }
};

struct EncodeQ5_1 {
  static constexpr Quantize reference = quantize_q5_1_ref;
  static constexpr std::size_t batch = legacy_batch;

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
      StoreFiveBitCodes(blocks[b], CodeValuesQ5_1{src, minimums[b], scales.inverse[b]});
    }
    return true;
  }
};
#endif

INGOT_ENCODER(EncodeBatches, Q4_0, q4_0)
INGOT_ENCODER(EncodeBatches, Q4_1, q4_1)
INGOT_ENCODER(EncodeBatches, Q5_0, q5_0)
INGOT_ENCODER(EncodeBatches, Q5_1, q5_1)

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::codec {

// With importances there is a search.
#define INGOT_EXPORT_LEGACY_ENCODER(name, enumerator)                               \
  INGOT_KERNELS(Quantize##name);                                                    \
  void quantize_##enumerator(const FloatRows& rows) noexcept {                      \
    if (rows.importances != nullptr) return quantize_##enumerator##_weighted(rows); \
    kernel_of(Quantize##name##Kernels)(rows);                                       \
  }

INGOT_EXPORT_LEGACY_ENCODER(Q4_0, q4_0)
INGOT_EXPORT_LEGACY_ENCODER(Q4_1, q4_1)
INGOT_EXPORT_LEGACY_ENCODER(Q5_0, q5_0)
INGOT_EXPORT_LEGACY_ENCODER(Q5_1, q5_1)

}  // namespace ingot::codec
#endif
