// SPDX-License-Identifier: MIT
#define HWY_TARGET_INCLUDE "codec/encode/k_quantize_simd.cpp"
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

#include "codec/blocks/k.hpp"
#include "codec/encode/searches_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
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

/// Rounds the scales of the groups to multiples of the stored scale, and the codes to these.
HWY_INLINE void RoundToGroups(const LaneTile<256>& x, const LaneTile<16>& scales, LaneFloats t,
                              LaneTile<256>& codes, BlockQ6_K* blocks) {
  const LaneIntTag i32;
  const LaneFloats stored = PutHalves(hn::Div(Same(1.0f), t), blocks, offsetof(BlockQ6_K, scale));
  for (std::size_t first = 0; first < 16; first += 4) {
    LaneInts bytes[4];
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t g = first + i;
      const LaneInts rounded = RoundEven(hn::Mul(t, scales.Row(g)));
      bytes[i] = hn::And(hn::Min(rounded, hn::Set(i32, 127)), hn::Set(i32, 255));
      const LaneInts factor = hn::ShiftRight<24>(hn::ShiftLeft<24>(bytes[i]));
      RoundToScale<16>(LaneRows(x, 16 * g), hn::Mul(stored, hn::ConvertTo(LaneTag(), factor)),
                       Same(0.0f), -32, 31, codes.values + 16 * g * lane_count);
    }
    PutWords(JoinBytes(bytes), blocks, offsetof(BlockQ6_K, groups) + first);
  }
}

struct EncodeQ6_K {
  HWY_INLINE void operator()(const LaneTile<256>& x, const LaneTile<256>* u,
                             BlockQ6_K* blocks) const {
    const LaneTag f32;
    LaneTile<256> codes;
    LaneTile<16> scales;
    for (std::size_t g = 0; g < 16; ++g) {
      const LaneRows values(x, 16 * g);
      LaneTile<16> squares;
      if (u == nullptr) WeighBySquare(values, squares);
      const LaneRows w = u == nullptr ? LaneRows(squares) : LaneRows(*u, 16 * g);
      float* group_codes = codes.values + 16 * g * lane_count;
      scales.SetRow(g, SearchSymmetric<16>(values, w, 32, group_codes));
    }
    const LaneFloats extreme = SignedExtreme(LaneRows(scales), 16);
    const LaneMask is_zero = hn::Lt(hn::Abs(extreme), Same(least_magnitude));
    const LaneFloats divisor = hn::IfThenElse(is_zero, Same(1.0f), extreme);
    RoundToGroups(x, scales, hn::Div(Same(-128.0f), divisor), codes, blocks);
    for (std::size_t half = 0; half < 2; ++half) {
      PutNibbles(codes.values + 128 * half * lane_count, 64, 64, blocks,
                 offsetof(BlockQ6_K, codes) + 64 * half);
    }
    PutBitPairs<4>(codes, blocks, offsetof(BlockQ6_K, high_bits));
    if (hn::AllFalse(f32, is_zero)) return;
    HWY_ALIGN float zeros[lane_count];
    hn::Store(hn::IfThenElseZero(is_zero, Same(1.0f)), f32, zeros);
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
      if (zeros[lane] != 0.0f) blocks[lane] = BlockQ6_K{};
    }
  }
};
#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

INGOT_ENCODER(EncodeLanes, Q2_K, q2_k)
INGOT_ENCODER(EncodeLanes, Q3_K, q3_k)
INGOT_ENCODER(EncodeLanes, Q6_K, q6_k)
