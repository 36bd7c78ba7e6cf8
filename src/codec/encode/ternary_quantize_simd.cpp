// SPDX-License-Identifier: MIT
#define HWY_TARGET_INCLUDE "codec/encode/ternary_quantize_simd.cpp"
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

#include "codec/blocks/ternary.hpp"
#include "codec/encode/direct_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
/// Four values from `src`, four from `src` + 4 * stride, and so on.
template <class D>
HWY_INLINE hn::Vec<D> LoadQuads(D f32, const float* src, std::size_t stride) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    return hn::LoadU(f32, src);
  } else {
    const hn::Half<D> half;
    return hn::Combine(f32, LoadQuads(half, src + hn::MaxLanes(D()) / 2 * stride, stride),
                       LoadQuads(half, src, stride));
  }
}

/// Adds the magnitudes of four elements of wide_lanes blocks, one after the other: lane b is block
/// b.
HWY_INLINE WideFloats AddMagnitudes(const float* src, WideFloats sums) {
  const WideTag f32;
  const hn::Repartition<double, WideTag> f64;
  const auto a = LoadQuads(f32, src, 128);  // from blocks 0, 4, ..; b from blocks 1, 5, ..
  const auto b = LoadQuads(f32, src + 128, 128);
  const auto c = LoadQuads(f32, src + 2 * 128, 128);
  const auto d = LoadQuads(f32, src + 3 * 128, 128);
  const auto ab01 = hn::BitCast(f64, hn::InterleaveLower(f32, a, b));
  const auto ab23 = hn::BitCast(f64, hn::InterleaveUpper(f32, a, b));
  const auto cd01 = hn::BitCast(f64, hn::InterleaveLower(f32, c, d));
  const auto cd23 = hn::BitCast(f64, hn::InterleaveUpper(f32, c, d));
  const auto element0 = hn::BitCast(f32, hn::InterleaveLower(f64, ab01, cd01));
  const auto element1 = hn::BitCast(f32, hn::InterleaveUpper(f64, ab01, cd01));
  const auto element2 = hn::BitCast(f32, hn::InterleaveLower(f64, ab23, cd23));
  const auto element3 = hn::BitCast(f32, hn::InterleaveUpper(f64, ab23, cd23));
  sums = hn::Add(sums, hn::Abs(element0));
  sums = hn::Add(sums, hn::Abs(element1));
  sums = hn::Add(sums, hn::Abs(element2));
  return hn::Add(sums, hn::Abs(element3));
}

/// Bit i is set unless value i is negative.
HWY_INLINE void StoreSigns(const float* src, BlockQ1_0& block) {
  const hn::CappedTag<float, 8> f32;
  for (std::size_t byte = 0; byte < 16; ++byte) {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 8; i += hn::Lanes(f32)) {
      const auto x = hn::LoadU(f32, src + 8 * byte + i);
      bits |= MaskBits(f32, hn::Ge(x, hn::Zero(f32))) << i;
    }
    block.signs[byte] = static_cast<std::uint8_t>(bits);
  }
}

/// One block per lane, and several vectors of lanes at a time, since each sum is a chain.
struct EncodeQ1_0 {
  static constexpr Quantize reference = quantize_q1_0_ref;
  static constexpr std::size_t batch = 32;

  HWY_INLINE bool operator()(const float* src, BlockQ1_0* blocks) const {
    const WideTag f32;
    const hn::Rebind<std::uint16_t, WideTag> u16;
    constexpr std::size_t vectors = batch / wide_lanes;
    WideFloats sums[vectors];
    for (auto& sum : sums) sum = hn::Zero(f32);
    for (std::size_t i = 0; i < 128; i += 4) {
      for (std::size_t v = 0; v < vectors; ++v) {
        sums[v] = AddMagnitudes(src + v * wide_lanes * 128 + i, sums[v]);
      }
    }
    HWY_ALIGN std::uint16_t scales[batch];
    for (std::size_t v = 0; v < vectors; ++v) {
      // The reference treats a sum that overflows and a value that is not finite differently.
      const auto limit = hn::Set(f32, std::numeric_limits<float>::max());
      if (!hn::AllTrue(f32, hn::Le(sums[v], limit))) return false;
      const auto scale = hn::Mul(sums[v], hn::Set(f32, 1.0f / 128));
      hn::Store(HalfBits(f32, scale), u16, scales + v * wide_lanes);
    }
    for (std::size_t b = 0; b < batch; ++b) {
      put_u16(blocks[b].scale.data(), scales[b]);
      StoreSigns(src + b * 128, blocks[b]);
    }
    return true;
  }
};

/// Scales, which are the largest magnitudes; false if one vanishes or is not finite.
template <std::size_t elements, std::size_t batch>
HWY_INLINE bool ScalesOf(const float* src, BatchScales<batch>& scales) {
  const GroupTag<batch> f32;
  HWY_ALIGN float largest[batch];
  if (!LargestMagnitudes<elements, batch>(src, largest)) return false;
  for (std::size_t b = 0; b < batch; b += hn::Lanes(f32)) {
    if (!scales.Set(f32, b, hn::Load(f32, largest + b))) return false;
  }
  return true;
}

/// The codes 0, 1, 2. Comparing with a half is enough to round away from zero, since no product
/// reaches 1.5.
template <class D>
HWY_INLINE auto CodesOf(D f32, const float* src, float inverse) {
  const hn::RebindToSigned<D> i32;
  const auto scaled = hn::Mul(hn::LoadU(f32, src), hn::Set(f32, inverse));
  const auto one = hn::Set(i32, 1);
  const auto is_up = hn::RebindMask(i32, hn::Ge(scaled, hn::Set(f32, 0.5f)));
  const auto is_down = hn::RebindMask(i32, hn::Le(scaled, hn::Set(f32, -0.5f)));
  return hn::IfThenElse(is_up, hn::Set(i32, 2), hn::IfThenZeroElse(is_down, one));
}

struct EncodeQ2_0 {
  static constexpr Quantize reference = quantize_q2_0_ref;
  static constexpr std::size_t batch = 16;

  HWY_INLINE bool operator()(const float* src, BlockQ2_0* blocks) const {
    const WideTag f32;
    const WideIntTag i32;
    BatchScales<batch> scales;
    if (!ScalesOf<64>(src, scales)) return false;
    for (std::size_t b = 0; b < batch; ++b, src += 64) {
      put_u16(blocks[b].scale.data(), scales.half[b]);
      HWY_ALIGN std::uint8_t codes[64];
      for (std::size_t i = 0; i < 64; i += wide_lanes) {
        StoreBytes(i32, CodesOf(f32, src + i, scales.inverse[b]), codes + i);
      }
      // Four codes, one in each byte of a word, become one byte.
      const hn::Repartition<std::uint8_t, WideIntTag> u8;
      for (std::size_t i = 0; i < 16; i += wide_lanes) {
        const auto word = hn::BitCast(i32, hn::LoadU(u8, codes + 4 * i));
        const auto pairs = hn::Or(word, hn::ShiftRight<6>(word));
        const auto packed = hn::Or(pairs, hn::ShiftRight<12>(pairs));
        StoreBytes(i32, hn::And(packed, hn::Set(i32, 0xFF)), &blocks[b].codes[i]);
      }
    }
    return true;
  }
};

/// Stores as many columns of trits as lanes, as numbers in base 3, in bytes: ceil(number * 256 /
/// 243).
template <class D>
HWY_INLINE void StoreTrits(D f32, const float* src, float inverse, std::size_t rows,
                           std::size_t columns, std::uint8_t* dst) {
  const hn::RebindToSigned<D> i32;
  auto number = CodesOf(f32, src, inverse);
  for (std::size_t row = 1; row < rows; ++row) {
    const auto tripled = hn::Add(hn::Add(number, number), number);
    number = hn::Add(tripled, CodesOf(f32, src + row * columns, inverse));
  }
  for (std::size_t row = rows; row < 5; ++row) number = hn::Add(hn::Add(number, number), number);
  // 8631 / 2^21 is a little more than 1 / 243: right for each of the 243 dividends.
  const auto dividend = hn::Add(hn::ShiftLeft<8>(number), hn::Set(i32, 242));
  StoreBytes(i32, hn::ShiftRight<21>(hn::Mul(dividend, hn::Set(i32, 8631))), dst);
}

struct EncodeTQ1_0 {
  static constexpr Quantize reference = quantize_tq1_0_ref;
  static constexpr std::size_t batch = 4;

  HWY_INLINE bool operator()(const float* src, BlockTQ1_0* blocks) const {
    const WideTag f32;
    const hn::CappedTag<float, 4> quad;
    BatchScales<batch> scales;
    if (!ScalesOf<256>(src, scales)) return false;
    for (std::size_t b = 0; b < batch; ++b, src += 256) {
      const float inverse = scales.inverse[b];
      BlockTQ1_0& block = blocks[b];
      for (std::size_t i = 0; i < 32; i += wide_lanes) {
        StoreTrits(f32, src + i, inverse, 5, 32, &block.trits[i]);
      }
      for (std::size_t i = 0; i < 16; i += wide_lanes) {
        StoreTrits(f32, src + 160 + i, inverse, 5, 16, &block.trits[32 + i]);
      }
      StoreTrits(quad, src + 240, inverse, 4, 4, &block.trits[48]);
      put_u16(block.scale.data(), scales.half[b]);
    }
    return true;
  }
};

struct EncodeTQ2_0 {
  static constexpr Quantize reference = quantize_tq2_0_ref;
  static constexpr std::size_t batch = 4;

  HWY_INLINE bool operator()(const float* src, BlockTQ2_0* blocks) const {
    const WideTag f32;
    const WideIntTag i32;
    BatchScales<batch> scales;
    if (!ScalesOf<256>(src, scales)) return false;
    for (std::size_t b = 0; b < batch; ++b, src += 256) {
      for (std::size_t i = 0; i < 64; i += wide_lanes) {
        const float* first = src + 128 * (i / 32) + i % 32;
        const auto c0 = CodesOf(f32, first, scales.inverse[b]);
        const auto c1 = CodesOf(f32, first + 32, scales.inverse[b]);
        const auto c2 = CodesOf(f32, first + 64, scales.inverse[b]);
        const auto c3 = CodesOf(f32, first + 96, scales.inverse[b]);
        const auto low = hn::Or(c0, hn::ShiftLeft<2>(c1));
        const auto high = hn::Or(c2, hn::ShiftLeft<2>(c3));
        StoreBytes(i32, hn::Or(low, hn::ShiftLeft<4>(high)), &blocks[b].codes[i]);
      }
      put_u16(blocks[b].scale.data(), scales.half[b]);
    }
    return true;
  }
};
#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

INGOT_ENCODER(EncodeBatches, Q1_0, q1_0)
INGOT_ENCODER(EncodeBatches, Q2_0, q2_0)
INGOT_ENCODER(EncodeBatches, TQ1_0, tq1_0)
INGOT_ENCODER(EncodeBatches, TQ2_0, tq2_0)
