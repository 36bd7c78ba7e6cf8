// SPDX-License-Identifier: MIT
#include "codec/blocks/ternary.hpp"
#include "codec/codec.hpp"
#include "codec/cpu_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/encode/ternary_quantize_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codec/encode/batches_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
void QuantizeQ2_0(const FloatRows& rows) { quantize_q2_0_ref(rows); }
void QuantizeTQ1_0(const FloatRows& rows) { quantize_tq1_0_ref(rows); }
void QuantizeTQ2_0(const FloatRows& rows) { quantize_tq2_0_ref(rows); }
#else
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

/// Codes 0, 1, 2: rounding away from zero needs no more than comparing with a half, since no
/// product reaches 1.5.
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

/// As many columns of trits as lanes, as numbers in base 3, in bytes: ceil(number * 256 / 243).
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

void QuantizeQ2_0(const FloatRows& rows) {
  EncodeBatches<BlockQ2_0, 64, EncodeQ2_0::batch>(rows, quantize_q2_0_ref, EncodeQ2_0());
}
void QuantizeTQ1_0(const FloatRows& rows) {
  EncodeBatches<BlockTQ1_0, 256, EncodeTQ1_0::batch>(rows, quantize_tq1_0_ref, EncodeTQ1_0());
}
void QuantizeTQ2_0(const FloatRows& rows) {
  EncodeBatches<BlockTQ2_0, 256, EncodeTQ2_0::batch>(rows, quantize_tq2_0_ref, EncodeTQ2_0());
}
#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::codec {

INGOT_KERNELS(QuantizeQ2_0);
INGOT_KERNELS(QuantizeTQ1_0);
INGOT_KERNELS(QuantizeTQ2_0);
void quantize_q2_0(const FloatRows& rows) noexcept { kernel_of(QuantizeQ2_0Kernels)(rows); }
void quantize_tq1_0(const FloatRows& rows) noexcept { kernel_of(QuantizeTQ1_0Kernels)(rows); }
void quantize_tq2_0(const FloatRows& rows) noexcept { kernel_of(QuantizeTQ2_0Kernels)(rows); }

}  // namespace ingot::codec
#endif
