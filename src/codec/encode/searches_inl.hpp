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

#include "codec/encode/lane_codes_inl.hpp"
#include "codec/encode/refinement_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// The best of several independent tries.
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
  HWY_INLINE LaneFit() {}  // see the constructor of LaneSums
  HWY_INLINE LaneFit(LaneFloats a, LaneFloats b) : scale(a), minimum(b) {}

  LaneFloats scale;
  LaneFloats minimum;
};

/// AffineSearch of searches.hpp for `groups` groups that advance together: one alone would wait for
/// its divisions. Their values, weights and codes lie one after the other.
template <std::size_t count, std::size_t groups, bool is_absolute>
class LaneAffineSearch {
 public:
  HWY_INLINE LaneAffineSearch(LaneRows x, LaneRows w, int max_code)
      : x_(x), w_(w), limits_(0, max_code) {
    for (std::size_t g = 0; g < groups; ++g) {
      const std::size_t first = count * g;
      min_[g] = max_[g] = x[first];
      weight_sum_[g] = w[first];
      product_sum_[g] = hn::Mul(w[first], x[first]);
      for (std::size_t i = first + 1; i < first + count; ++i) {
        min_[g] = hn::IfThenElse(hn::Lt(x[i], min_[g]), x[i], min_[g]);
        max_[g] = hn::IfThenElse(hn::Gt(x[i], max_[g]), x[i], max_[g]);
        weight_sum_[g] = hn::Add(weight_sum_[g], w[i]);
        product_sum_[g] = hn::Add(product_sum_[g], hn::Mul(w[i], x[i]));
      }
      min_[g] = hn::IfThenElse(hn::Gt(min_[g], Same(0.0f)), Same(0.0f), min_[g]);
      is_flat_[g] = hn::Le(max_[g], min_[g]);
    }
  }

  HWY_INLINE void Run(const AffineTries& tries, LaneFit* fits, float* codes) {
    Start(tries, fits);
    for (int k = 0; k <= tries.last_try; ++k) {
      const float range = (tries.first + tries.step * to_float(k)) + to_float(tries.max_code);
      LaneFloats t[groups];
      LaneFloats errors[groups];
      LaneFit next[groups];
      LaneMask has_fit[groups];
      for (std::size_t g = 0; g < groups; ++g) {
        t[g] = hn::Div(Same(range), RangeAbove(g, fits[g].minimum));
      }
      Refit(t, fits, next, has_fit);
      SumErrors(next, errors);
      for (std::size_t g = 0; g < groups; ++g) {
        const LaneMask is_better = hn::And(has_fit[g], hn::Lt(errors[g], best_error_[g]));
        best_t_[g] = hn::IfThenElse(is_better, t[g], best_t_[g]);
        best_minimum_[g] = hn::IfThenElse(is_better, fits[g].minimum, best_minimum_[g]);
        best_error_[g] = hn::IfThenElse(is_better, errors[g], best_error_[g]);
        fits[g].scale = hn::IfThenElse(is_better, next[g].scale, fits[g].scale);
        fits[g].minimum = hn::IfThenElse(is_better, next[g].minimum, fits[g].minimum);
      }
    }
    for (std::size_t g = 0; g < groups; ++g) Finish(g, fits[g], codes);
  }

 private:
  HWY_INLINE void Start(const AffineTries& tries, LaneFit* fits) {
    for (std::size_t g = 0; g < groups; ++g) {
      best_t_[g] = hn::Div(Same(to_float(tries.max_code)), RangeAbove(g, min_[g]));
      best_minimum_[g] = min_[g];
      fits[g] = {hn::Div(Same(1.0f), best_t_[g]), min_[g]};
      for (std::size_t i = count * g; i < count * g + count; ++i) {
        l_.SetRow(i, limits_.Round(hn::Mul(best_t_[g], hn::Sub(x_[i], min_[g]))));
      }
    }
    SumErrors(fits, best_error_);
  }

  /// The codes that gave the best fit. A group without a range has codes of 0: its t becomes 0.
  HWY_INLINE void Finish(std::size_t g, LaneFit& fit, float* codes) const {
    const LaneFloats t = hn::IfThenZeroElse(is_flat_[g], best_t_[g]);
    for (std::size_t i = count * g; i < count * g + count; ++i) {
      const LaneFloats scaled = hn::Mul(t, hn::Sub(x_[i], best_minimum_[g]));
      SetCodes(codes, i, limits_.Stored(limits_.Held(scaled)));
    }
    fit.scale = hn::IfThenZeroElse(is_flat_[g], fit.scale);
    fit.minimum = hn::IfThenElse(is_flat_[g], min_[g], fit.minimum);
  }

  [[nodiscard]] HWY_INLINE LaneFloats RangeAbove(std::size_t g, LaneFloats minimum) const {
    return hn::IfThenElse(is_flat_[g], Same(1.0f), hn::Sub(max_[g], minimum));
  }

  HWY_INLINE void SumErrors(const LaneFit* fits, LaneFloats* sums) const {
    for (std::size_t g = 0; g < groups; ++g) sums[g] = Same(0.0f);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t g = 0; g < groups; ++g) {
        const std::size_t e = count * g + i;
        const LaneFloats value = hn::Add(hn::Mul(fits[g].scale, l_.Row(e)), fits[g].minimum);
        const LaneFloats d = hn::Sub(value, x_[e]);
        sums[g] = hn::Add(sums[g], hn::Mul(w_[e], is_absolute ? hn::Abs(d) : hn::Mul(d, d)));
      }
    }
  }

  /// Computes the codes for t and the minimum of `now`, and the best fit for them, if there is one.
  HWY_INLINE void Refit(const LaneFloats* t, const LaneFit* now, LaneFit* next, LaneMask* has_fit) {
    const LaneCodes limits = limits_;  // keeps it in registers
    LaneFloats codes[groups];
    LaneFloats squares[groups];
    LaneFloats products[groups];
    for (std::size_t g = 0; g < groups; ++g) codes[g] = squares[g] = products[g] = Same(0.0f);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t g = 0; g < groups; ++g) {
        const std::size_t e = count * g + i;
        const LaneFloats x = x_[e];
        const LaneFloats l = limits.Round(hn::Mul(t[g], hn::Sub(x, now[g].minimum)));
        l_.SetRow(e, l);
        const LaneFloats wl = hn::Mul(w_[e], l);
        codes[g] = hn::Add(codes[g], wl);
        squares[g] = hn::Add(squares[g], hn::Mul(wl, l));
        products[g] = hn::Add(products[g], hn::Mul(wl, x));
      }
    }
    for (std::size_t g = 0; g < groups; ++g) {
      has_fit[g] = Solve(g, codes[g], squares[g], products[g], next[g]);
    }
  }

  HWY_INLINE LaneMask Solve(std::size_t g, LaneFloats codes, LaneFloats squares,
                            LaneFloats products, LaneFit& fit) const {
    const LaneFloats determinant = hn::Sub(hn::Mul(weight_sum_[g], squares), hn::Mul(codes, codes));
    const LaneFloats scale =
        hn::Sub(hn::Mul(weight_sum_[g], products), hn::Mul(product_sum_[g], codes));
    const LaneFloats minimum = hn::Sub(hn::Mul(squares, product_sum_[g]), hn::Mul(codes, products));
    fit = {hn::Div(scale, determinant), hn::Div(minimum, determinant)};
    const LaneMask is_above = hn::Gt(fit.minimum, Same(0.0f));
    if (!hn::AllFalse(LaneTag(), is_above)) {
      fit.minimum = hn::IfThenZeroElse(is_above, fit.minimum);
      fit.scale = hn::IfThenElse(is_above, hn::Div(products, squares), fit.scale);
    }
    return hn::Gt(determinant, Same(0.0f));
  }

  LaneRows x_;
  LaneRows w_;
  LaneCodes limits_;
  LaneFloats min_[groups];
  LaneFloats max_[groups];
  LaneFloats weight_sum_[groups];
  LaneFloats product_sum_[groups];
  LaneMask is_flat_[groups];
  LaneFloats best_t_[groups];
  LaneFloats best_minimum_[groups];
  LaneFloats best_error_[groups];
  LaneTile<count * groups> l_;
};

/// Groups that are searched together: as many as the registers hold.
inline constexpr std::size_t affine_groups = lane_count >= 16 ? 2 : 1;

template <std::size_t count, std::size_t groups, bool is_absolute = false>
HWY_INLINE void SearchAffine(LaneRows x, LaneRows w, const AffineTries& tries, LaneFit* fits,
                             float* codes) {
  LaneAffineSearch<count, groups, is_absolute>(x, w, tries.max_code).Run(tries, fits, codes);
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
