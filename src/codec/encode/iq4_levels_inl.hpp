// SPDX-License-Identifier: MIT
// The nearest levels of the IQ4 types, with one block per lane. Included once per CPU target, after
// hwy/highway.h.

// clang-format off
#if defined(INGOT_CODEC_IQ4_LEVELS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_CODEC_IQ4_LEVELS_INL_HPP
#undef INGOT_CODEC_IQ4_LEVELS_INL_HPP
#else
#define INGOT_CODEC_IQ4_LEVELS_INL_HPP
#endif
// clang-format on

#include <hwy/highway.h>

#include "codec/encode/lane_codes_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// iq4_values as floats, and the ones below each.
HWY_ALIGN constexpr float code_values[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                             1,    13,   25,  38,  53,  69,  89,  113};
HWY_ALIGN constexpr float lower_values[16] = {-127, -127, -104, -83, -65, -49, -35, -22,
                                              -10,  1,    13,   25,  38,  53,  69,  89};
/// Entry i: from here on, halfway, value i is nearer than value i - 1. All are exact, and so are
/// the distances near them: comparing with them is comparing the distances.
HWY_ALIGN constexpr float middles[16] = {-HUGE_VALF, -115.5f, -93.5f, -74.0f, -57.0f, -42.0f,
                                         -28.5f,     -16.0f,  -4.5f,  7.0f,   19.0f,  31.5f,
                                         45.5f,      61.0f,   79.0f,  101.0f};

/// Selects the value of nearest_iq4 in each lane.
class NearestIq4 {
 public:
  /// The value; requires -134.5 < v.
  [[nodiscard]] HWY_INLINE LaneFloats Value(LaneFloats v) const {
    const LaneInts index = Index(v);
    if constexpr (lane_count == 16) {  // a look-up costs less than making the other index
      const LaneMask is_upper = hn::Ge(v, Entry(middles, index));
      return hn::IfThenElse(is_upper, Entry(code_values, index), Entry(lower_values, index));
    } else {
      return Entry(code_values, Below(v, index));
    }
  }

  /// The code, for any v.
  [[nodiscard]] HWY_INLINE LaneInts Code(LaneFloats v) const {
    const LaneFloats top = Same(113.0f);
    v = hn::IfThenElse(hn::Lt(v, top), v, top);  // also replaces NaN
    v = hn::Max(v, Same(-127.0f));
    return Below(v, Index(v));
  }

 private:
  /// i such that the code is i or i - 1: the middles are close to where this parabola (on each side
  /// of 0) is an integer, within 0.06.
  [[nodiscard]] static HWY_INLINE LaneInts Index(LaneFloats v) {
    v = hn::Min(v, Same(104.0f));  // from 101 on the code is 15
    const LaneFloats slope = hn::Sub(Same(0.0899f), hn::Mul(Same(0.000232f), hn::Abs(v)));
    const LaneFloats place = hn::Add(hn::Mul(slope, v), Same(8.343292f));
    const LaneInts bits = hn::BitCast(LaneIntTag(), hn::Add(place, Same(12582912.0f)));
    return hn::And(bits, hn::Set(LaneIntTag(), 15));
  }

  /// The index, or the one below if v is below the middle of the two.
  [[nodiscard]] static HWY_INLINE LaneInts Below(LaneFloats v, LaneInts index) {
    const LaneMask is_below = hn::Lt(v, Entry(middles, index));
    return hn::Add(index, hn::BitCast(LaneIntTag(), hn::VecFromMask(LaneTag(), is_below)));
  }

  [[nodiscard]] static HWY_INLINE LaneFloats Entry(const float* table, LaneInts index) {
    const LaneTag f32;
    const LaneIntTag i32;
    if constexpr (lane_count == 16) {
      return hn::TableLookupLanes(hn::Load(f32, table), hn::IndicesFromVec(f32, index));
    } else if constexpr (lane_count == 8) {
      const auto place = hn::IndicesFromVec(f32, hn::And(index, hn::Set(i32, 7)));
      const LaneFloats low = hn::TableLookupLanes(hn::Load(f32, table), place);
      const LaneFloats high = hn::TableLookupLanes(hn::Load(f32, table + 8), place);
      const LaneMask is_high = hn::MaskFromVec(hn::BitCast(f32, hn::ShiftLeft<28>(index)));
      return hn::IfThenElse(is_high, high, low);
    } else {
      return hn::GatherIndex(f32, table, index);
    }
  }
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
