// SPDX-License-Identifier: MIT
// The searches that quantizers share, one block after the other: the definition. All sums run left
// to right in binary32. The order of tries matters: a later one wins only if it is better.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "codec/encode/quantize_common.hpp"

namespace ingot::codec {

/// Below this largest magnitude a block counts as zero.
inline constexpr float least_magnitude = 1e-15f;

/// The value of the largest magnitude, with its sign; the first of several; 0 if there is none.
[[nodiscard]] inline float signed_extreme(const float* x, std::size_t count) noexcept {
  float extreme = 0.0f;
  for (std::size_t i = 0; i < count; ++i) {
    if (std::fabs(x[i]) > std::fabs(extreme)) extreme = x[i];
  }
  return extreme;
}

/// The largest value that is above 0; 0 if there is none.
[[nodiscard]] inline float largest_positive(const float* x, std::size_t count) noexcept {
  float largest = 0.0f;
  for (std::size_t i = 0; i < count; ++i) {
    if (x[i] > largest) largest = x[i];
  }
  return largest;
}

[[nodiscard]] inline float sum_of(const float* x, std::size_t count) noexcept {
  float sum = 0.0f;
  for (std::size_t i = 0; i < count; ++i) sum += x[i];
  return sum;
}

[[nodiscard]] inline float sum_of_squares(const float* x, std::size_t count) noexcept {
  float sum = 0.0f;
  for (std::size_t i = 0; i < count; ++i) sum += x[i] * x[i];
  return sum;
}

/// w[i] = u[i] * sqrt(mean_square + x[i]^2): the weight of an error, from the importances u.
inline void weigh_by_importance(const float* x, const float* u, float mean_square,
                                std::size_t count, float* w) noexcept {
  for (std::size_t i = 0; i < count; ++i) w[i] = u[i] * std::sqrt(mean_square + x[i] * x[i]);
}

/// w[i] = x[i]^2
inline void weigh_by_square(const float* x, std::size_t count, float* w) noexcept {
  for (std::size_t i = 0; i < count; ++i) w[i] = x[i] * x[i];
}

[[nodiscard]] inline float to_float(int code) noexcept { return static_cast<float>(code); }

/// The best scale of given codes l is product / square.
struct CodeSums {
  float product = 0.0f;  ///< sum of (w * x) * l
  float square = 0.0f;   ///< sum of (w * l) * l

  void add(float x, float w, float code) noexcept {
    product += (w * x) * code;
    square += (w * code) * code;
  }
  [[nodiscard]] CodeSums without(float x, float w, float code) const noexcept {
    return {product - (w * x) * code, square - (w * code) * code};
  }
  [[nodiscard]] CodeSums with(float x, float w, float code) const noexcept {
    return {product + (w * x) * code, square + (w * code) * code};
  }
};

[[nodiscard]] inline int symmetric_code(float x, float t, int limit) noexcept {
  return std::clamp(round_even(t * x), -limit, limit - 1);
}

/// x[i] ~ scale * l, -limit <= l < limit, codes[i] = l + limit. Returns the scale.
template <std::size_t count>
float search_symmetric(const float* x, const float* w, int limit, std::uint8_t* codes) noexcept {
  const float extreme = signed_extreme(x, count);
  std::fill_n(codes, count, std::uint8_t{0});
  if (std::fabs(extreme) < least_magnitude) return 0.0f;
  const auto sums_of = [&](float t) {
    CodeSums sums;
    for (std::size_t i = 0; i < count; ++i) {
      sums.add(x[i], w[i], to_float(symmetric_code(x[i], t, limit)));
    }
    return sums;
  };
  float best_t = -to_float(limit) / extreme;
  CodeSums sums = sums_of(best_t);
  float scale = sums.square != 0.0f ? sums.product / sums.square : 0.0f;
  float best = scale * sums.product;
  for (int k = -9; k <= 9; ++k) {
    if (k == 0) continue;
    const float t = -(to_float(limit) + 0.1f * to_float(k)) / extreme;
    sums = sums_of(t);
    if (!(sums.square > 0.0f && sums.product * sums.product > best * sums.square)) continue;
    best_t = t;
    scale = sums.product / sums.square;
    best = scale * sums.product;
  }
  for (std::size_t i = 0; i < count; ++i) {
    codes[i] = static_cast<std::uint8_t>(symmetric_code(x[i], best_t, limit) + limit);
  }
  return scale;
}

/// The tries of search_affine: ranges of first + step * k more than max_code steps, k up to
/// last_try.
struct AffineTries {
  int max_code;
  float first;
  float step;
  int last_try;
  bool is_absolute = false;  ///< Whether errors count by magnitude, not by square.
};

/// The tries of all types with importances.
[[nodiscard]] constexpr AffineTries affine_weighted_tries(int max_code) noexcept {
  return {max_code, -0.9f, 0.05f, 36};
}

struct AffineFit {
  float scale = 0.0f;
  float minimum = 0.0f;  ///< The minimum of the values: 0 or below.
};

/// One block's values and weights in a search for a scale and a minimum.
template <std::size_t count>
class AffineSearch {
 public:
  AffineSearch(const float* x, const float* w, const AffineTries& tries) noexcept
      : x_(x), w_(w), tries_(tries) {
    min_ = max_ = x[0];
    weight_sum_ = w[0];
    product_sum_ = w[0] * x[0];
    for (std::size_t i = 1; i < count; ++i) {
      if (x[i] < min_) min_ = x[i];
      if (x[i] > max_) max_ = x[i];
      weight_sum_ += w[i];
      product_sum_ += w[i] * x[i];
    }
    if (min_ > 0.0f) min_ = 0.0f;
  }

  AffineFit run(std::uint8_t* codes) noexcept {
    std::fill_n(codes, count, std::uint8_t{0});
    AffineFit fit = {0.0f, min_};
    if (max_ <= min_) return fit;
    float t = to_float(tries_.max_code) / (max_ - min_);
    std::array<float, count> l = codes_of(t, min_);
    fit.scale = 1.0f / t;
    float best_error = error(l, fit);
    keep(l, codes);
    for (int k = 0; k <= tries_.last_try; ++k) {
      const float range = (tries_.first + tries_.step * to_float(k)) + to_float(tries_.max_code);
      t = range / (max_ - fit.minimum);
      l = codes_of(t, fit.minimum);
      AffineFit next;
      if (!refit(l, next)) continue;
      const float next_error = error(l, next);
      if (!(next_error < best_error)) continue;
      best_error = next_error;
      fit = next;
      keep(l, codes);
    }
    return fit;
  }

 private:
  using Codes = std::array<float, count>;

  [[nodiscard]] Codes codes_of(float t, float minimum) const noexcept {
    Codes l;
    for (std::size_t i = 0; i < count; ++i) {
      l[i] = to_float(std::clamp(round_even(t * (x_[i] - minimum)), 0, tries_.max_code));
    }
    return l;
  }

  static void keep(const Codes& l, std::uint8_t* codes) noexcept {
    for (std::size_t i = 0; i < count; ++i) codes[i] = static_cast<std::uint8_t>(l[i]);
  }

  [[nodiscard]] float error(const Codes& l, const AffineFit& fit) const noexcept {
    float sum = 0.0f;
    for (std::size_t i = 0; i < count; ++i) {
      const float d = (fit.scale * l[i] + fit.minimum) - x_[i];
      sum += w_[i] * (tries_.is_absolute ? std::fabs(d) : d * d);
    }
    return sum;
  }

  /// The best fit for the codes; false if there is none.
  bool refit(const Codes& l, AffineFit& fit) const noexcept {
    float codes = 0.0f;     // sum of w * l
    float squares = 0.0f;   // sum of (w * l) * l
    float products = 0.0f;  // sum of (w * l) * x
    for (std::size_t i = 0; i < count; ++i) {
      const float wl = w_[i] * l[i];
      codes += wl;
      squares += wl * l[i];
      products += wl * x_[i];
    }
    const float determinant = weight_sum_ * squares - codes * codes;
    if (!(determinant > 0.0f)) return false;
    fit.scale = (weight_sum_ * products - product_sum_ * codes) / determinant;
    fit.minimum = (squares * product_sum_ - codes * products) / determinant;
    if (fit.minimum > 0.0f) {
      fit.minimum = 0.0f;
      fit.scale = products / squares;
    }
    return true;
  }

  const float* x_;
  const float* w_;
  AffineTries tries_;
  float min_;  // the minimum; 0 if all values are above
  float max_;
  float weight_sum_;
  float product_sum_;  // sum of w * x
};

/// x[i] ~ scale * codes[i] + minimum, 0 <= codes[i] <= max_code.
template <std::size_t count>
AffineFit search_affine(const float* x, const float* w, const AffineTries& tries,
                        std::uint8_t* codes) noexcept {
  return AffineSearch<count>(x, w, tries).run(codes);
}

/// Makes up to five passes over all codes. Each code becomes the best one for the others as they
/// are. The callables give the code of element i as an integer, and set it.
template <std::size_t count, bool is_positive, class CodeOf, class SetCode>
void refine_codes(const float* x, const float* w, int min_code, int max_code, CodeSums& sums,
                  const CodeOf& code_of, const SetCode& set_code) noexcept {
  for (int pass = 0; pass < 5; ++pass) {
    bool is_changed = false;
    for (std::size_t i = 0; i < count; ++i) {
      const CodeSums rest = sums.without(x[i], w[i], to_float(code_of(i)));
      if (!(rest.product > 0.0f)) continue;
      if (is_positive && !(rest.square > 0.0f)) continue;
      const int code =
          std::clamp(round_even((x[i] * rest.square) / rest.product), min_code, max_code);
      if (code == code_of(i)) continue;
      const CodeSums next = rest.with(x[i], w[i], to_float(code));
      if (!is_positive && !(next.square > 0.0f)) continue;
      if (!((next.product * next.product) * sums.square >
            (sums.product * sums.product) * next.square)) {
        continue;
      }
      set_code(i, code);
      sums = next;
      is_changed = true;
    }
    if (!is_changed) return;
  }
}

[[nodiscard]] inline float scale_of(const CodeSums& sums) noexcept {
  return sums.square > 0.0f ? sums.product / sums.square : 0.0f;
}

/// The scale of x[i] ~ scale * codes[i], 0 <= codes[i] <= max_code, for values that are not
/// negative, from rounding t * x[i] on. Codes are bytes at all times: the code -1 of a negative
/// value counts as 255 from then on.
template <std::size_t count>
float refine_positive(const float* x, const float* w, float t, int max_code,
                      std::uint8_t* codes) noexcept {
  std::array<int, count> kept;  // not bytes, whose stores might alias anything
  CodeSums sums;
  for (std::size_t i = 0; i < count; ++i) {
    const int code = std::min(max_code, round_even(t * x[i]));
    sums.add(x[i], w[i], to_float(code));
    kept[i] = code & 255;
  }
  constexpr int least = -0x400000;  // the least result of round_even, so no lower bound
  refine_codes<count, true>(
      x, w, least, max_code, sums, [&](std::size_t i) { return kept[i]; },
      [&](std::size_t i, int code) { kept[i] = code & 255; });
  for (std::size_t i = 0; i < count; ++i) codes[i] = static_cast<std::uint8_t>(kept[i]);
  return scale_of(sums);
}

/// Works like refine_positive from the t, near max_code over the largest value, for which rounding
/// loses least.
template <std::size_t count>
float search_positive(const float* x, const float* w, int max_code, std::uint8_t* codes) noexcept {
  const float largest = largest_positive(x, count);
  std::fill_n(codes, count, std::uint8_t{0});
  if (largest < least_magnitude) return 0.0f;
  const auto error_of = [&](float t, bool is_first) {
    const float scale = 1.0f / t;
    float sum = 0.0f;
    for (std::size_t i = 0; i < count; ++i) {
      const int rounded = round_even(t * x[i]);
      const int code = is_first ? rounded & 255 : std::min(max_code, rounded);
      const float d = x[i] - scale * to_float(code);
      sum += (w[i] * d) * d;
    }
    return sum;
  };
  float t = to_float(max_code) / largest;
  float best_error = error_of(t, true);
  for (int k = -4; k <= 4; ++k) {
    if (k == 0) continue;
    const float next_t = (0.1f * to_float(k) + to_float(max_code)) / largest;
    const float error = error_of(next_t, false);
    if (!(error < best_error)) continue;
    best_error = error;
    t = next_t;
  }
  return refine_positive<count>(x, w, t, max_code, codes);
}

/// Works like search_symmetric with weights of x[i]^2: one try, then refinement code by code.
template <std::size_t count>
float search_by_descent(const float* x, int limit, std::uint8_t* codes) noexcept {
  const float extreme = signed_extreme(x, count);
  std::fill_n(codes, count, std::uint8_t{0});
  if (std::fabs(extreme) < least_magnitude) return 0.0f;
  std::array<float, count> w;
  weigh_by_square(x, count, w.data());
  const float t = -to_float(limit) / extreme;
  CodeSums sums;
  for (std::size_t i = 0; i < count; ++i) {
    const int code = symmetric_code(x[i], t, limit);
    sums.add(x[i], w[i], to_float(code));
    codes[i] = static_cast<std::uint8_t>(code + limit);
  }
  refine_codes<count, false>(
      x, w.data(), -limit, limit - 1, sums, [&](std::size_t i) { return codes[i] - limit; },
      [&](std::size_t i, int code) { codes[i] = static_cast<std::uint8_t>(code + limit); });
  return scale_of(sums);
}

/// Chooses the codes anew for the scales that are stored: codes[i] = the clamped rounding of
/// (x[i] + minimum) / scale, minus `least`. Without a scale they stay.
inline void round_to_scale(const float* x, std::size_t count, float scale, float minimum, int least,
                           int greatest, std::uint8_t* codes) noexcept {
  if (scale == 0.0f) return;
  for (std::size_t i = 0; i < count; ++i) {
    const int code = std::clamp(round_even((x[i] + minimum) / scale), least, greatest);
    codes[i] = static_cast<std::uint8_t>(code - least);
  }
}

}  // namespace ingot::codec
