// SPDX-License-Identifier: MIT
// The search for one scale: x ~ scale * level. Included once per CPU target, after hwy/highway.h.

// clang-format off
#if defined(INGOT_CODEC_ONE_SCALE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_CODEC_ONE_SCALE_INL_HPP
#undef INGOT_CODEC_ONE_SCALE_INL_HPP
#else
#define INGOT_CODEC_ONE_SCALE_INL_HPP
#endif
// clang-format on

#include <hwy/highway.h>

#include "codec/best/best_lanes_inl.hpp"
#include "codec/encode/iq4_levels_inl.hpp"
#include "codec/encode/iq4_search.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

/// The integers from low to high.
template <int low, int high>
struct UniformLevels {
  template <class Lanes>
  static HWY_INLINE typename Lanes::Floats Nearest(typename Lanes::Floats value) {
    return RoundWithin<Lanes>(value, Lanes::Set(static_cast<float>(low)),
                              Lanes::Set(static_cast<float>(high)));
  }
};

/// iq4_values.
struct Iq4Levels {
  template <class Lanes>
  static HWY_INLINE typename Lanes::Floats Nearest(typename Lanes::Floats value) {
    value = Lanes::Max(Lanes::Min(value, Lanes::Set(113.0f)), Lanes::Set(-127.0f));
    if constexpr (Lanes::count == 1) {
      return static_cast<float>(iq4_values[nearest_iq4(value)]);
    } else {
#if HWY_TARGET != HWY_SCALAR
      return NearestIq4().Value(value);
#endif
    }
  }
};

/// Where to look for a scale: `count` scales that give the largest magnitude the levels from first
/// to last, or of which the inverse lies evenly between theirs.
struct ScaleTries {
  float first;
  float last;
  int count;
  bool is_even_in_scale = false;

  [[nodiscard]] float Level(int k) const {
    const float part = static_cast<float>(k) / static_cast<float>(count - 1);
    if (is_even_in_scale) return 1.0f / (1.0f / first + (1.0f / last - 1.0f / first) * part);
    return first + (last - first) * part;
  }
};

/// The sums of w * x * l and w * l * l over levels l. Their quotient is the best scale for them.
template <class Lanes>
struct LevelSums {
  typename Lanes::Floats product;
  typename Lanes::Floats square;

  HWY_INLINE LevelSums() : product(Lanes::Set(0.0f)), square(product) {}
};

/// The best of several sets of levels.
template <class Lanes>
struct BestScale {
  using Floats = typename Lanes::Floats;
  Floats scale;
  Floats gain;  ///< The error that the levels with their best scale save, compared with zeros.

  HWY_INLINE void Offer(const LevelSums<Lanes>& sums) {
    const Floats next = DivideOrZero<Lanes>(sums.product, sums.square);
    const Floats next_gain = next * sums.product;
    const auto is_better = Lanes::Less(gain, next_gain);
    scale = Lanes::Select(is_better, next, scale);
    gain = Lanes::Select(is_better, next_gain, gain);
  }
};

/// The tries whose sums are made in one walk.
inline constexpr int scales_at_once = 4;

/// Offers the levels of all tries, each with the sign, to `best`.
template <class Lanes, class Levels>
HWY_INLINE void TryScales(Rows<Lanes> x, Rows<Lanes> w, std::size_t count, const ScaleTries& tries,
                          typename Lanes::Floats largest, float sign, BestScale<Lanes>& best) {
  using Floats = typename Lanes::Floats;
  for (int first = 0; first < tries.count; first += scales_at_once) {
    Floats inverse[scales_at_once];
    LevelSums<Lanes> sums[scales_at_once];
    for (int j = 0; j < scales_at_once; ++j) {
      // The last try is repeated to fill the walk; that changes nothing.
      const int k = first + j < tries.count ? first + j : tries.count - 1;
      inverse[j] = Lanes::Set(sign * tries.Level(k)) / largest;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const Floats value = x[i];
      const Floats weight = w[i];
      for (int j = 0; j < scales_at_once; ++j) {
        const Floats level = Levels::template Nearest<Lanes>(value * inverse[j]);
        const Floats weighted = weight * level;
        sums[j].product = sums[j].product + weighted * value;
        sums[j].square = sums[j].square + weighted * level;
      }
    }
    for (int j = 0; j < scales_at_once; ++j) best.Offer(sums[j]);
  }
}

/// The best real scale of `count` values; 0 if they are zeros.
template <class Lanes, class Levels, std::size_t tries_count>
HWY_INLINE typename Lanes::Floats FindScale(Rows<Lanes> x, Rows<Lanes> w, std::size_t count,
                                            const ScaleTries (&all_tries)[tries_count],
                                            bool has_both_signs) {
  const auto magnitude = LargestMagnitude<Lanes>(x, count);
  const auto is_live = Lanes::Less(Lanes::Set(least_square), magnitude);
  const auto largest = Lanes::Select(is_live, magnitude, Lanes::Set(1.0f));
  BestScale<Lanes> best = {Lanes::Set(0.0f), Lanes::Set(0.0f)};
  for (const ScaleTries& tries : all_tries) {
    if (has_both_signs) TryScales<Lanes, Levels>(x, w, count, tries, largest, -1.0f, best);
    TryScales<Lanes, Levels>(x, w, count, tries, largest, 1.0f, best);
  }
  return best.scale;
}

/// A scale, with the levels that are nearest at it.
template <class Lanes>
struct MeasuredScale {
  typename Lanes::Floats scale;
  typename Lanes::Floats error;  ///< The sum of w * e * e.
  LevelSums<Lanes> sums;
};

template <class Lanes, class Levels>
HWY_INLINE MeasuredScale<Lanes> MeasureScale(Rows<Lanes> x, Rows<Lanes> w, std::size_t count,
                                             typename Lanes::Floats scale) {
  using Floats = typename Lanes::Floats;
  const Floats inverse = DivideOrZero<Lanes>(Lanes::Set(1.0f), scale);
  MeasuredScale<Lanes> measured = {scale, Lanes::Set(0.0f), {}};
  for (std::size_t i = 0; i < count; ++i) {
    const Floats value = x[i];
    const Floats weight = w[i];
    const Floats level = Levels::template Nearest<Lanes>(value * inverse);
    const Floats difference = value - scale * level;
    const Floats weighted = weight * level;
    measured.error = measured.error + weight * difference * difference;
    measured.sums.product = measured.sums.product + weighted * value;
    measured.sums.square = measured.sums.square + weighted * level;
  }
  return measured;
}

/// Alternates between the levels of a stored scale and the stored scale of these levels, as long
/// as the error falls. Returns the scale.
template <class Lanes, class Levels>
HWY_INLINE typename Lanes::Floats RefineStoredScale(Rows<Lanes> x, Rows<Lanes> w, std::size_t count,
                                                    typename Lanes::Floats scale) {
  auto best = MeasureScale<Lanes, Levels>(x, w, count, Lanes::RoundHalf(scale));
  for (int round = 0; round < 3; ++round) {
    const auto next_scale =
        Lanes::RoundHalf(DivideOrZero<Lanes>(best.sums.product, best.sums.square));
    const auto next = MeasureScale<Lanes, Levels>(x, w, count, next_scale);
    const auto is_better = Lanes::Less(next.error, best.error);
    if (!Lanes::IsAny(is_better)) break;
    best.scale = Lanes::Select(is_better, next.scale, best.scale);
    best.error = Lanes::Select(is_better, next.error, best.error);
    best.sums.product = Lanes::Select(is_better, next.sums.product, best.sums.product);
    best.sums.square = Lanes::Select(is_better, next.sums.square, best.sums.square);
  }
  return best.scale;
}

/// The levels nearest to `count` values at a scale, less the number of code 0, in a tile.
template <class Lanes, class Levels, std::size_t elements>
HWY_INLINE void PutLevels(Rows<Lanes> x, std::size_t first, std::size_t count,
                          typename Lanes::Floats scale, Tile<Lanes, elements>& levels) {
  const auto inverse = DivideOrZero<Lanes>(Lanes::Set(1.0f), scale);
  for (std::size_t i = first; i < first + count; ++i) {
    levels.Set(i, Levels::template Nearest<Lanes>(x[i] * inverse));
  }
}

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
