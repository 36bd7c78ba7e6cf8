// SPDX-License-Identifier: MIT
#include <limits>

#include "codec/cpu_targets.hpp"
#include "codec/lane_sums.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/lane_sums_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
void SumLanes(const float* numbers, std::size_t count, float center, LaneSums& sums) {
  sum_lanes_ref(numbers, count, center, sums);
}
#else
/// Nothing is subtracted around zero, which changes no bit.
template <bool is_centered>
HWY_INLINE void SumLanesAround(const float* numbers, std::size_t count, float center,
                               LaneSums& sums) {
  const hn::CappedTag<float, statistics_lanes> f32;
  const hn::RebindToSigned<decltype(f32)> i32;
  const auto one = hn::Set(i32, 1);
  const std::size_t lanes = hn::Lanes(f32);
  const auto middle = hn::Set(f32, center);
  const auto zero = hn::Zero(f32);
  sums.zeros = 0;
  // Narrow vectors pass over the numbers several times: a piece stays in the first cache.
  for (std::size_t first = 0; first < statistics_lanes; first += lanes) {
    auto distances = zero;
    auto squares = zero;
    auto minima = hn::Set(f32, std::numeric_limits<float>::infinity());
    auto maxima = hn::Set(f32, -std::numeric_limits<float>::infinity());
    auto zeros = hn::Zero(i32);
    for (std::size_t i = first; i < count; i += statistics_lanes) {
      const auto number = hn::LoadU(f32, numbers + i);
      const auto distance = is_centered ? hn::Sub(number, middle) : number;
      distances = hn::Add(distances, distance);
      squares = hn::Add(squares, hn::Mul(distance, distance));
      minima = hn::Min(number, minima);
      maxima = hn::Max(number, maxima);
      const auto is_zero = hn::RebindMask(i32, hn::Eq(number, zero));
      zeros = hn::IfThenElse(is_zero, hn::Add(zeros, one), zeros);
    }
    hn::Store(distances, f32, sums.distances + first);
    hn::Store(squares, f32, sums.squares + first);
    hn::Store(minima, f32, sums.minima + first);
    hn::Store(maxima, f32, sums.maxima + first);
    sums.zeros += static_cast<std::uint32_t>(hn::GetLane(hn::SumOfLanes(i32, zeros)));
  }
}

void SumLanes(const float* numbers, std::size_t count, float center, LaneSums& sums) {
  if (center == 0.0f) {
    SumLanesAround<false>(numbers, count, center, sums);
  } else {
    SumLanesAround<true>(numbers, count, center, sums);
  }
}
#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::codec {

INGOT_KERNELS(SumLanes);
void sum_lanes(const float* numbers, std::size_t count, float center, LaneSums& sums) noexcept {
  kernel_of(SumLanesKernels)(numbers, count, center, sums);
}

}  // namespace ingot::codec
#endif
