// SPDX-License-Identifier: MIT
#include "codec/cpu_targets.hpp"
#include "codec/lane_sums.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/lane_sums_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <limits>

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
void SumLanes(const float* numbers, std::size_t count, LaneSums& sums) {
  sum_lanes_ref(numbers, count, sums);
}

void SumSquares(const float* numbers, std::size_t count, float center,
                float (&squares)[statistics_lanes]) {
  sum_squares_ref(numbers, count, center, squares);
}
#else
using Floats = hn::CappedTag<float, statistics_lanes>;

// Vectors that make up the 16 lanes.
inline constexpr std::size_t vector_count = statistics_lanes / HWY_MIN(16, HWY_LANES(float));

void SumLanes(const float* numbers, std::size_t count, LaneSums& sums) {
  const Floats f32;
  const std::size_t lanes = hn::Lanes(f32);
  const auto zero = hn::Zero(f32);
  const auto one = hn::Set(f32, 1.0f);
  for (std::size_t v = 0; v < vector_count; ++v) {
    auto sum = zero;
    auto minimum = hn::Set(f32, std::numeric_limits<float>::infinity());
    auto maximum = hn::Set(f32, -std::numeric_limits<float>::infinity());
    auto zeros = zero;
    for (std::size_t i = v * lanes; i < count; i += statistics_lanes) {
      const auto number = hn::LoadU(f32, numbers + i);
      sum = hn::Add(sum, number);
      minimum = hn::Min(number, minimum);
      maximum = hn::Max(number, maximum);
      zeros = hn::Add(zeros, hn::IfThenElseZero(hn::Eq(number, zero), one));
    }
    hn::Store(sum, f32, sums.sums + v * lanes);
    hn::Store(minimum, f32, sums.minima + v * lanes);
    hn::Store(maximum, f32, sums.maxima + v * lanes);
    hn::Store(zeros, f32, sums.zeros + v * lanes);
  }
}

void SumSquares(const float* numbers, std::size_t count, float center,
                float (&squares)[statistics_lanes]) {
  const Floats f32;
  const std::size_t lanes = hn::Lanes(f32);
  const auto middle = hn::Set(f32, center);
  for (std::size_t v = 0; v < vector_count; ++v) {
    auto sum = hn::Zero(f32);
    for (std::size_t i = v * lanes; i < count; i += statistics_lanes) {
      const auto distance = hn::Sub(hn::LoadU(f32, numbers + i), middle);
      sum = hn::Add(sum, hn::Mul(distance, distance));
    }
    hn::StoreU(sum, f32, squares + v * lanes);
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

INGOT_KERNELS(SumSquares);
void sum_squares(const float* numbers, std::size_t count, float center,
                 float (&squares)[statistics_lanes]) noexcept {
  kernel_of(SumSquaresKernels)(numbers, count, center, squares);
}

}  // namespace ingot::codec
#endif
