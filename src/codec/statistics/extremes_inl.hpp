// SPDX-License-Identifier: MIT
// The extremes and the zeros of weights, for sums that never see them as floats. They are looked
// for among the floats of a block only if its scales say that there may be some that are not known
// yet; soon few blocks have a weight beyond all those before. Included once per CPU target, after
// hwy/highway.h.

// clang-format off
#if defined(INGOT_CODEC_EXTREMES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_CODEC_EXTREMES_INL_HPP
#undef INGOT_CODEC_EXTREMES_INL_HPP
#else
#define INGOT_CODEC_EXTREMES_INL_HPP
#endif
// clang-format on

#include <cmath>
#include <cstddef>

#include "codec/decode/decoding_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

/// Extremes that are known; weights beyond would be news.
struct KnownExtremes {
  float least;
  float most;
};

/// Levels times scale, where levels are -largest_level .. largest_level: whether one may lie beyond
/// the extremes known so far, or be 0 though its level is not. One mask bit for each scale.
template <class D>
[[nodiscard]] HWY_INLINE hn::Mask<D> MayHoldNews(D f32, hn::Vec<D> scale, int largest_level,
                                                 KnownExtremes known) {
  const auto bound = hn::Abs(hn::Mul(scale, hn::Set(f32, static_cast<float>(largest_level))));
  const auto nearest = hn::Set(f32, HWY_MIN(known.most, -known.least));
  return hn::Or(hn::Gt(bound, nearest), hn::Eq(scale, hn::Zero(f32)));
}

[[nodiscard]] HWY_INLINE bool MayHoldNews(float scale, int largest_level, KnownExtremes known) {
  const float bound = std::fabs(scale * static_cast<float>(largest_level));
  return scale == 0.0f || bound > HWY_MIN(known.most, -known.least);
}

/// The same of codes 0 .. largest_code times scale, plus offset: one may be 0.
template <class D>
[[nodiscard]] HWY_INLINE hn::Mask<D> MayHoldNews(D f32, hn::Vec<D> scale, hn::Vec<D> offset,
                                                 int largest_code, KnownExtremes known) {
  const auto last = hn::Add(hn::Mul(scale, hn::Set(f32, static_cast<float>(largest_code))), offset);
  const auto is_beyond = hn::Or(hn::Gt(hn::Max(offset, last), hn::Set(f32, known.most)),
                                hn::Lt(hn::Min(offset, last), hn::Set(f32, known.least)));
  // If a code gives 0, it is the integer next to -offset / scale: a reciprocal of 8 bits is near
  // enough for codes up to 31, and scales are 0 or no less than 2^-24, never subnormal floats.
  const auto minus_code = hn::Round(hn::Mul(offset, hn::ApproximateReciprocal(scale)));
  const auto has_zero =
      hn::Or(hn::Eq(hn::Mul(scale, minus_code), offset), hn::Eq(offset, hn::Zero(f32)));
  return hn::Or(is_beyond, has_zero);
}

/// The extremes of floats, and how many are 0.
class Extremes {
 public:
  HWY_INLINE Extremes(float least, float most)
      : least_(hn::Set(FloatTag(), least)), most_(hn::Set(FloatTag(), most)) {}

  HWY_INLINE void Add(Floats numbers) {
    least_ = hn::Min(least_, numbers);
    most_ = hn::Max(most_, numbers);
    zeros_ += hn::CountTrue(FloatTag(), hn::Eq(numbers, hn::Zero(FloatTag())));
  }

  // A zero loses its sign, which would depend on the order.
  [[nodiscard]] HWY_INLINE float Least() const {
    return hn::GetLane(hn::MinOfLanes(FloatTag(), least_)) + 0.0f;
  }
  [[nodiscard]] HWY_INLINE float Most() const {
    return hn::GetLane(hn::MaxOfLanes(FloatTag(), most_)) + 0.0f;
  }
  [[nodiscard]] HWY_INLINE std::size_t Zeros() const { return zeros_; }

 private:
  Floats least_;
  Floats most_;
  std::size_t zeros_ = 0;
};

struct ExtremesStore : FloatStore {
  Extremes* extremes;
  HWY_INLINE explicit ExtremesStore(Extremes* to) : extremes(to) {}
  HWY_INLINE void operator()(Floats value, const float*) const { extremes->Add(value); }
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
