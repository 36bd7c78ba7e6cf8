// SPDX-License-Identifier: MIT
#define HWY_TARGET_INCLUDE "codec/encode/fp4_quantize_simd.cpp"
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

#include "codec/blocks/fp4.hpp"
#include "codec/encode/direct_inl.hpp"
#include "codec/encode/fp4_scales.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
/// The code nearest to x is found by comparing with the middles between values; a middle itself
/// goes to the smaller magnitude. That is the definition, "the first code of least error in
/// binary32", as long as 12 * scale is finite and |x| < 2^20 * scale:
/// - the middles are exact, and so are, by Sterbenz' lemma, the errors of the two values around x,
///   or if one of them is not, it is rounded away from the other;
/// - any other value is further away by at least `scale`, more than any rounding error;
/// - values of the other sign are never nearer than 0.
/// With a scale of 0 all codes are 0, as with a scale far above all x.
constexpr float e2m1_middles[7] = {0.5f, 1.5f, 2.5f, 3.5f, 5.0f, 7.0f, 10.0f};

template <class D>
struct E2m1Encoder {
  hn::Vec<D> middles[7];

  HWY_INLINE explicit E2m1Encoder(float scale) {
    const float effective = scale == 0.0f ? std::numeric_limits<float>::max() : scale;
    for (std::size_t i = 0; i < 7; ++i) middles[i] = hn::Set(D(), e2m1_middles[i] * effective);
  }

  HWY_INLINE auto operator()(const float* src) const {
    const D f32;
    const hn::RebindToSigned<D> i32;
    const auto x = hn::LoadU(f32, src);
    const auto magnitude = hn::Abs(x);
    // Masks are -1 as integers.
    const auto is_code = hn::BitCast(i32, hn::VecFromMask(f32, hn::Gt(magnitude, middles[0])));
    auto code = hn::Neg(is_code);
    for (std::size_t i = 1; i < 7; ++i) {
      const auto is_above = hn::VecFromMask(f32, hn::Gt(magnitude, middles[i]));
      code = hn::Sub(code, hn::BitCast(i32, is_above));
    }
    const auto is_negative = hn::ShiftRight<31>(hn::BitCast(i32, x));
    const auto sign = hn::And(hn::And(is_negative, is_code), hn::Set(i32, 8));
    return hn::Or(code, sign);
  }
};

struct EncodeMXFP4 {
  static constexpr Quantize reference = quantize_mxfp4_ref;
  static constexpr std::size_t batch = 16;

  HWY_INLINE bool operator()(const float* src, BlockMXFP4* blocks) const {
    const WideIntTag i32;
    HWY_ALIGN float largest[batch];
    if (!LargestMagnitudes<32, batch>(src, largest)) return false;
    for (std::size_t b = 0; b < batch; ++b, src += 32) {
      blocks[b].exponent = mxfp4_exponent(largest[b]);
      const float scale = half_e8m0(blocks[b].exponent);
      // The last few numbers below 2^128, where 12 * scale is infinite. (Other scales that large
      // are those of numbers below 2^-125, which are all nearest to 0.)
      if (blocks[b].exponent == 253) return false;
      const E2m1Encoder<WideTag> encode(scale);
      for (std::size_t i = 0; i < 16; i += wide_lanes) {
        const auto codes = hn::Or(encode(src + i), hn::ShiftLeft<4>(encode(src + 16 + i)));
        StoreBytes(i32, codes, &blocks[b].codes[i]);
      }
    }
    return true;
  }
};

struct EncodeNVFP4 {
  static constexpr Quantize reference = quantize_nvfp4_ref;
  static constexpr std::size_t batch = 4;
  static constexpr std::size_t groups = 4 * batch;

  HWY_INLINE bool operator()(const float* src, BlockNVFP4* blocks) const {
    const WideTag f32;
    const WideIntTag i32;
    HWY_ALIGN float largest[groups];
    HWY_ALIGN float scales[groups];
    std::uint8_t scale_bytes[groups];
    if (!LargestMagnitudes<16, groups>(src, largest)) return false;
    for (std::size_t g = 0; g < groups; g += wide_lanes) {
      const auto magnitude = hn::Load(f32, largest + g);
      // The largest scale is 224, far from the largest floats.
      if (!hn::AllTrue(f32, hn::Lt(magnitude, hn::Set(f32, 0x1p27f)))) return false;
      const auto bytes = ScaleBytes(hn::Div(magnitude, hn::Set(f32, 6.0f)));
      StoreBytes(i32, bytes, scale_bytes + g);
      hn::Store(HalfScales(bytes), f32, scales + g);
    }
    const hn::CappedTag<float, 8> f32x8;
    const hn::RebindToSigned<decltype(f32x8)> i32x8;
    for (std::size_t g = 0; g < groups; ++g, src += 16) {
      BlockNVFP4& block = blocks[g / 4];
      block.scales[g % 4] = scale_bytes[g];
      const E2m1Encoder<decltype(f32x8)> encode(scales[g]);
      for (std::size_t i = 0; i < 8; i += hn::Lanes(f32x8)) {
        const auto codes = hn::Or(encode(src + i), hn::ShiftLeft<4>(encode(src + 8 + i)));
        StoreBytes(i32x8, codes, &block.codes[8 * (g % 4) + i]);
      }
    }
    return true;
  }

  /// ue4m3_from_f32 of numbers that are not negative.
  static HWY_INLINE WideInts ScaleBytes(WideFloats value) {
    const WideTag f32;
    const WideIntTag i32;
    const auto capped = hn::Min(value, hn::Set(f32, 448.0f));
    // Three bits of mantissa, halves up, with the carry into the exponent, which is biased by 127
    // instead of 7.
    const auto rounded = hn::Add(hn::BitCast(i32, capped), hn::Set(i32, 1 << 19));
    const auto normal = hn::Sub(hn::ShiftRight<20>(rounded), hn::Set(i32, 120 << 3));
    const auto usable =
        hn::IfThenElse(hn::Gt(normal, hn::Set(i32, (15 << 3) - 1)), hn::Set(i32, 0x7E), normal);
    const auto multiple = hn::Add(hn::Mul(capped, hn::Set(f32, 512.0f)), hn::Set(f32, 0.5f));
    const auto subnormal = hn::Min(hn::ConvertTo(i32, multiple), hn::Set(i32, 7));
    const auto is_small = hn::RebindMask(i32, hn::Lt(value, hn::Set(f32, 0x1p-6f)));
    return hn::IfThenElse(is_small, subnormal, usable);
  }

  /// half_ue4m3 of bytes up to 0x7E.
  static HWY_INLINE WideFloats HalfScales(WideInts bytes) {
    const WideTag f32;
    const WideIntTag i32;
    const auto subnormal = hn::Mul(hn::ConvertTo(f32, bytes), hn::Set(f32, 0x1p-10f));
    const auto bits = hn::Add(hn::ShiftLeft<20>(bytes), hn::Set(i32, 119 << 23));
    const auto is_subnormal = hn::RebindMask(f32, hn::Lt(bytes, hn::Set(i32, 8)));
    return hn::IfThenElse(is_subnormal, subnormal, hn::BitCast(f32, bits));
  }
};
#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

INGOT_ENCODER(EncodeBatches, MXFP4, mxfp4)
INGOT_ENCODER(EncodeBatches, NVFP4, nvfp4)
