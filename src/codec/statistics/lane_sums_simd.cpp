// SPDX-License-Identifier: MIT
#include "codec/cpu_targets.hpp"
#include "codec/statistics/lane_sums.hpp"

#define HWY_TARGET_INCLUDE "codec/statistics/lane_sums_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
void SumLanes(const float* numbers, std::size_t count, LaneSums& sums) {
  sum_lanes_ref(numbers, count, sums);
}
#else

/// The sums of as many lanes as a vector has.
class VectorSums {
  using F32 = hn::CappedTag<float, statistics_lanes / 2>;
  using I32 = hn::RebindToSigned<F32>;

 public:
  static constexpr std::size_t lanes = hn::MaxLanes(F32());

  /// Continues the sums of lanes first, first + 1, ...
  HWY_INLINE VectorSums(const LaneSums& sums, std::size_t first)
      : sums_(hn::Load(F32(), sums.sums + first)),
        squares_(hn::Load(F32(), sums.squares + first)),
        minima_(hn::Load(F32(), sums.minima + first)),
        maxima_(hn::Load(F32(), sums.maxima + first)),
        zeros_(hn::Zero(I32())) {}

  HWY_INLINE void Add(const float* numbers) {
    const auto number = hn::LoadU(F32(), numbers);
    sums_ = hn::Add(sums_, number);
    squares_ = hn::Add(squares_, hn::Mul(number, number));
    minima_ = hn::Min(number, minima_);
    maxima_ = hn::Max(number, maxima_);
    const auto is_zero = hn::RebindMask(I32(), hn::Eq(number, hn::Zero(F32())));
    zeros_ = hn::IfThenElse(is_zero, hn::Add(zeros_, hn::Set(I32(), 1)), zeros_);
  }

  HWY_INLINE void StoreTo(LaneSums& sums, std::size_t first) const {
    hn::Store(sums_, F32(), sums.sums + first);
    hn::Store(squares_, F32(), sums.squares + first);
    hn::Store(minima_, F32(), sums.minima + first);
    hn::Store(maxima_, F32(), sums.maxima + first);
    sums.zeros += static_cast<std::uint32_t>(hn::GetLane(hn::SumOfLanes(I32(), zeros_)));
  }

 private:
  hn::Vec<F32> sums_;
  hn::Vec<F32> squares_;
  hn::Vec<F32> minima_;
  hn::Vec<F32> maxima_;
  hn::Vec<I32> zeros_;
};

void SumLanes(const float* numbers, std::size_t count, LaneSums& sums) {
  constexpr std::size_t lanes = VectorSums::lanes;
  // Two vectors at a time: narrow ones pass over the numbers, which are in the first cache, again.
  for (std::size_t first = 0; first < statistics_lanes; first += 2 * lanes) {
    VectorSums low(sums, first);
    VectorSums high(sums, first + lanes);
    for (std::size_t i = first; i < count; i += statistics_lanes) {
      low.Add(numbers + i);
      high.Add(numbers + i + lanes);
    }
    low.StoreTo(sums, first);
    high.StoreTo(sums, first + lanes);
  }
}
#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::codec {

INGOT_KERNELS(SumLanes);
void sum_lanes(const float* numbers, std::size_t count, LaneSums& sums) noexcept {
  kernel_of(SumLanesKernels)(numbers, count, sums);
}

}  // namespace ingot::codec
#endif
