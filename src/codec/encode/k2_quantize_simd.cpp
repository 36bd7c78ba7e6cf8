// SPDX-License-Identifier: MIT
#include "codec/blocks/k2.hpp"
#include "codec/codec.hpp"
#include "codec/cpu_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/encode/k2_quantize_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codec/encode/searches_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
void QuantizeQ2_K(const FloatRows& rows) { quantize_q2_k_ref(rows); }
#else

struct LaneGroups {
  LaneTile<16> scales;
  LaneTile<16> minimums;  ///< Negated: 0 or above.
  LaneTile<16> weights;   ///< Sums over the group.
};

/// With importances if `u` is not null.
HWY_INLINE void SearchGroups(const LaneTile<256>& x, const LaneTile<256>* u, LaneGroups& groups,
                             LaneTile<256>& codes) {
  static constexpr AffineTries tries = {3, -0.5f, 0.1f, 15, true};
  static constexpr AffineTries weighted_tries = {3, -0.9f, 0.05f, 36};
  LaneFloats mean_square = Same(0.0f);
  if (u != nullptr) mean_square = hn::Div(SumOfSquares(LaneRows(x), 256), Same(256.0f));
  for (std::size_t first = 0; first < 16; first += affine_groups) {
    const LaneRows values(x, 16 * first);
    float* group_codes = codes.values + 16 * first * lane_count;
    LaneTile<16 * affine_groups> w;
    LaneFit fits[affine_groups];
    if (u == nullptr) {
      for (std::size_t i = 0; i < 16 * affine_groups; ++i) w.SetRow(i, hn::Abs(values[i]));
      SearchAffine<16, affine_groups, true>(values, LaneRows(w), tries, fits, group_codes);
    } else {
      WeighByImportance(values, LaneRows(*u, 16 * first), mean_square, w);
      SearchAffine<16, affine_groups>(values, LaneRows(w), weighted_tries, fits, group_codes);
    }
    for (std::size_t j = 0; j < affine_groups; ++j) {
      groups.weights.SetRow(first + j, SumOf(LaneRows(w, 16 * j), 16));
      groups.scales.SetRow(first + j, fits[j].scale);
      groups.minimums.SetRow(first + j, hn::Neg(fits[j].minimum));
    }
  }
}

/// The codes of scales or minimums; returns the unit that they are multiples of.
HWY_INLINE LaneFloats RoundGroups(const LaneTile<16>& values, LaneTile<16>& codes) {
  const LaneIntTag i32;
  const LaneFloats largest = LargestPositive(LaneRows(values), 16);
  const auto is_kept = hn::RebindMask(i32, hn::Gt(largest, Same(0.0f)));
  const LaneFloats t = hn::Div(Same(15.0f), largest);
  for (std::size_t g = 0; g < 16; ++g) {
    const LaneInts code = hn::And(RoundEven(hn::Mul(t, values.Row(g))), hn::Set(i32, 15));
    SetCodes(codes.values, g, hn::IfThenElseZero(is_kept, code));
  }
  return hn::Div(largest, Same(15.0f));
}

/// Puts the codes of the groups' scales and minimums, and rounds the values' codes to these.
HWY_INLINE void RoundToGroups(const LaneTile<256>& x, const LaneTile<16>& scale_codes,
                              const LaneTile<16>& minimum_codes, LaneFloats scale,
                              LaneFloats minimum, LaneTile<256>& codes, BlockQ2_K* blocks) {
  const LaneTag f32;
  for (std::size_t first = 0; first < 16; first += 4) {
    LaneInts bytes[4];
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t g = first + i;
      const LaneInts s = CodesAt(scale_codes.values, g);
      const LaneInts m = CodesAt(minimum_codes.values, g);
      bytes[i] = hn::Or(s, hn::ShiftLeft<4>(m));
      const LaneFloats group_scale = hn::Mul(scale, hn::ConvertTo(f32, s));
      const LaneFloats group_minimum = hn::Mul(minimum, hn::ConvertTo(f32, m));
      RoundToScale<16>(LaneRows(x, 16 * g), group_scale, group_minimum, 0, 3,
                       codes.values + 16 * g * lane_count);
    }
    PutWords(JoinBytes(bytes), blocks, offsetof(BlockQ2_K, groups) + first);
  }
}

struct EncodeQ2_K {
  HWY_INLINE void operator()(const LaneTile<256>& x, const LaneTile<256>* u,
                             BlockQ2_K* blocks) const {
    LaneTile<256> codes;
    LaneGroups groups;
    LaneTile<16> scale_codes;
    LaneTile<16> minimum_codes;
    LaneFloats scale;
    LaneFloats minimum;
    SearchGroups(x, u, groups, codes);
    if (u == nullptr) {
      scale = RoundGroups(groups.scales, scale_codes);
      minimum = RoundGroups(groups.minimums, minimum_codes);
    } else {
      const LaneRows w(groups.weights);
      scale = SearchPositive<16>(LaneRows(groups.scales), w, 15, scale_codes.values);
      minimum = SearchPositive<16>(LaneRows(groups.minimums), w, 15, minimum_codes.values);
    }
    scale = PutHalves(scale, blocks, offsetof(BlockQ2_K, scale));
    minimum = PutHalves(minimum, blocks, offsetof(BlockQ2_K, minimum));
    RoundToGroups(x, scale_codes, minimum_codes, scale, minimum, codes, blocks);
    PutBitPairs<0>(codes, blocks, offsetof(BlockQ2_K, codes));
  }
};

void QuantizeQ2_K(const FloatRows& rows) { EncodeLanes<BlockQ2_K, 256>(rows, EncodeQ2_K()); }
#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::codec {

INGOT_KERNELS(QuantizeQ2_K);
void quantize_q2_k(const FloatRows& rows) noexcept { kernel_of(QuantizeQ2_KKernels)(rows); }

}  // namespace ingot::codec
#endif
