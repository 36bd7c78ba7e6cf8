// SPDX-License-Identifier: MIT
// The searches of searches.hpp with one block per lane: every lane does what the scalar function
// does, in the same order. Included once per CPU target, after hwy/highway.h.

// clang-format off
#if defined(INGOT_CODEC_SEARCHES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_CODEC_SEARCHES_INL_HPP
#undef INGOT_CODEC_SEARCHES_INL_HPP
#else
#define INGOT_CODEC_SEARCHES_INL_HPP
#endif
// clang-format on

#include <hwy/highway.h>

#include "codec/lane_codes_inl.hpp"
#include "codec/refinement_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// The best of tries that do not depend on one another.
struct LaneBest {
  LaneFloats t;
  LaneFloats scale;
  LaneFloats best;

  HWY_INLINE void Offer(LaneFloats next_t, const LaneSums& sums) {
    const LaneMask is_better =
        hn::And(hn::Gt(sums.square, Same(0.0f)),
                hn::Gt(hn::Mul(sums.product, sums.product), hn::Mul(best, sums.square)));
    const LaneFloats next_scale = hn::Div(sums.product, sums.square);
    t = hn::IfThenElse(is_better, next_t, t);
    scale = hn::IfThenElse(is_better, next_scale, scale);
    best = hn::IfThenElse(is_better, hn::Mul(next_scale, sums.product), best);
  }
};

/// Tries whose sums are made in one walk over the block: as many as the registers hold.
inline constexpr std::size_t tries_at_once = lane_count >= 16 ? 4 : 2;

template <std::size_t count>
HWY_INLINE void SumSymmetric(LaneRows x, LaneRows w, const LaneCodes& limits, const LaneFloats* t,
                             LaneSums* sums) {
  for (std::size_t j = 0; j < tries_at_once; ++j) sums[j] = {Same(0.0f), Same(0.0f)};
  for (std::size_t i = 0; i < count; ++i) {
    const LaneFloats value = x[i];
    const LaneFloats weight = w[i];
    const LaneFloats product = hn::Mul(weight, value);
    for (std::size_t j = 0; j < tries_at_once; ++j) {
      const LaneFloats code = limits.Round(hn::Mul(t[j], value));
      sums[j].product = hn::Add(sums[j].product, hn::Mul(product, code));
      sums[j].square = hn::Add(sums[j].square, hn::Mul(hn::Mul(weight, code), code));
    }
  }
}

template <std::size_t count>
HWY_INLINE LaneFloats SearchSymmetric(LaneRows x, LaneRows w, int limit, float* codes) {
  // The last try is repeated to fill the walks; that changes nothing.
  static constexpr std::int8_t tries[20] = {0, -9, -8, -7, -6, -5, -4, -3, -2, -1,
                                            1, 2,  3,  4,  5,  6,  7,  8,  9,  9};
  LaneFloats extreme = SignedExtreme(x, count);
  const LaneMask is_live = hn::Not(hn::Lt(hn::Abs(extreme), Same(least_magnitude)));
  extreme = hn::IfThenElse(is_live, extreme, Same(1.0f));
  const LaneCodes limits(-limit, limit - 1);
  LaneBest found{};
  for (std::size_t first = 0; first < 20; first += tries_at_once) {
    LaneFloats t[tries_at_once];
    LaneSums sums[tries_at_once];
    for (std::size_t j = 0; j < tries_at_once; ++j) {
      const float steps = to_float(limit) + 0.1f * to_float(tries[first + j]);
      t[j] = hn::Div(Same(-steps), extreme);
    }
    SumSymmetric<count>(x, w, limits, t, sums);
    if (first == 0) {
      const LaneMask has_scale = IsNot(sums[0].square, Same(0.0f));
      found.t = t[0];
      found.scale = hn::IfThenElseZero(has_scale, hn::Div(sums[0].product, sums[0].square));
      found.best = hn::Mul(found.scale, sums[0].product);
    }
    for (std::size_t j = first == 0 ? 1 : 0; j < tries_at_once; ++j) found.Offer(t[j], sums[j]);
  }
  const LaneInts live_bits = hn::BitCast(LaneIntTag(), hn::VecFromMask(LaneTag(), is_live));
  for (std::size_t i = 0; i < count; ++i) {
    const LaneInts code = limits.Stored(limits.Held(hn::Mul(found.t, x[i])));
    SetCodes(codes, i, hn::And(code, live_bits));
  }
  return hn::IfThenElseZero(is_live, found.scale);
}

struct LaneFit {
  LaneFloats scale;
  LaneFloats minimum;
};

/// AffineSearch of searches.hpp.
template <std::size_t count, bool is_absolute>
class LaneAffineSearch {
 public:
  HWY_INLINE LaneAffineSearch(LaneRows x, LaneRows w, int max_code)
      : x_(x), w_(w), limits_(0, max_code) {
    min_ = max_ = x[0];
    weight_sum_ = w[0];
    product_sum_ = hn::Mul(w[0], x[0]);
    for (std::size_t i = 1; i < count; ++i) {
      min_ = hn::IfThenElse(hn::Lt(x[i], min_), x[i], min_);
      max_ = hn::IfThenElse(hn::Gt(x[i], max_), x[i], max_);
      weight_sum_ = hn::Add(weight_sum_, w[i]);
      product_sum_ = hn::Add(product_sum_, hn::Mul(w[i], x[i]));
    }
    min_ = hn::IfThenElse(hn::Gt(min_, Same(0.0f)), Same(0.0f), min_);
    is_flat_ = hn::Le(max_, min_);
  }

  HWY_INLINE LaneFit Run(const AffineTries& tries, float* codes) {
    const LaneFloats greatest = Same(to_float(tries.max_code));
    LaneFloats best_t = hn::Div(greatest, RangeAbove(min_));
    LaneFloats best_minimum = min_;
    LaneFit fit = {hn::Div(Same(1.0f), best_t), min_};
    Round(best_t, min_);
    LaneFloats best_error = Error(fit);
    for (int k = 0; k <= tries.last_try; ++k) {
      const float range = (tries.first + tries.step * to_float(k)) + to_float(tries.max_code);
      const LaneFloats t = hn::Div(Same(range), RangeAbove(fit.minimum));
      LaneFit next;
      const LaneMask has_fit = Refit(t, fit.minimum, next);
      const LaneFloats error = Error(next);
      const LaneMask is_better = hn::And(has_fit, hn::Lt(error, best_error));
      best_t = hn::IfThenElse(is_better, t, best_t);
      best_minimum = hn::IfThenElse(is_better, fit.minimum, best_minimum);
      best_error = hn::IfThenElse(is_better, error, best_error);
      fit.scale = hn::IfThenElse(is_better, next.scale, fit.scale);
      fit.minimum = hn::IfThenElse(is_better, next.minimum, fit.minimum);
    }
    // A block without a range has codes of 0: t is 0.
    best_t = hn::IfThenZeroElse(is_flat_, best_t);
    for (std::size_t i = 0; i < count; ++i) {
      const LaneFloats scaled = hn::Mul(best_t, hn::Sub(x_[i], best_minimum));
      SetCodes(codes, i, limits_.Stored(limits_.Held(scaled)));
    }
    fit.scale = hn::IfThenZeroElse(is_flat_, fit.scale);
    fit.minimum = hn::IfThenElse(is_flat_, min_, fit.minimum);
    return fit;
  }

 private:
  [[nodiscard]] HWY_INLINE LaneFloats RangeAbove(LaneFloats minimum) const {
    return hn::IfThenElse(is_flat_, Same(1.0f), hn::Sub(max_, minimum));
  }

  HWY_INLINE void Round(LaneFloats t, LaneFloats minimum) {
    for (std::size_t i = 0; i < count; ++i) {
      l_.SetRow(i, limits_.Round(hn::Mul(t, hn::Sub(x_[i], minimum))));
    }
  }

  [[nodiscard]] HWY_INLINE LaneFloats Error(const LaneFit& fit) const {
    LaneFloats sum = Same(0.0f);
    for (std::size_t i = 0; i < count; ++i) {
      const LaneFloats value = hn::Add(hn::Mul(fit.scale, l_.Row(i)), fit.minimum);
      const LaneFloats d = hn::Sub(value, x_[i]);
      sum = hn::Add(sum, hn::Mul(w_[i], is_absolute ? hn::Abs(d) : hn::Mul(d, d)));
    }
    return sum;
  }

  HWY_INLINE LaneMask Refit(LaneFloats t, LaneFloats minimum, LaneFit& fit) {
    LaneFloats codes = Same(0.0f);
    LaneFloats squares = Same(0.0f);
    LaneFloats products = Same(0.0f);
    for (std::size_t i = 0; i < count; ++i) {
      const LaneFloats x = x_[i];
      const LaneFloats l = limits_.Round(hn::Mul(t, hn::Sub(x, minimum)));
      l_.SetRow(i, l);
      const LaneFloats wl = hn::Mul(w_[i], l);
      codes = hn::Add(codes, wl);
      squares = hn::Add(squares, hn::Mul(wl, l));
      products = hn::Add(products, hn::Mul(wl, x));
    }
    const LaneFloats determinant = hn::Sub(hn::Mul(weight_sum_, squares), hn::Mul(codes, codes));
    const LaneFloats scale =
        hn::Div(hn::Sub(hn::Mul(weight_sum_, products), hn::Mul(product_sum_, codes)), determinant);
    const LaneFloats least =
        hn::Div(hn::Sub(hn::Mul(squares, product_sum_), hn::Mul(codes, products)), determinant);
    const LaneMask is_above = hn::Gt(least, Same(0.0f));
    fit = {scale, least};
    if (!hn::AllFalse(LaneTag(), is_above)) {
      fit.minimum = hn::IfThenZeroElse(is_above, least);
      fit.scale = hn::IfThenElse(is_above, hn::Div(products, squares), scale);
    }
    return hn::Gt(determinant, Same(0.0f));
  }

  LaneRows x_;
  LaneRows w_;
  LaneCodes limits_;
  LaneFloats min_;
  LaneFloats max_;
  LaneFloats weight_sum_;
  LaneFloats product_sum_;
  LaneMask is_flat_;
  LaneTile<count> l_;
};

template <std::size_t count, bool is_absolute = false>
HWY_INLINE LaneFit SearchAffine(LaneRows x, LaneRows w, const AffineTries& tries, float* codes) {
  return LaneAffineSearch<count, is_absolute>(x, w, tries.max_code).Run(tries, codes);
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
