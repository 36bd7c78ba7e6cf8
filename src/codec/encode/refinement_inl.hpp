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

#include "codec/encode/lane_codes_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// One pass of refine_codes over `groups` groups that advance together: each alone would wait for
/// its own sums. `codes` are floats, those of all groups in a row. Sets in which lanes a code has
/// changed.
template <std::size_t count, std::size_t groups, bool is_positive>
HWY_INLINE void RefinePass(const LaneRows* x, const LaneRows* w, const LaneCodes& limits,
                           LaneSums* sums, float* codes, LaneMask* is_changed) {
  for (std::size_t g = 0; g < groups; ++g) is_changed[g] = hn::MaskFromVec(Same(0.0f));
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t g = 0; g < groups; ++g) {
      const LaneFloats weight = w[g][i];
      const LaneFloats weighted = hn::Mul(weight, x[g][i]);
      float* place = codes + (count * g + i) * lane_count;
      const LaneFloats code = hn::Load(LaneTag(), place);
      const LaneFloats product = hn::Sub(sums[g].product, hn::Mul(weighted, code));
      const LaneFloats square = hn::Sub(sums[g].square, hn::Mul(hn::Mul(weight, code), code));
      const LaneFloats next = limits.Round(hn::Div(hn::Mul(x[g][i], square), product));
      LaneMask is_better = hn::And(hn::Gt(product, Same(0.0f)), IsNot(next, code));
      if (hn::AllFalse(LaneTag(), is_better)) continue;  // the usual case
      const LaneFloats next_product = hn::Add(product, hn::Mul(weighted, next));
      const LaneFloats next_square = hn::Add(square, hn::Mul(hn::Mul(weight, next), next));
      const LaneFloats gain = hn::Mul(hn::Mul(next_product, next_product), sums[g].square);
      const LaneFloats loss = hn::Mul(hn::Mul(sums[g].product, sums[g].product), next_square);
      const LaneMask is_valid = hn::Gt(is_positive ? square : next_square, Same(0.0f));
      is_better = hn::And(is_better, hn::And(is_valid, hn::Gt(gain, loss)));
      LaneFloats kept = next;
      if (is_positive) {  // the codes are bytes
        const LaneIntTag i32;
        const LaneInts byte = hn::And(hn::ConvertTo(i32, next), hn::Set(i32, 255));
        kept = hn::ConvertTo(LaneTag(), byte);
      }
      hn::Store(hn::IfThenElse(is_better, kept, code), LaneTag(), place);
      sums[g].product = hn::IfThenElse(is_better, next_product, sums[g].product);
      sums[g].square = hn::IfThenElse(is_better, next_square, sums[g].square);
      is_changed[g] = hn::Or(is_changed[g], is_better);
    }
  }
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
    LaneMask is_changed;
    RefinePass<count, 1, true>(&x, &w, limits, &sums, refined.values, &is_changed);
    if (hn::AllFalse(LaneTag(), is_changed)) break;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const LaneFloats code = hn::IfThenElseZero(is_live, refined.Row(i));
    SetCodes(codes, i, hn::ConvertTo(i32, code));
  }
  return hn::IfThenElseZero(is_live, ScaleOf(sums));
}

/// search_by_descent for the 16 groups of 16 of each block. Four in five groups do not change in
/// the first pass and are done. The others are collected from all blocks and groups, to fill the
/// lanes of the later passes.
class LaneDescent {
 public:
  HWY_INLINE LaneDescent(const LaneTile<256>& x, int limit)
      : x_(x), limit_(limit), limits_(-limit, limit - 1) {}

  /// Leaves the codes, as floats with their signs, in `codes`: see CodeAt.
  HWY_INLINE void Run(LaneTile<16>& scales, float* codes) {
    for (std::size_t g = 0; g < 16; g += at_once) FirstPass(g, codes);
    for (std::size_t first = 0; first < item_count_; first += at_once * lane_count) {
      LastPasses(first, HWY_MIN(at_once * lane_count, item_count_ - first), codes);
    }
    for (std::size_t g = 0; g < 16; ++g) {
      const LaneSums sums = {products_.Row(g), squares_.Row(g)};
      scales.SetRow(g, hn::IfThenElseZero(IsLive(g), ScaleOf(sums)));
    }
  }

  /// The code to store of an element.
  [[nodiscard]] HWY_INLINE LaneInts CodeAt(const float* codes, std::size_t element) const {
    const LaneFloats code = hn::Load(LaneTag(), codes + element * lane_count);
    const LaneFloats stored = hn::Add(code, Same(to_float(limit_)));
    return hn::ConvertTo(LaneIntTag(), hn::IfThenElseZero(IsLive(element / 16), stored));
  }

 private:
  static constexpr std::size_t at_once = lane_count >= 16 ? 4 : 2;
  static constexpr std::size_t group_floats = 16 * lane_count;  // floats of a group in a tile

  /// Whether group g is not too small to count.
  [[nodiscard]] HWY_INLINE LaneMask IsLive(std::size_t g) const {
    return hn::Gt(is_live_.Row(g), Same(0.0f));
  }

  /// The codes of the groups from g on.
  HWY_INLINE void FirstPass(std::size_t g, float* codes) {
    LaneTile<16 * at_once> w;
    LaneRows x[at_once];
    LaneRows weights[at_once];
    LaneSums sums[at_once];
    for (std::size_t j = 0; j < at_once; ++j) {
      x[j] = LaneRows(x_, 16 * (g + j));
      weights[j] = LaneRows(w, 16 * j);
      const LaneFloats extreme = SignedExtreme(x[j], 16);
      const LaneMask is_live = hn::Not(hn::Lt(hn::Abs(extreme), Same(least_magnitude)));
      is_live_.SetRow(g + j, hn::IfThenElseZero(is_live, Same(1.0f)));
      const LaneFloats divisor = hn::IfThenElse(is_live, extreme, Same(1.0f));
      const LaneFloats t = hn::Div(Same(-to_float(limit_)), divisor);
      sums[j] = {Same(0.0f), Same(0.0f)};
      for (std::size_t i = 0; i < 16; ++i) {
        const LaneFloats weight = hn::Mul(x[j][i], x[j][i]);
        const LaneFloats code = limits_.Round(hn::Mul(t, x[j][i]));
        w.SetRow(16 * j + i, weight);
        hn::Store(code, LaneTag(), codes + (g + j) * group_floats + i * lane_count);
        sums[j].product = hn::Add(sums[j].product, hn::Mul(hn::Mul(weight, x[j][i]), code));
        sums[j].square = hn::Add(sums[j].square, hn::Mul(hn::Mul(weight, code), code));
      }
    }
    LaneMask is_changed[at_once];
    RefinePass<16, at_once, false>(x, weights, limits_, sums, codes + g * group_floats, is_changed);
    for (std::size_t j = 0; j < at_once; ++j) {
      products_.SetRow(g + j, sums[j].product);
      squares_.SetRow(g + j, sums[j].square);
      std::uint8_t bits[8] = {};
      hn::StoreMaskBits(LaneTag(), is_changed[j], bits);
      for (unsigned rest = u16_at(bits); rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
        items_[item_count_++] = static_cast<std::uint16_t>((g + j) * group_floats + lane);
      }
    }
  }

  /// The other passes over `used` items. The lanes that are left hold zeros, which never change.
  HWY_INLINE void LastPasses(std::size_t first, std::size_t used, float* codes) {
    LaneTile<16 * at_once> x;
    LaneTile<16 * at_once> w;
    LaneTile<16 * at_once> l;
    LaneTile<at_once> products;
    LaneTile<at_once> squares;
    for (std::size_t slot = 0; slot < at_once * lane_count; ++slot) {
      const std::size_t to = slot / lane_count * group_floats + slot % lane_count;
      const bool is_used = slot < used;
      const std::size_t from = is_used ? items_[first + slot] : 0;
      const std::size_t sum = from / group_floats * lane_count + from % lane_count;
      for (std::size_t i = 0; i < group_floats; i += lane_count) {
        x.values[to + i] = is_used ? x_.values[from + i] : 0.0f;
        l.values[to + i] = is_used ? codes[from + i] : 0.0f;
      }
      products.values[slot] = is_used ? products_.values[sum] : 0.0f;
      squares.values[slot] = is_used ? squares_.values[sum] : 0.0f;
    }
    WeighBySquare(LaneRows(x), w);
    Refine(x, w, l, products, squares);
    for (std::size_t slot = 0; slot < used; ++slot) {
      const std::size_t from = slot / lane_count * group_floats + slot % lane_count;
      const std::size_t to = items_[first + slot];
      const std::size_t sum = to / group_floats * lane_count + to % lane_count;
      for (std::size_t i = 0; i < group_floats; i += lane_count) {
        codes[to + i] = l.values[from + i];
      }
      products_.values[sum] = products.values[slot];
      squares_.values[sum] = squares.values[slot];
    }
  }

  HWY_INLINE void Refine(const LaneTile<16 * at_once>& x, const LaneTile<16 * at_once>& w,
                         LaneTile<16 * at_once>& l, LaneTile<at_once>& products,
                         LaneTile<at_once>& squares) const {
    LaneRows values[at_once];
    LaneRows weights[at_once];
    LaneSums sums[at_once];
    for (std::size_t j = 0; j < at_once; ++j) {
      values[j] = LaneRows(x, 16 * j);
      weights[j] = LaneRows(w, 16 * j);
      sums[j] = {products.Row(j), squares.Row(j)};
    }
    for (int pass = 1; pass < 5; ++pass) {
      LaneMask is_changed[at_once];
      RefinePass<16, at_once, false>(values, weights, limits_, sums, l.values, is_changed);
      bool is_done = true;
      for (std::size_t j = 0; j < at_once; ++j) {
        is_done = is_done && hn::AllFalse(LaneTag(), is_changed[j]);
      }
      if (is_done) break;
    }
    for (std::size_t j = 0; j < at_once; ++j) {
      products.SetRow(j, sums[j].product);
      squares.SetRow(j, sums[j].square);
    }
  }

  const LaneTile<256>& x_;
  int limit_;
  LaneCodes limits_;
  LaneTile<16> is_live_;
  LaneTile<16> products_;
  LaneTile<16> squares_;
  std::array<std::uint16_t, 16 * lane_count> items_;  // offsets of changed groups in a tile
  std::size_t item_count_ = 0;
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
