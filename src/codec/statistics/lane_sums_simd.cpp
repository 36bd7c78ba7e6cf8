// SPDX-License-Identifier: MIT
#include "codec/cpu_targets.hpp"
#include "codec/statistics/lane_sums.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/statistics/lane_sums_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codec/statistics/lane_sums_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
void SumLanes(const float* numbers, std::size_t count, float center, LaneSums& sums) {
  sum_lanes_ref(numbers, count, center, sums);
}
#else
template <bool is_centered>
HWY_INLINE void SumLanesAround(const float* numbers, std::size_t count, float center,
                               LaneSums& sums) {
  const hn::CappedTag<float, statistics_lanes> f32;
  // Narrow vectors pass over the numbers several times: a piece stays in the first cache.
  for (std::size_t first = 0; first < statistics_lanes; first += hn::Lanes(f32)) {
    VectorSums<is_centered> lanes(center, sums, first);
    for (std::size_t i = first; i < count; i += statistics_lanes) {
      lanes.Add(hn::LoadU(f32, numbers + i));
    }
    lanes.StoreTo(sums, first);
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
