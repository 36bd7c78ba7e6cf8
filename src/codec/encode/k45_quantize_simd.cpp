// SPDX-License-Identifier: MIT
#define HWY_TARGET_INCLUDE "codec/encode/k45_quantize_simd.cpp"
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

#include "codec/encode/k45_search.hpp"
#include "codec/encode/packing.hpp"
#include "codec/encode/searches_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
struct LaneK45Groups {
  LaneTile<8> scales;
  LaneTile<8> minimums;  ///< Negated: 0 or above.
  LaneTile<8> weights;   ///< Sums over the group.
};

/// The weights of group first + j, from row 32 * j on; by importances if `u` is not null.
HWY_INLINE void WeighK45Group(const LaneTile<256>& x, const LaneTile<256>* u,
                              LaneFloats mean_square, std::size_t first, std::size_t j,
                              LaneTile<32 * affine_groups>& w) {
  const LaneRows values(x, 32 * (first + j));
  float* to = w.values + 32 * j * lane_count;
  if (u != nullptr) {
    WeighByImportance(values, LaneRows(*u, 32 * (first + j)), mean_square, 32, to);
    return;
  }
  const LaneFloats average = hn::Sqrt(hn::Div(SumOfSquares(values, 32), Same(32.0f)));
  for (std::size_t i = 0; i < 32; ++i) {
    hn::Store(hn::Add(average, hn::Abs(values[i])), LaneTag(), to + i * lane_count);
  }
}

/// With importances if `u` is not null.
HWY_INLINE void SearchK45Groups(const LaneTile<256>& x, const LaneTile<256>* u,
                                const AffineTries& tries, LaneK45Groups& groups,
                                LaneTile<256>& codes) {
  LaneFloats mean_square = Same(0.0f);
  if (u != nullptr) {
    const LaneFloats doubled = hn::Mul(Same(2.0f), SumOfSquares(LaneRows(x), 256));
    mean_square = hn::Div(doubled, Same(256.0f));
  }
  for (std::size_t first = 0; first < 8; first += affine_groups) {
    LaneTile<32 * affine_groups> w;
    for (std::size_t j = 0; j < affine_groups; ++j) WeighK45Group(x, u, mean_square, first, j, w);
    LaneFit fits[affine_groups];
    SearchAffine<32, affine_groups>(LaneRows(x, 32 * first), LaneRows(w), tries, fits,
                                    codes.values + 32 * first * lane_count);
    for (std::size_t j = 0; j < affine_groups; ++j) {
      groups.weights.SetRow(first + j, SumOf(LaneRows(w, 32 * j), 32));
      groups.scales.SetRow(first + j, fits[j].scale);
      groups.minimums.SetRow(first + j, hn::Neg(fits[j].minimum));
    }
  }
}

/// The codes of scales or minimums; returns the unit that they are multiples of.
HWY_INLINE LaneFloats RoundK45Groups(const LaneTile<8>& values, LaneTile<8>& codes) {
  const LaneIntTag i32;
  const LaneFloats largest = LargestPositive(LaneRows(values), 8);
  const LaneMask has_scale = hn::Gt(largest, Same(0.0f));
  const LaneFloats t = hn::IfThenElseZero(has_scale, hn::Div(Same(63.0f), largest));
  for (std::size_t g = 0; g < 8; ++g) {
    const LaneInts byte = hn::And(RoundEven(hn::Mul(t, values.Row(g))), hn::Set(i32, 255));
    SetCodes(codes.values, g, hn::Min(byte, hn::Set(i32, 63)));
  }
  return hn::Div(largest, Same(63.0f));
}

/// Leaves the codes of the values in `codes` and puts all else into the blocks.
template <class Block>
HWY_INLINE void SearchK45(const LaneTile<256>& x, const LaneTile<256>* u, const AffineTries& tries,
                          LaneTile<256>& codes, Block* blocks) {
  LaneK45Groups groups;
  LaneTile<8> scale_codes;
  LaneTile<8> minimum_codes;
  LaneFloats scale;
  LaneFloats minimum;
  SearchK45Groups(x, u, u == nullptr ? tries : k45_weighted_tries(tries.max_code), groups, codes);
  if (u == nullptr) {
    scale = RoundK45Groups(groups.scales, scale_codes);
    minimum = RoundK45Groups(groups.minimums, minimum_codes);
  } else {
    const LaneRows w(groups.weights);
    scale = SearchPositive<8>(LaneRows(groups.scales), w, 63, scale_codes.values);
    minimum = SearchPositive<8>(LaneRows(groups.minimums), w, 63, minimum_codes.values);
  }
  scale = PutHalves(scale, blocks, offsetof(Block, scale));
  minimum = PutHalves(minimum, blocks, offsetof(Block, minimum));
  HWY_ALIGN std::int32_t s[lane_count];
  HWY_ALIGN std::int32_t m[lane_count];
  for (std::size_t g = 0; g < 8; ++g) {
    const LaneIntTag i32;
    const LaneInts scale_code = hn::And(CodesAt(scale_codes.values, g), hn::Set(i32, 63));
    const LaneInts minimum_code = hn::And(CodesAt(minimum_codes.values, g), hn::Set(i32, 63));
    hn::Store(scale_code, i32, s);
    hn::Store(minimum_code, i32, m);
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
      put_group(g, static_cast<unsigned>(s[lane]), static_cast<unsigned>(m[lane]), blocks[lane]);
    }
    const LaneFloats group_scale = hn::Mul(scale, hn::ConvertTo(LaneTag(), scale_code));
    const LaneFloats group_minimum = hn::Mul(minimum, hn::ConvertTo(LaneTag(), minimum_code));
    RoundToScale<32>(LaneRows(x, 32 * g), group_scale, group_minimum, 0, tries.max_code,
                     codes.values + 32 * g * lane_count);
  }
}

template <class Block, const AffineTries& tries>
struct EncodeK45 {
  HWY_INLINE void operator()(const LaneTile<256>& x, const LaneTile<256>* u, Block* blocks) const {
    LaneTile<256> codes;
    SearchK45(x, u, tries, codes, blocks);
    for (std::size_t part = 0; part < 4; ++part) {
      PutNibbles(codes.values + 64 * part * lane_count, 32, 32, blocks,
                 offsetof(Block, codes) + 32 * part);
    }
    if constexpr (requires(Block block) { block.high_bits; }) {
      PutHighBits<4>(codes, blocks, offsetof(Block, high_bits));
    }
  }
};

using EncodeQ4_K = EncodeK45<BlockQ4_K, q4_k_tries>;
using EncodeQ5_K = EncodeK45<BlockQ5_K, q5_k_tries>;
#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

INGOT_ENCODER(EncodeLanes, Q4_K, q4_k)
INGOT_ENCODER(EncodeLanes, Q5_K, q5_k)
