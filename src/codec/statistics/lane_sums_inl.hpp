// SPDX-License-Identifier: MIT
// The sums of lane_sums.hpp in vectors. Included once per CPU target, after hwy/highway.h.

// clang-format off
#if defined(INGOT_CODEC_LANE_SUMS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_CODEC_LANE_SUMS_INL_HPP
#undef INGOT_CODEC_LANE_SUMS_INL_HPP
#else
#define INGOT_CODEC_LANE_SUMS_INL_HPP
#endif
// clang-format on

#include <hwy/highway.h>

#include "codec/statistics/lane_sums.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

/// The sums of as many lanes as a vector has. Around zero nothing is subtracted, which changes no
/// bit.
template <bool is_centered>
class VectorSums {
  using F32 = hn::CappedTag<float, statistics_lanes>;
  using I32 = hn::RebindToSigned<F32>;
  using Vector = hn::Vec<F32>;

 public:
  /// They go on from those of lanes first, first + 1, ...
  HWY_INLINE VectorSums(float center, const LaneSums& sums, std::size_t first)
      : center_(hn::Set(F32(), center)),
        distances_(hn::Load(F32(), sums.distances + first)),
        squares_(hn::Load(F32(), sums.squares + first)),
        minima_(hn::Load(F32(), sums.minima + first)),
        maxima_(hn::Load(F32(), sums.maxima + first)),
        zeros_(hn::Zero(I32())) {}

  HWY_INLINE void Add(Vector number) {
    const Vector distance = is_centered ? hn::Sub(number, center_) : number;
    distances_ = hn::Add(distances_, distance);
    squares_ = hn::Add(squares_, hn::Mul(distance, distance));
    minima_ = hn::Min(number, minima_);
    maxima_ = hn::Max(number, maxima_);
    const auto is_zero = hn::RebindMask(I32(), hn::Eq(number, hn::Zero(F32())));
    zeros_ = hn::IfThenElse(is_zero, hn::Add(zeros_, hn::Set(I32(), 1)), zeros_);
  }

  HWY_INLINE void StoreTo(LaneSums& sums, std::size_t first) const {
    hn::Store(distances_, F32(), sums.distances + first);
    hn::Store(squares_, F32(), sums.squares + first);
    hn::Store(minima_, F32(), sums.minima + first);
    hn::Store(maxima_, F32(), sums.maxima + first);
    sums.zeros += static_cast<std::uint32_t>(hn::GetLane(hn::SumOfLanes(I32(), zeros_)));
  }

 private:
  Vector center_;
  Vector distances_;
  Vector squares_;
  Vector minima_;
  Vector maxima_;
  hn::Vec<I32> zeros_;
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
