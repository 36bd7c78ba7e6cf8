// SPDX-License-Identifier: MIT
// The searches of searches.hpp that refine code by code, with one block per lane. Included once per
// CPU target, after hwy/highway.h.

// clang-format off
#if defined(INGOT_CODEC_REFINEMENT_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_CODEC_REFINEMENT_INL_HPP
#undef INGOT_CODEC_REFINEMENT_INL_HPP
#else
#define INGOT_CODEC_REFINEMENT_INL_HPP
#endif
// clang-format on

#include <hwy/highway.h>

#include "codec/lane_codes_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// One pass of refine_codes over `groups` groups that advance together: each alone would wait for
/// its own sums. `codes` are floats. Returns whether a code has changed.
template <std::size_t count, std::size_t groups, bool is_positive>
HWY_INLINE bool RefinePass(const LaneRows* x, const LaneRows* w, const LaneCodes& limits,
                           LaneSums* sums, LaneTile<count>* codes) {
  LaneMask is_changed = hn::MaskFromVec(Same(0.0f));
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t g = 0; g < groups; ++g) {
      const LaneFloats weight = w[g][i];
      const LaneFloats weighted = hn::Mul(weight, x[g][i]);
      const LaneFloats code = codes[g].Row(i);
      const LaneFloats product = hn::Sub(sums[g].product, hn::Mul(weighted, code));
      const LaneFloats square = hn::Sub(sums[g].square, hn::Mul(hn::Mul(weight, code), code));
      const LaneFloats next = limits.Round(hn::Div(hn::Mul(x[g][i], square), product));
      const LaneFloats next_product = hn::Add(product, hn::Mul(weighted, next));
      const LaneFloats next_square = hn::Add(square, hn::Mul(hn::Mul(weight, next), next));
      const LaneFloats gain = hn::Mul(hn::Mul(next_product, next_product), sums[g].square);
      const LaneFloats loss = hn::Mul(hn::Mul(sums[g].product, sums[g].product), next_square);
      const LaneMask is_valid = hn::And(hn::Gt(product, Same(0.0f)),
                                        hn::Gt(is_positive ? square : next_square, Same(0.0f)));
      const LaneMask is_better = hn::And(is_valid, hn::And(IsNot(next, code), hn::Gt(gain, loss)));
      LaneFloats kept = next;
      if (is_positive) {  // as a byte
        const LaneIntTag i32;
        const LaneInts byte = hn::And(hn::ConvertTo(i32, next), hn::Set(i32, 255));
        kept = hn::ConvertTo(LaneTag(), byte);
      }
      codes[g].SetRow(i, hn::IfThenElse(is_better, kept, code));
      sums[g].product = hn::IfThenElse(is_better, next_product, sums[g].product);
      sums[g].square = hn::IfThenElse(is_better, next_square, sums[g].square);
      is_changed = hn::Or(is_changed, is_better);
    }
  }
  return !hn::AllFalse(LaneTag(), is_changed);
}

template <std::size_t count>
HWY_INLINE LaneFloats SearchPositive(LaneRows x, LaneRows w, int max_code, float* codes) {
  const LaneIntTag i32;
  LaneFloats largest = LargestPositive(x, count);
  const LaneMask is_live = hn::Not(hn::Lt(largest, Same(least_magnitude)));
  largest = hn::IfThenElse(is_live, largest, Same(1.0f));
  const LaneCodes limits(-0x400000, max_code);
  LaneFloats best_t = hn::Div(Same(to_float(max_code)), largest);
  LaneFloats best_error = Same(0.0f);
  for (int k = -5; k <= 4; ++k) {
    if (k == 0) continue;
    const bool is_first = k == -5;
    const float steps = 0.1f * to_float(k) + to_float(max_code);
    const LaneFloats t = is_first ? best_t : hn::Div(Same(steps), largest);
    const LaneFloats scale = hn::Div(Same(1.0f), t);
    LaneFloats error = Same(0.0f);
    for (std::size_t i = 0; i < count; ++i) {
      const LaneFloats scaled = hn::Mul(t, x[i]);
      const LaneFloats code =
          is_first ? hn::ConvertTo(LaneTag(), hn::And(RoundEven(scaled), hn::Set(i32, 255)))
                   : limits.Round(scaled);
      const LaneFloats d = hn::Sub(x[i], hn::Mul(scale, code));
      error = hn::Add(error, hn::Mul(hn::Mul(w[i], d), d));
    }
    const LaneMask is_better = hn::Lt(error, best_error);
    best_error = is_first ? error : hn::IfThenElse(is_better, error, best_error);
    best_t = is_first ? t : hn::IfThenElse(is_better, t, best_t);
  }
  LaneTile<count> refined;
  LaneSums sums = {Same(0.0f), Same(0.0f)};
  for (std::size_t i = 0; i < count; ++i) {
    const LaneFloats code = limits.Round(hn::Mul(best_t, x[i]));
    sums.product = hn::Add(sums.product, hn::Mul(hn::Mul(w[i], x[i]), code));
    sums.square = hn::Add(sums.square, hn::Mul(hn::Mul(w[i], code), code));
    const LaneInts byte = hn::And(hn::ConvertTo(i32, code), hn::Set(i32, 255));
    refined.SetRow(i, hn::ConvertTo(LaneTag(), byte));
  }
  for (int pass = 0; pass < 5; ++pass) {
    if (!RefinePass<count, 1, true>(&x, &w, limits, &sums, &refined)) break;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const LaneFloats code = hn::IfThenElseZero(is_live, refined.Row(i));
    SetCodes(codes, i, hn::ConvertTo(i32, code));
  }
  return hn::IfThenElseZero(is_live, ScaleOf(sums));
}

/// search_by_descent for `groups` groups, one after the other in `x`, `codes` and `scales`.
template <std::size_t count, std::size_t groups>
HWY_INLINE void SearchByDescent(const LaneTile<256>& tile, std::size_t first, int limit,
                                float* codes, LaneFloats* scales) {
  const LaneCodes limits(-limit, limit - 1);
  LaneTile<count> squares[groups];
  LaneTile<count> refined[groups];
  LaneRows x[groups] = {};
  LaneRows w[groups] = {};
  LaneSums sums[groups];
  LaneMask is_live[groups];
  for (std::size_t g = 0; g < groups; ++g) {
    x[g] = LaneRows(tile, first + count * g);
    WeighBySquare(x[g], squares[g]);
    w[g] = LaneRows(squares[g]);
    const LaneFloats extreme = SignedExtreme(x[g], count);
    is_live[g] = hn::Not(hn::Lt(hn::Abs(extreme), Same(least_magnitude)));
    const LaneFloats t =
        hn::Div(Same(-to_float(limit)), hn::IfThenElse(is_live[g], extreme, Same(1.0f)));
    sums[g] = {Same(0.0f), Same(0.0f)};
    for (std::size_t i = 0; i < count; ++i) {
      const LaneFloats code = limits.Round(hn::Mul(t, x[g][i]));
      const LaneFloats weight = w[g][i];
      refined[g].SetRow(i, code);
      sums[g].product = hn::Add(sums[g].product, hn::Mul(hn::Mul(weight, x[g][i]), code));
      sums[g].square = hn::Add(sums[g].square, hn::Mul(hn::Mul(weight, code), code));
    }
  }
  for (int pass = 0; pass < 5; ++pass) {
    if (!RefinePass<count, groups, false>(x, w, limits, sums, refined)) break;
  }
  for (std::size_t g = 0; g < groups; ++g) {
    scales[g] = hn::IfThenElseZero(is_live[g], ScaleOf(sums[g]));
    for (std::size_t i = 0; i < count; ++i) {
      const LaneFloats stored = hn::Add(refined[g].Row(i), Same(to_float(limit)));
      const LaneFloats code = hn::IfThenElseZero(is_live[g], stored);
      SetCodes(codes, count * g + i, hn::ConvertTo(LaneIntTag(), code));
    }
  }
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
