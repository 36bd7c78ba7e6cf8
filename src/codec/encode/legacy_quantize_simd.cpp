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
/// Q5_0 and Q5_1 keep the fifth bit of each code apart; the others have four bits.
template <class Block>
constexpr bool has_fifth_bits = requires(Block block) {
  block.high_bits;
};
template <class Block>
constexpr int max_code = has_fifth_bits<Block> ? 31 : 15;

/// The integer parts of values in [0, max_code + 2), at most max_code, become codes: code_values(i)
/// are those of elements i and following.
template <class Block, class CodeValues>
HWY_INLINE void StoreCodes(Block& block, const CodeValues& code_values) {
  const WideIntTag i32;
  const auto largest = hn::Set(i32, max_code<Block>);
  const auto fifth_bit = hn::Set(i32, 16);
  std::uint32_t low_fifths = 0;
  std::uint32_t high_fifths = 0;
  for (std::size_t i = 0; i < 16; i += wide_lanes) {
    auto low = hn::Min(hn::ConvertTo(i32, code_values(i)), largest);
    auto high = hn::Min(hn::ConvertTo(i32, code_values(i + 16)), largest);
    if constexpr (has_fifth_bits<Block>) {
      low_fifths |= MaskBits(i32, hn::TestBit(low, fifth_bit)) << i;
      high_fifths |= MaskBits(i32, hn::TestBit(high, fifth_bit)) << i;
      low = hn::And(low, hn::Set(i32, 15));
      high = hn::And(high, hn::Set(i32, 15));
    }
    StoreBytes(i32, hn::Or(low, hn::ShiftLeft<4>(high)), &block.codes[i]);
  }
  if constexpr (has_fifth_bits<Block>) {
    // Not put_u16: byte by byte, clang makes it a slow vector. SIMD targets are little-endian.
    const auto low_word = static_cast<std::uint16_t>(low_fifths);
    const auto high_word = static_cast<std::uint16_t>(high_fifths);
    std::memcpy(&block.high_bits[0], &low_word, sizeof low_word);
    std::memcpy(&block.high_bits[2], &high_word, sizeof high_word);
  }
}

/// Q4_0 and Q5_0: the value with the largest magnitude has code 0.
template <class Block, Quantize definition>
struct EncodeSymmetric {
  static constexpr Quantize reference = definition;
  static constexpr std::size_t batch = 16;
  static constexpr float zero_code = (max_code<Block> + 1) / 2;

  HWY_INLINE bool operator()(const float* src, Block* blocks) const {
    const WideTag f32;
    HWY_ALIGN float extremes[batch];
    if (!SignedExtremes<32, batch>(src, extremes)) return false;
    BatchScales<batch> scales;
    for (std::size_t b = 0; b < batch; b += wide_lanes) {
      const auto scale = hn::Mul(hn::Load(f32, extremes + b), hn::Set(f32, -1.0f / zero_code));
      if (!scales.Set(f32, b, scale)) return false;
    }
    for (std::size_t b = 0; b < batch; ++b, src += 32) {
      put_u16(blocks[b].scale.data(), scales.half[b]);
      const auto inverse = hn::Set(f32, scales.inverse[b]);
      StoreCodes(blocks[b], [=](std::size_t i) HWY_ATTR {
        const auto scaled = hn::Mul(hn::LoadU(f32, src + i), inverse);
        return hn::Add(scaled, hn::Set(f32, zero_code + 0.5f));
      });
    }
    return true;
  }
};

/// Q4_1 and Q5_1: the smallest value has code 0, the largest the largest one.
template <class Block, Quantize definition>
struct EncodeAffine {
  static constexpr Quantize reference = definition;
  static constexpr std::size_t batch = 16;

  HWY_INLINE bool operator()(const float* src, Block* blocks) const {
    const WideTag f32;
    const hn::Rebind<std::uint16_t, WideTag> u16;
    HWY_ALIGN float minimums[batch];
    HWY_ALIGN float ranges[batch];
    HWY_ALIGN std::uint16_t half_minimums[batch];
    if (!Ranges<32, batch>(src, minimums, ranges)) return false;
    BatchScales<batch> scales;
    for (std::size_t b = 0; b < batch; b += wide_lanes) {
      const auto steps = hn::Set(f32, static_cast<float>(max_code<Block>));
      if (!scales.Set(f32, b, hn::Div(hn::Load(f32, ranges + b), steps))) return false;
      hn::Store(HalfBits(f32, hn::Load(f32, minimums + b)), u16, half_minimums + b);
    }
    for (std::size_t b = 0; b < batch; ++b, src += 32) {
      put_u16(blocks[b].scale.data(), scales.half[b]);
      put_u16(blocks[b].minimum.data(), half_minimums[b]);
      const auto minimum = hn::Set(f32, minimums[b]);
      const auto inverse = hn::Set(f32, scales.inverse[b]);
      StoreCodes(blocks[b], [=](std::size_t i) HWY_ATTR {
        const auto scaled = hn::Mul(hn::Sub(hn::LoadU(f32, src + i), minimum), inverse);
        return hn::Add(scaled, hn::Set(f32, 0.5f));
      });
    }
    return true;
  }
};

using EncodeQ4_0 = EncodeSymmetric<BlockQ4_0, quantize_q4_0_ref>;
using EncodeQ4_1 = EncodeAffine<BlockQ4_1, quantize_q4_1_ref>;
using EncodeQ5_0 = EncodeSymmetric<BlockQ5_0, quantize_q5_0_ref>;
using EncodeQ5_1 = EncodeAffine<BlockQ5_1, quantize_q5_1_ref>;
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
