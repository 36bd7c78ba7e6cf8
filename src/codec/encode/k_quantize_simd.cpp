// SPDX-License-Identifier: MIT
#define HWY_TARGET_INCLUDE "codec/encode/k_quantize_simd.cpp"
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

#include "codec/encode/k_affine.hpp"
#include "codec/encode/packing.hpp"
#include "codec/encode/searches_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
template <class Type>
struct LaneAffineGroups {
  static constexpr std::size_t count = 256 / Type::group_elements;
  LaneTile<count> scales;
  LaneTile<count> minimums;  ///< The negated minimums: 0 or above.
  LaneTile<count> weights;   ///< Sums over the group.
  LaneTile<count> scale_codes;
  LaneTile<count> minimum_codes;
};

/// Leaves the weights of the group from row `first` on in `w`; by importances if `u` is not null.
template <class Type>
HWY_INLINE void WeighAffineGroup(const LaneTile<256>& x, const LaneTile<256>* u, std::size_t first,
                                 LaneFloats mean_square, float* w) {
  constexpr std::size_t size = Type::group_elements;
  const LaneRows values(x, first);
  if (u != nullptr) return WeighByImportance(values, LaneRows(*u, first), mean_square, size, w);
  LaneFloats average = Same(0.0f);
  if constexpr (Type::adds_average) {
    average = hn::Sqrt(hn::Div(SumOfSquares(values, size), Same(static_cast<float>(size))));
  }
  for (std::size_t i = 0; i < size; ++i) {
    hn::Store(hn::Add(average, hn::Abs(values[i])), LaneTag(), w + i * lane_count);
  }
}

/// Searches all groups; with importances if `u` is not null.
template <class Type>
HWY_INLINE void SearchAffineGroups(const LaneTile<256>& x, const LaneTile<256>* u,
                                   LaneAffineGroups<Type>& groups, LaneTile<256>& codes) {
  constexpr std::size_t size = Type::group_elements;
  LaneFloats mean_square = Same(0.0f);
  if (u != nullptr) {
    const LaneFloats sum = hn::Mul(Same(Type::mean_factor), SumOfSquares(LaneRows(x), 256));
    mean_square = hn::Div(sum, Same(256.0f));
  }
  for (std::size_t first = 0; first < groups.count; first += affine_groups) {
    LaneTile<size * affine_groups> w;
    for (std::size_t j = 0; j < affine_groups; ++j) {
      WeighAffineGroup<Type>(x, u, size * (first + j), mean_square,
                             w.values + size * j * lane_count);
    }
    const LaneRows values(x, size * first);
    float* group_codes = codes.values + size * first * lane_count;
    LaneFit fits[affine_groups];
    if (Type::tries.is_absolute && u == nullptr) {
      SearchAffine<size, affine_groups, true>(values, LaneRows(w), Type::tries, fits, group_codes);
    } else {
      const AffineTries& tries = u == nullptr ? Type::tries : Type::weighted_tries;
      SearchAffine<size, affine_groups>(values, LaneRows(w), tries, fits, group_codes);
    }
    for (std::size_t j = 0; j < affine_groups; ++j) {
      groups.weights.SetRow(first + j, SumOf(LaneRows(w, size * j), size));
      groups.scales.SetRow(first + j, fits[j].scale);
      groups.minimums.SetRow(first + j, hn::Neg(fits[j].minimum));
    }
  }
}

/// The codes of scales or minimums; returns the unit that they are multiples of.
template <class Type, std::size_t count>
HWY_INLINE LaneFloats RoundGroups(const LaneTile<count>& values, LaneTile<count>& codes) {
  const LaneIntTag i32;
  const LaneFloats top = Same(to_float(Type::top));
  const LaneFloats largest = LargestPositive(LaneRows(values), count);
  const LaneMask has_scale = hn::Gt(largest, Same(0.0f));
  const LaneFloats t = hn::IfThenElseZero(has_scale, hn::Div(top, largest));
  for (std::size_t g = 0; g < count; ++g) {
    const LaneInts bits = hn::Set(i32, Type::rounded_bits);
    const LaneInts code = hn::And(RoundEven(hn::Mul(t, values.Row(g))), bits);
    SetCodes(codes.values, g, hn::Min(code, hn::Set(i32, Type::top)));
  }
  return hn::Div(largest, top);
}

/// Puts the codes of the groups' scales and minimums, and rounds the values' codes to these.
template <class Type, class Block>
HWY_INLINE void RoundToGroups(const LaneTile<256>& x, const LaneAffineGroups<Type>& groups,
                              LaneFloats scale, LaneFloats minimum, LaneTile<256>& codes,
                              Block* blocks) {
  constexpr std::size_t size = Type::group_elements;
  const LaneIntTag i32;
  const LaneInts kept_bits = hn::Set(i32, static_cast<std::int32_t>(Type::kept_bits));
  HWY_ALIGN std::int32_t s[lane_count];
  HWY_ALIGN std::int32_t m[lane_count];
  for (std::size_t g = 0; g < groups.count; ++g) {
    const LaneInts scale_code = hn::And(CodesAt(groups.scale_codes.values, g), kept_bits);
    const LaneInts minimum_code = hn::And(CodesAt(groups.minimum_codes.values, g), kept_bits);
    hn::Store(scale_code, i32, s);
    hn::Store(minimum_code, i32, m);
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
      put_group(g, static_cast<unsigned>(s[lane]), static_cast<unsigned>(m[lane]), blocks[lane]);
    }
    const LaneFloats group_scale = hn::Mul(scale, hn::ConvertTo(LaneTag(), scale_code));
    const LaneFloats group_minimum = hn::Mul(minimum, hn::ConvertTo(LaneTag(), minimum_code));
    RoundToScale<size>(LaneRows(x, size * g), group_scale, group_minimum, 0, Type::tries.max_code,
                       codes.values + size * g * lane_count);
  }
}

HWY_INLINE void PutAffineCodes(const LaneTile<256>& codes, BlockQ2_K* blocks) {
  PutBitPairs<0>(codes, blocks, offsetof(BlockQ2_K, codes));
}

/// Puts the codes of Q4_K and Q5_K.
template <class Block>
HWY_INLINE void PutAffineCodes(const LaneTile<256>& codes, Block* blocks) {
  for (std::size_t part = 0; part < 4; ++part) {
    PutNibbles(codes.values + 64 * part * lane_count, 32, 32, blocks,
               offsetof(Block, codes) + 32 * part);
  }
  if constexpr (requires(Block block) { block.high_bits; }) {
    PutHighBits<4>(codes, blocks, offsetof(Block, high_bits));
  }
}

template <class Type, class Block>
struct EncodeAffine {
  HWY_INLINE void operator()(const LaneTile<256>& x, const LaneTile<256>* u, Block* blocks) const {
    constexpr std::size_t count = LaneAffineGroups<Type>::count;
    LaneTile<256> codes;
    LaneAffineGroups<Type> groups;
    LaneFloats scale;
    LaneFloats minimum;
    SearchAffineGroups(x, u, groups, codes);
    if (u == nullptr) {
      scale = RoundGroups<Type>(groups.scales, groups.scale_codes);
      minimum = RoundGroups<Type>(groups.minimums, groups.minimum_codes);
    } else {
      const auto search = [&](const LaneTile<count>& values, LaneTile<count>& found) HWY_ATTR {
        return SearchPositive<count>(LaneRows(values), LaneRows(groups.weights), Type::top,
                                     found.values);
      };
      scale = search(groups.scales, groups.scale_codes);
      minimum = search(groups.minimums, groups.minimum_codes);
    }
    scale = PutHalves(scale, blocks, offsetof(Block, scale));
    minimum = PutHalves(minimum, blocks, offsetof(Block, minimum));
    RoundToGroups(x, groups, scale, minimum, codes, blocks);
    PutAffineCodes(codes, blocks);
  }
};

using EncodeQ2_K = EncodeAffine<AffineQ2_K, BlockQ2_K>;
using EncodeQ4_K = EncodeAffine<AffineQ4_K, BlockQ4_K>;
using EncodeQ5_K = EncodeAffine<AffineQ5_K, BlockQ5_K>;

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
INGOT_ENCODER(EncodeLanes, Q4_K, q4_k)
INGOT_ENCODER(EncodeLanes, Q5_K, q5_k)
INGOT_ENCODER(EncodeLanes, Q6_K, q6_k)
