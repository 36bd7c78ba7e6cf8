// SPDX-License-Identifier: MIT
#define HWY_TARGET_INCLUDE "codec/encode/q8_quantize_simd.cpp"
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

#include "codec/blocks/q8.hpp"
#include "codec/encode/direct_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
constexpr std::size_t short_batch = 16;  // number of blocks of 32

/// The scales of 16 blocks; false if one vanishes or a value is not finite.
HWY_INLINE bool ScalesOf(const float* src, float* scales, BatchScales<short_batch>& stored) {
  const WideTag f32;
  if (!LargestMagnitudes<32, short_batch>(src, scales)) return false;
  for (std::size_t b = 0; b < short_batch; b += wide_lanes) {
    const auto scale = hn::Div(hn::Load(f32, scales + b), hn::Set(f32, 127.0f));
    hn::Store(scale, f32, scales + b);
    if (!stored.Set(f32, b, scale)) return false;
  }
  return true;
}

/// Stores codes -127..127 of 32 values, and returns their sums lane by lane.
HWY_INLINE WideInts StoreCodes(const float* src, float inverse, std::uint8_t* dst) {
  const WideTag f32;
  const WideIntTag i32;
  const hn::Rebind<std::int8_t, WideTag> i8;
  auto sums = hn::Zero(i32);
  for (std::size_t i = 0; i < 32; i += wide_lanes) {
    const auto codes = RoundAway(hn::Mul(hn::LoadU(f32, src + i), hn::Set(f32, inverse)));
    hn::StoreU(hn::DemoteTo(i8, codes), i8, reinterpret_cast<std::int8_t*>(dst + i));
    sums = hn::Add(sums, codes);
  }
  return sums;
}

struct EncodeQ8_0 {
  static constexpr Quantize reference = quantize_q8_0_ref;
  static constexpr std::size_t batch = short_batch;

  HWY_INLINE bool operator()(const float* src, BlockQ8_0* blocks) const {
    HWY_ALIGN float scales[batch];
    BatchScales<batch> stored;
    if (!ScalesOf(src, scales, stored)) return false;
    for (std::size_t b = 0; b < batch; ++b, src += 32) {
      put_u16(blocks[b].scale.data(), stored.half[b]);
      StoreCodes(src, stored.inverse[b], blocks[b].codes.data());
    }
    return true;
  }
};

struct EncodeQ8_1 {
  static constexpr Quantize reference = quantize_q8_1_ref;
  static constexpr std::size_t batch = short_batch;

  HWY_INLINE bool operator()(const float* src, BlockQ8_1* blocks) const {
    const WideTag f32;
    const WideIntTag i32;
    const hn::Rebind<std::uint16_t, WideTag> u16;
    HWY_ALIGN float scales[batch];
    BatchScales<batch> stored;
    if (!ScalesOf(src, scales, stored)) return false;
    HWY_ALIGN std::int32_t sums[batch];
    HWY_ALIGN std::uint16_t half_sums[batch];
    const hn::CappedTag<std::int32_t, 4> quad;
    for (std::size_t b = 0; b < batch; b += 4) {
      hn::Vec<decltype(quad)> quads[4];
      for (std::size_t k = 0; k < 4; ++k, src += 32) {
        put_u16(blocks[b + k].scale.data(), stored.half[b + k]);
        const auto lanes = StoreCodes(src, stored.inverse[b + k], blocks[b + k].codes.data());
        quads[k] = FoldToQuad(i32, lanes, PlusOf());
      }
      hn::Store(FoldQuads(quad, quads[0], quads[1], quads[2], quads[3], PlusOf()), quad, sums + b);
    }
    for (std::size_t b = 0; b < batch; b += wide_lanes) {
      const auto sum = hn::ConvertTo(f32, hn::Load(i32, sums + b));
      hn::Store(HalfBits(f32, hn::Mul(sum, hn::Load(f32, scales + b))), u16, half_sums + b);
    }
    for (std::size_t b = 0; b < batch; ++b) put_u16(blocks[b].sum.data(), half_sums[b]);
    return true;
  }
};

/// Four blocks, so that their extremes are a vector.
struct EncodeQ8_K {
  static constexpr Quantize reference = quantize_q8_k_ref;
  static constexpr std::size_t batch = 4;

  HWY_INLINE bool operator()(const float* src, BlockQ8_K* blocks) const {
    const hn::CappedTag<float, 4> quad;
    HWY_ALIGN float extremes[4];
    HWY_ALIGN float inverses[4];
    HWY_ALIGN float scales[4];
    if (!SignedExtremes<256, 4>(src, extremes)) return false;
    const auto extreme = hn::Load(quad, extremes);
    const auto is_zero = hn::Eq(extreme, hn::Zero(quad));
    const auto inverse = hn::IfThenZeroElse(is_zero, hn::Div(hn::Set(quad, -127.0f), extreme));
    const auto limit = hn::Set(quad, std::numeric_limits<float>::max());
    if (!hn::AllTrue(quad, hn::Le(hn::Abs(inverse), limit))) return false;
    const auto scale = hn::IfThenZeroElse(is_zero, hn::Div(hn::Set(quad, 1.0f), inverse));
    hn::Store(inverse, quad, inverses);
    hn::Store(scale, quad, scales);
    for (std::size_t b = 0; b < 4; ++b, src += 256) {
      put_u32(blocks[b].scale.data(), std::bit_cast<std::uint32_t>(scales[b]));
      for (std::size_t g = 0; g < 16; g += 4) EncodeGroups(src, inverses[b], g, blocks[b]);
    }
    return true;
  }

  /// Codes and sums of groups g..g+3 of 16 values each.
  HWY_INLINE void EncodeGroups(const float* src, float inverse, std::size_t first,
                               BlockQ8_K& block) const {
    const WideTag f32;
    const WideIntTag i32;
    const hn::Rebind<std::int8_t, WideTag> i8;
    const hn::CappedTag<std::int32_t, 4> quad;
    const hn::Rebind<std::int16_t, decltype(quad)> i16;
    // Adding 1.5 * 2^23 rounds to even. No product exceeds 127 by as much as a half.
    const auto magic = hn::Set(f32, 12582912.0f);
    hn::Vec<decltype(quad)> quads[4];
    for (std::size_t k = 0; k < 4; ++k) {
      auto sums = hn::Zero(i32);
      for (std::size_t i = 16 * (first + k); i < 16 * (first + k) + 16; i += wide_lanes) {
        const auto product = hn::Mul(hn::Set(f32, inverse), hn::LoadU(f32, src + i));
        const auto codes =
            hn::Sub(hn::BitCast(i32, hn::Add(product, magic)), hn::BitCast(i32, magic));
        hn::StoreU(hn::DemoteTo(i8, codes), i8, reinterpret_cast<std::int8_t*>(&block.codes[i]));
        sums = hn::Add(sums, codes);
      }
      quads[k] = FoldToQuad(i32, sums, PlusOf());
    }
    const auto sums = FoldQuads(quad, quads[0], quads[1], quads[2], quads[3], PlusOf());
    HWY_ALIGN std::int16_t words[4];
    hn::Store(hn::DemoteTo(i16, sums), i16, words);
    for (std::size_t k = 0; k < 4; ++k) {
      put_u16(&block.sums[2 * (first + k)], static_cast<std::uint16_t>(words[k]));
    }
  }
};
#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

INGOT_ENCODER(EncodeBatches, Q8_0, q8_0)
INGOT_ENCODER(EncodeBatches, Q8_1, q8_1)
INGOT_ENCODER(EncodeBatches, Q8_K, q8_k)
