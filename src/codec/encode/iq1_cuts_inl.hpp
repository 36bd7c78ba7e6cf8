// SPDX-License-Identifier: MIT
// The search of the IQ1 kernels: the cuts of iq1_cuts.hpp, one way to cut per lane.
// Included once per CPU target, after hwy/highway.h.

// clang-format off
#if defined(INGOT_CODEC_IQ1_CUTS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_CODEC_IQ1_CUTS_INL_HPP
#undef INGOT_CODEC_IQ1_CUTS_INL_HPP
#else
#define INGOT_CODEC_IQ1_CUTS_INL_HPP
#endif
// clang-format on

#include <hwy/highway.h>

#include <bit>
#include <limits>

#include "codec/encode/iq1_cuts.hpp"
#include "codec/encode/snap_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

/// sorted_positions of iq1_cuts.hpp, by counting for each value those before it.
template <std::size_t elements>
HWY_INLINE void SortPositions(const float* x, std::array<std::uint8_t, elements>& order) {
  const SnapTag f32;
  const hn::RebindToSigned<SnapTag> i32;
  constexpr std::size_t vectors = elements / snap_lanes;
  SnapFloats values[vectors];
  hn::Vec<decltype(i32)> places[vectors];
  for (std::size_t v = 0; v < vectors; ++v) {
    values[v] = hn::LoadU(f32, x + v * snap_lanes);
    places[v] = hn::Zero(i32);
  }
  const auto lanes = hn::Iota(f32, 0.0f);
  for (std::size_t j = 0; j < elements; ++j) {
    const auto other = hn::Set(f32, x[j]);
    const auto is_after = hn::Gt(lanes, hn::Set(f32, static_cast<float>(j % snap_lanes)));
    for (std::size_t v = 0; v < vectors; ++v) {
      auto is_before = hn::Lt(other, values[v]);
      if (v == j / snap_lanes) {
        is_before = hn::Or(is_before, hn::And(is_after, hn::Eq(other, values[v])));
      } else if (v > j / snap_lanes) {
        is_before = hn::Le(other, values[v]);
      }
      places[v] = hn::Sub(places[v], hn::VecFromMask(i32, hn::RebindMask(i32, is_before)));
    }
  }
  HWY_ALIGN std::int32_t all_places[elements];
  for (std::size_t v = 0; v < vectors; ++v) hn::Store(places[v], i32, all_places + v * snap_lanes);
  for (std::size_t i = 0; i < elements; ++i)
    order[static_cast<std::size_t>(all_places[i])] = static_cast<std::uint8_t>(i);
}

/// Vectors of candidates that are compared at once.
inline constexpr std::size_t chains = 4;

/// Lanes where square / q is not less than the bound.
HWY_INLINE hn::Mask<SnapTag> IsClose(const float* squares, const float* q, SnapFloats bound) {
  const SnapTag f32;
  return hn::Ge(hn::Load(f32, squares), hn::Mul(bound, hn::Load(f32, q)));
}

/// The number of the candidate with the largest p * p / q, given p * p and q, if it is larger than
/// all others by more than rounding errors: then Cuts::consider chooses it too, in any order. (The
/// argument is in src/codec/README.md.) Else `count`, a multiple of chains * snap_lanes. Candidates
/// with an infinite q do not count.
HWY_INLINE std::size_t FindBest(const float* squares, const float* q, std::size_t count) {
  const SnapTag f32;
  SnapFloats best_p[chains];  // squared
  SnapFloats best_q[chains];
  for (std::size_t c = 0; c < chains; ++c) {
    best_p[c] = hn::Zero(f32);
    best_q[c] = hn::Set(f32, 1.0f);
  }
  for (std::size_t i = 0; i < count; i += chains * snap_lanes) {
    for (std::size_t c = 0; c < chains; ++c) {
      const auto square = hn::Load(f32, squares + i + c * snap_lanes);
      const auto other_q = hn::Load(f32, q + i + c * snap_lanes);
      const auto is_better = hn::Gt(hn::Mul(square, best_q[c]), hn::Mul(best_p[c], other_q));
      best_p[c] = hn::IfThenElse(is_better, square, best_p[c]);
      best_q[c] = hn::IfThenElse(is_better, other_q, best_q[c]);
    }
  }
  auto largest = hn::Zero(f32);
  for (std::size_t c = 0; c < chains; ++c) {
    // The squares must be far from subnormal and infinite numbers.
    const auto has_range =
        hn::And(hn::Gt(best_p[c], hn::Set(f32, 1e-25f)), hn::Lt(best_p[c], hn::Set(f32, 1e32f)));
    if (!hn::AllTrue(f32, has_range)) return count;
    largest = hn::Max(largest, hn::Div(best_p[c], best_q[c]));
  }
  largest = hn::MaxOfLanes(f32, largest);
  // The margin exceeds the sum of all rounding errors, here and in Cuts::consider.
  const auto bound = hn::Mul(largest, hn::Set(f32, 1.0f - 1e-6f));
  std::size_t found = count;
  for (std::size_t i = 0; i < count; i += chains * snap_lanes) {
    const auto c0 = IsClose(squares + i, q + i, bound);
    const auto c1 = IsClose(squares + i + snap_lanes, q + i + snap_lanes, bound);
    const auto c2 = IsClose(squares + i + 2 * snap_lanes, q + i + 2 * snap_lanes, bound);
    const auto c3 = IsClose(squares + i + 3 * snap_lanes, q + i + 3 * snap_lanes, bound);
    if (HWY_LIKELY(hn::AllFalse(f32, hn::Or(hn::Or(c0, c1), hn::Or(c2, c3))))) continue;
    const unsigned bits[chains] = {BitsOf(f32, c0), BitsOf(f32, c1), BitsOf(f32, c2),
                                   BitsOf(f32, c3)};
    for (std::size_t c = 0; c < chains; ++c) {
      if (bits[c] == 0) continue;
      if (found != count || std::popcount(bits[c]) != 1) return count;
      found = i + c * snap_lanes + static_cast<unsigned>(std::countr_zero(bits[c]));
    }
  }
  return found;
}

/// A candidate that no comparison chooses.
inline constexpr float infinite_q = std::numeric_limits<float>::infinity();

/// All ways to cut the 32 values of a group, for both shifts.
class CutsIQ1_S {
 public:
  HWY_INLINE CutsIQ1_S(const float* x, const float* w, const std::array<std::uint8_t, 32>& order) {
    for (std::size_t j = 0; j < 32; ++j) {
      const float weight = w[order[j]];
      sum_x_[j + 1] = sum_x_[j] + weight * x[order[j]];
      sum_w_[j + 1] = sum_w_[j] + weight;
    }
    FillRests();
    std::size_t count = 0;
    for (std::size_t first = 0; first <= 32; ++first) count = AddRow(first, count);
    const SnapTag f32;
    for (; count % (chains * snap_lanes) != 0; count += snap_lanes) {
      SetCandidates(count, hn::Zero(f32), hn::Set(f32, infinite_q));
    }
    count_ = count;
  }

  /// False if only the scalar search can decide.
  HWY_INLINE bool Find(Cuts& cuts) const {
    const std::size_t found = FindBest(squares_, q_, count_);
    if (found == count_) return false;
    const std::size_t vector = found / snap_lanes;
    const std::size_t first = starts_[vector / 2].first;
    const std::size_t second = starts_[vector / 2].second + found % snap_lanes;
    const unsigned minus = vector % 2;
    const auto& level = minus != 0 ? minus_levels : plus_levels;
    const float middle_x = sum_x_[second] - sum_x_[first];
    const float middle_w = sum_w_[second] - sum_w_[first];
    const float rest_p = minus != 0 ? minus_p_[second] : plus_p_[second];
    const float rest_q = minus != 0 ? minus_q_[second] : plus_q_[second];
    const float p = sum_x_[first] * level[0] + middle_x * level[1] + rest_p;
    const float q = sum_w_[first] * level[0] * level[0] + middle_w * level[1] * level[1] + rest_q;
    cuts.consider(p, q, first, second, minus);
    return true;
  }

 private:
  struct Start {
    std::uint8_t first;
    std::uint8_t second;
  };

  static constexpr std::size_t padded = 48;  // 33 cuts, and a vector from the last one on
  /// Each of 33 rows may be longer than needed by all lanes but one.
  static constexpr std::size_t cuts_max = 561 + 33 * (snap_lanes - 1) + chains * snap_lanes;

  /// The share of the values after the second cut in p and q.
  HWY_INLINE void FillRests() {
    const SnapTag f32;
    const auto plus = hn::Set(f32, plus_levels[2]);
    const auto minus = hn::Set(f32, minus_levels[2]);
    for (std::size_t j = 0; j < padded; j += snap_lanes) {
      const auto is_padding = hn::Gt(hn::Iota(f32, static_cast<float>(j)), hn::Set(f32, 32.0f));
      const auto infinite = hn::Set(f32, infinite_q);
      const auto rest_x = hn::Sub(hn::Set(f32, sum_x_[32]), hn::Load(f32, sum_x_ + j));
      const auto rest_w = hn::Sub(hn::Set(f32, sum_w_[32]), hn::Load(f32, sum_w_ + j));
      hn::Store(hn::Mul(rest_x, plus), f32, plus_p_ + j);
      hn::Store(hn::Mul(rest_x, minus), f32, minus_p_ + j);
      const auto plus_q = hn::Mul(hn::Mul(rest_w, plus), plus);
      const auto minus_q = hn::Mul(hn::Mul(rest_w, minus), minus);
      hn::Store(hn::IfThenElse(is_padding, infinite, plus_q), f32, plus_q_ + j);
      hn::Store(hn::IfThenElse(is_padding, infinite, minus_q), f32, minus_q_ + j);
    }
  }

  /// All second cuts for a first one. The middle levels have the same magnitude.
  HWY_INLINE std::size_t AddRow(std::size_t first, std::size_t count) {
    const SnapTag f32;
    const auto level = hn::Set(f32, plus_levels[1]);
    const float x = sum_x_[first];
    const float w = sum_w_[first];
    const auto plus_p = hn::Set(f32, x * plus_levels[0]);
    const auto minus_p = hn::Set(f32, x * minus_levels[0]);
    const auto plus_q = hn::Set(f32, w * plus_levels[0] * plus_levels[0]);
    const auto minus_q = hn::Set(f32, w * minus_levels[0] * minus_levels[0]);
    for (std::size_t second = first; second <= 32; second += snap_lanes) {
      const auto middle_x = hn::Sub(hn::LoadU(f32, sum_x_ + second), hn::Set(f32, x));
      const auto middle_w = hn::Sub(hn::LoadU(f32, sum_w_ + second), hn::Set(f32, w));
      const auto middle_p = hn::Mul(middle_x, level);
      const auto middle_q = hn::Mul(hn::Mul(middle_w, level), level);
      starts_[count / (2 * snap_lanes)] = {static_cast<std::uint8_t>(first),
                                           static_cast<std::uint8_t>(second)};
      SetCandidates(count, hn::Add(hn::Add(plus_p, middle_p), hn::LoadU(f32, plus_p_ + second)),
                    hn::Add(hn::Add(plus_q, middle_q), hn::LoadU(f32, plus_q_ + second)));
      SetCandidates(count + snap_lanes,
                    hn::Add(hn::Sub(minus_p, middle_p), hn::LoadU(f32, minus_p_ + second)),
                    hn::Add(hn::Add(minus_q, middle_q), hn::LoadU(f32, minus_q_ + second)));
      count += 2 * snap_lanes;
    }
    return count;
  }

  HWY_INLINE void SetCandidates(std::size_t first, SnapFloats p, SnapFloats q) {
    const SnapTag f32;
    hn::Store(hn::Mul(p, p), f32, squares_ + first);
    hn::Store(q, f32, q_ + first);
  }

  HWY_ALIGN float sum_x_[padded] = {};
  HWY_ALIGN float sum_w_[padded] = {};
  HWY_ALIGN float plus_p_[padded];
  HWY_ALIGN float plus_q_[padded];
  HWY_ALIGN float minus_p_[padded];
  HWY_ALIGN float minus_q_[padded];
  HWY_ALIGN float squares_[2 * cuts_max];
  HWY_ALIGN float q_[2 * cuts_max];
  Start starts_[cuts_max / snap_lanes + 1];
  std::size_t count_ = 0;
};

/// All ways to cut the 16 values of a group, for the shifts of two octets: OctetSums::consider with
/// a second cut in each lane.
class CutsIQ1_M {
 public:
  HWY_INLINE explicit CutsIQ1_M(const OctetSums& sums) : sums_(sums) {
    for (std::size_t first = 0; first <= 16; ++first) {
      for (std::size_t second = first; second <= 16; second += snap_lanes) {
        starts_[count_] = {static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(second)};
        AddRow(first, second, count_++ * row);
      }
    }
  }

  /// False if only the scalar search can decide.
  HWY_INLINE bool Find(Cuts& cuts) const {
    const std::size_t found = FindBest(squares_, q_, count_ * row);
    if (found == count_ * row) return false;
    const Start& start = starts_[found / row];
    sums_.consider(start.first, start.second + found % snap_lanes, cuts);
    return true;
  }

 private:
  struct Start {
    std::uint8_t first;
    std::uint8_t second;
  };

  static constexpr std::size_t row = 4 * snap_lanes;  // a vector for each of iq1_m_shifts
  static constexpr std::size_t rows_max = 17 * (16 / snap_lanes + 1);

  HWY_INLINE void AddRow(std::size_t first, std::size_t second, std::size_t at) {
    const SnapTag f32;
    SnapFloats p[2][2];
    SnapFloats q[2][2];
    for (std::size_t octet = 0; octet < 2; ++octet) {
      const auto& x = sums_.x[octet];
      const auto& w = sums_.w[octet];
      const auto before = hn::Add(hn::Set(f32, x[first]), hn::LoadU(f32, &x[second]));
      for (std::size_t minus = 0; minus < 2; ++minus) {
        const auto& [low, middle, high, _] = minus != 0 ? minus_levels : plus_levels;
        p[octet][minus] = hn::Sub(hn::Set(f32, x[16] * high), before);
        const float others = w[16] * high * high + w[first] * (low * low - middle * middle);
        const auto step = hn::Set(f32, middle * middle - high * high);
        q[octet][minus] = hn::Add(hn::Set(f32, others), hn::Mul(hn::LoadU(f32, &w[second]), step));
      }
    }
    const auto cuts = hn::Iota(f32, static_cast<float>(second));
    const auto is_padding = hn::Gt(cuts, hn::Set(f32, 16.0f));
    for (const unsigned minus : iq1_m_shifts) {
      const auto sum_p = hn::Add(p[0][minus & 1u], p[1][minus >> 1]);
      const auto sum_q = hn::Add(q[0][minus & 1u], q[1][minus >> 1]);
      hn::Store(hn::Mul(sum_p, sum_p), f32, squares_ + at);
      hn::Store(hn::IfThenElse(is_padding, hn::Set(f32, infinite_q), sum_q), f32, q_ + at);
      at += snap_lanes;
    }
  }

  const OctetSums& sums_;
  HWY_ALIGN float squares_[rows_max * row];
  HWY_ALIGN float q_[rows_max * row];
  Start starts_[rows_max];
  std::size_t count_ = 0;  // number of rows
};

/// A Method of iq1_encode.hpp. Functions that are not inlined may be called by code for any CPU.
struct LaneCuts {
  template <std::size_t elements>
  static HWY_NOINLINE float largest_magnitude(const float* x) {
    const SnapTag f32;
    auto largest = hn::Zero(f32);
    for (std::size_t i = 0; i < elements; i += snap_lanes) {
      largest = hn::Max(largest, hn::Abs(hn::LoadU(f32, x + i)));
    }
    return hn::GetLane(hn::MaxOfLanes(f32, largest));
  }

  static HWY_NOINLINE Cuts find_cuts(const float* x, const float* w,
                                     std::array<std::uint8_t, 32>& order) {
    SortPositions(x, order);
    const CutsIQ1_S all(x, w, order);
    Cuts cuts;
    return all.Find(cuts) ? cuts : codec::find_cuts_iq1_s(x, w, order);
  }

  static HWY_NOINLINE Cuts find_cuts(const float* x, const float* w,
                                     std::array<std::uint8_t, 16>& order) {
    SortPositions(x, order);
    const OctetSums sums(x, w, order);
    Cuts cuts;
    return CutsIQ1_M(sums).Find(cuts) ? cuts : find_cuts_iq1_m(sums);
  }

  static HWY_NOINLINE std::uint16_t snap_octet(const LatticeNeighbours& lattice,
                                               const LatticeSnap& snap, const float* x,
                                               const float* w, float scale, const float* levels) {
    if (snap.count == 0) return lattice.neighbour_ranks[snap.first];
    const OctetErrors errors = OctetErrors::Of8(x, w, levels, scale);
    const std::uint32_t* points = lattice.neighbour_points + snap.first;
    return lattice.neighbour_ranks[snap.first + Nearest<false>(errors, points, snap.count)];
  }
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
