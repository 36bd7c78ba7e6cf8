// SPDX-License-Identifier: MIT
#include "codec/blocks/k3.hpp"
#include "codec/codec.hpp"
#include "codec/cpu_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/encode/k3_quantize_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codec/encode/searches_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
void QuantizeQ3_K(const FloatRows& rows) { quantize_q3_k_ref(rows); }
#else

/// The codes of the scales, 0 to 63 for -32 to 31; returns the unit that they are multiples of.
HWY_INLINE LaneFloats RoundScales(const LaneTile<16>& scales, LaneTile<16>& codes) {
  const LaneFloats extreme = SignedExtreme(LaneRows(scales), 16);
  const LaneMask has_scale = IsNot(extreme, Same(0.0f));
  const auto is_kept = hn::RebindMask(LaneIntTag(), has_scale);
  const LaneCodes limits(-32, 31);
  const LaneFloats t = hn::Div(Same(-32.0f), extreme);
  for (std::size_t g = 0; g < 16; ++g) {
    const LaneInts code = limits.Stored(limits.Held(hn::Mul(t, scales.Row(g))));
    SetCodes(codes.values, g, hn::IfThenElseZero(is_kept, code));
  }
  return hn::IfThenElseZero(has_scale, hn::Div(Same(1.0f), t));
}

HWY_INLINE LaneFloats SearchWeighted(const LaneTile<256>& x, const LaneTile<256>& u,
                                     LaneTile<256>& codes, LaneTile<16>& scale_codes) {
  LaneTile<16> scales;
  LaneTile<16> group_weights;
  const LaneFloats doubled = hn::Mul(Same(2.0f), SumOfSquares(LaneRows(x), 256));
  const LaneFloats mean_square = hn::Div(doubled, Same(256.0f));
  for (std::size_t g = 0; g < 16; ++g) {
    const LaneRows values(x, 16 * g);
    LaneTile<16> w;
    WeighByImportance(values, LaneRows(u, 16 * g), mean_square, w);
    group_weights.SetRow(g, SumOf(LaneRows(w), 16));
    float* group_codes = codes.values + 16 * g * lane_count;
    scales.SetRow(g, SearchSymmetric<16>(values, LaneRows(w), 4, group_codes));
  }
  return SearchSymmetric<16>(LaneRows(scales), LaneRows(group_weights), 32, scale_codes.values);
}

[[nodiscard]] HWY_INLINE LaneFloats GroupScale(LaneFloats scale, const LaneTile<16>& scale_codes,
                                               std::size_t g) {
  const LaneIntTag i32;
  const LaneInts factor = hn::Sub(CodesAt(scale_codes.values, g), hn::Set(i32, 32));
  return hn::Mul(scale, hn::ConvertTo(LaneTag(), factor));
}

/// Bits 0 to 3 of eight codes and of eight more, then bits 4 and 5 of all.
HWY_INLINE void PutGroups(const LaneTile<16>& codes, BlockQ3_K* blocks) {
  PutNibbles(codes.values, 8, 8, blocks, offsetof(BlockQ3_K, groups));
  LaneInts bytes[4];
  for (std::size_t i = 0; i < 4; ++i) {
    bytes[i] = hn::Zero(LaneIntTag());
    for (std::size_t t = 0; t < 4; ++t) {
      const LaneInts top = hn::ShiftRight<4>(CodesAt(codes.values, 4 * t + i));
      bytes[i] = hn::Or(bytes[i], hn::ShiftLeftSame(top, static_cast<int>(2 * t)));
    }
  }
  PutWords(JoinBytes(bytes), blocks, offsetof(BlockQ3_K, groups) + 8);
}

struct EncodeQ3_K {
  HWY_INLINE void operator()(const LaneTile<256>& x, const LaneTile<256>* u,
                             BlockQ3_K* blocks) const {
    LaneTile<256> codes;
    LaneTile<16> scale_codes;
    if (u == nullptr) {
      Search(x, codes, scale_codes, blocks);
    } else {
      const LaneFloats found = SearchWeighted(x, *u, codes, scale_codes);
      const LaneFloats scale = PutHalves(found, blocks, offsetof(BlockQ3_K, scale));
      for (std::size_t g = 0; g < 16; ++g) {
        RoundToScale<16>(LaneRows(x, 16 * g), GroupScale(scale, scale_codes, g), Same(0.0f), -4, 3,
                         codes.values + 16 * g * lane_count);
      }
    }
    PutGroups(scale_codes, blocks);
    PutBitPairs<0>(codes, blocks, offsetof(BlockQ3_K, codes));
    PutHighBits<2>(codes, blocks, offsetof(BlockQ3_K, high_bits));
  }

 private:
  static HWY_INLINE void Search(const LaneTile<256>& x, LaneTile<256>& codes,
                                LaneTile<16>& scale_codes, BlockQ3_K* blocks) {
    LaneTile<16> scales;
    LaneDescent descent(x, 4);
    descent.Run(scales, codes.values);
    const LaneFloats found = RoundScales(scales, scale_codes);
    const LaneFloats scale = PutHalves(found, blocks, offsetof(BlockQ3_K, scale));
    for (std::size_t g = 0; g < 16; ++g) {
      const auto kept_code = [&](std::size_t i)
                                 HWY_ATTR { return descent.CodeAt(codes.values, 16 * g + i); };
      RoundToScaleOr<16>(LaneRows(x, 16 * g), GroupScale(scale, scale_codes, g), Same(0.0f), -4, 3,
                         codes.values + 16 * g * lane_count, kept_code);
    }
  }
};

void QuantizeQ3_K(const FloatRows& rows) { EncodeLanes<BlockQ3_K, 256>(rows, EncodeQ3_K()); }
#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::codec {

INGOT_KERNELS(QuantizeQ3_K);
void quantize_q3_k(const FloatRows& rows) noexcept { kernel_of(QuantizeQ3_KKernels)(rows); }

}  // namespace ingot::codec
#endif
