// SPDX-License-Identifier: MIT
// The search for a scale and a minimum of one group: x ~ scale * code + minimum. Included once per
// CPU target, after hwy/highway.h.

// clang-format off
#if defined(INGOT_CODEC_LINES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_CODEC_LINES_INL_HPP
#undef INGOT_CODEC_LINES_INL_HPP
#else
#define INGOT_CODEC_LINES_INL_HPP
#endif
// clang-format on

#include <hwy/highway.h>

#include "codec/best/best_lanes_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

/// Where to look: scales that spread the codes over `first` to `last` of the range of a group.
struct AffineSearch {
  int max_code;
  float first;
  float last;
  int rounds;                 ///< The rounds of finding the best line for the codes, and the codes
                              ///< for the line.
  bool has_positive_minimum;  ///< If false, the line begins at 0 or below.
};

/// x ~ scale * code + minimum.
template <class Lanes>
struct Line {
  typename Lanes::Floats scale;
  typename Lanes::Floats minimum;
  typename Lanes::Floats gain;  ///< The error that it saves, compared with zeros.
};

/// Sums over a group with codes c.
template <class Lanes>
struct CodeSums {
  typename Lanes::Floats code;     ///< w * c
  typename Lanes::Floats square;   ///< w * c * c
  typename Lanes::Floats product;  ///< w * x * c
};

/// The codes of values from a minimum on, at a scale with the inverse `inverse`.
template <class Lanes>
HWY_INLINE typename Lanes::Floats CodeOf(typename Lanes::Floats value,
                                         typename Lanes::Floats minimum,
                                         typename Lanes::Floats inverse,
                                         typename Lanes::Floats max_code) {
  return RoundWithin<Lanes>((value - minimum) * inverse, Lanes::Set(0.0f), max_code);
}

template <class Lanes>
HWY_INLINE CodeSums<Lanes> SumCodes(Rows<Lanes> x, Rows<Lanes> w, std::size_t count,
                                    typename Lanes::Floats scale, typename Lanes::Floats minimum,
                                    int max_code) {
  using Floats = typename Lanes::Floats;
  const Floats inverse = DivideOrZero<Lanes>(Lanes::Set(1.0f), scale);
  const Floats largest = Lanes::Set(static_cast<float>(max_code));
  const Floats zero = Lanes::Set(0.0f);
  CodeSums<Lanes> sums = {zero, zero, zero};
  for (std::size_t i = 0; i < count; ++i) {
    const Floats value = x[i];
    const Floats code = CodeOf<Lanes>(value, minimum, inverse, largest);
    const Floats weighted = w[i] * code;
    sums.code = sums.code + weighted;
    sums.square = sums.square + weighted * code;
    sums.product = sums.product + weighted * value;
  }
  return sums;
}

/// The sum of w * e * e.
template <class Lanes>
HWY_INLINE typename Lanes::Floats LineError(Rows<Lanes> x, Rows<Lanes> w, std::size_t count,
                                            typename Lanes::Floats scale,
                                            typename Lanes::Floats minimum, int max_code) {
  using Floats = typename Lanes::Floats;
  const Floats inverse = DivideOrZero<Lanes>(Lanes::Set(1.0f), scale);
  const Floats largest = Lanes::Set(static_cast<float>(max_code));
  Floats error = Lanes::Set(0.0f);
  for (std::size_t i = 0; i < count; ++i) {
    const Floats value = x[i] - minimum;
    const Floats code = RoundWithin<Lanes>(value * inverse, Lanes::Set(0.0f), largest);
    const Floats difference = value - scale * code;
    error = error + w[i] * difference * difference;
  }
  return error;
}

/// A group of values with the sums that no code changes.
template <class Lanes>
struct ValueGroup {
  using Floats = typename Lanes::Floats;
  Rows<Lanes> x;
  Rows<Lanes> w;
  std::size_t count;
  Floats weight;   ///< Sum of w.
  Floats product;  ///< Sum of w * x.

  HWY_INLINE ValueGroup(Rows<Lanes> values, Rows<Lanes> weights, std::size_t value_count)
      : x(values),
        w(weights),
        count(value_count),
        weight(Lanes::Set(0.0f)),
        product(Lanes::Set(0.0f)) {
    for (std::size_t i = 0; i < count; ++i) {
      weight = weight + w[i];
      product = product + w[i] * x[i];
    }
  }

  /// The best line for codes.
  [[nodiscard]] HWY_INLINE Line<Lanes> Fit(const CodeSums<Lanes>& sums,
                                           bool has_positive_minimum) const {
    const Floats zero = Lanes::Set(0.0f);
    const Floats determinant = weight * sums.square - sums.code * sums.code;
    Floats scale = DivideOrZero<Lanes>(weight * sums.product - product * sums.code, determinant);
    Floats minimum = DivideOrZero<Lanes>(product - scale * sums.code, weight);
    if (!has_positive_minimum) {
      const auto is_above = Lanes::Less(zero, minimum);
      minimum = Lanes::Select(is_above, zero, minimum);
      scale = Lanes::Select(is_above, DivideOrZero<Lanes>(sums.product, sums.square), scale);
    }
    const Floats gain = scale * sums.product + minimum * product;
    return {scale, minimum, Lanes::Select(Lanes::Less(zero, scale), gain, zero)};
  }
};

/// The best line of a group, in real numbers.
template <class Lanes>
HWY_INLINE Line<Lanes> FindLine(const ValueGroup<Lanes>& group, const AffineSearch& search) {
  using Floats = typename Lanes::Floats;
  const Floats zero = Lanes::Set(0.0f);
  Floats smallest = group.x[0];
  Floats largest = group.x[0];
  for (std::size_t i = 1; i < group.count; ++i) {
    smallest = Lanes::Min(smallest, group.x[i]);
    largest = Lanes::Max(largest, group.x[i]);
  }
  if (!search.has_positive_minimum) smallest = Lanes::Min(smallest, zero);
  const Floats middle = (smallest + largest) * Lanes::Set(0.5f);
  const Floats range = largest - smallest;
  Line<Lanes> best = {zero, Lanes::Select(Lanes::Less(smallest, zero), smallest, zero), zero};
  for (int k = 0; k < 8; ++k) {
    const float part = search.first + (search.last - search.first) * static_cast<float>(k) / 7.0f;
    const Floats scale = range * Lanes::Set(part / static_cast<float>(search.max_code));
    for (int shift = -1; shift <= 1; ++shift) {
      const Floats offset = scale * Lanes::Set(0.25f * static_cast<float>(shift));
      Line<Lanes> line = {scale, (middle - range * Lanes::Set(0.5f * part)) + offset, zero};
      for (int round = 0; round < search.rounds; ++round) {
        const CodeSums<Lanes> sums = SumCodes<Lanes>(group.x, group.w, group.count, line.scale,
                                                     line.minimum, search.max_code);
        line = group.Fit(sums, search.has_positive_minimum);
      }
      const auto is_better = Lanes::Less(best.gain, line.gain);
      best.scale = Lanes::Select(is_better, line.scale, best.scale);
      best.minimum = Lanes::Select(is_better, line.minimum, best.minimum);
      best.gain = Lanes::Select(is_better, line.gain, best.gain);
    }
  }
  return best;
}

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
