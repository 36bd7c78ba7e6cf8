// SPDX-License-Identifier: MIT
// The search of the IQ2 and IQ3 kernels: LatticeFit of lattice_search.hpp with vectors. All tries
// of a group are rounded at once, one try per lane, and so are their sums; the candidates of a
// point outside the lattice are compared at once, one neighbour per lane. Included once per CPU
// target, after hwy/highway.h.

// clang-format off
#if defined(INGOT_CODEC_LATTICE_SEARCH_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_CODEC_LATTICE_SEARCH_INL_HPP
#undef INGOT_CODEC_LATTICE_SEARCH_INL_HPP
#else
#define INGOT_CODEC_LATTICE_SEARCH_INL_HPP
#endif
// clang-format on

#include <hwy/highway.h>

#include "codec/encode/lattice_search.hpp"
#include "codec/encode/snap_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

/// At most 31 tries; in multiples of the lanes.
inline constexpr std::size_t tries_max = 32;

/// LatticeFit for a group whose values and importances are finite, and small enough that no error
/// is infinite.
template <std::size_t elements, std::size_t dimensions>
class LaneFit {
 public:
  static constexpr std::size_t point_count = elements / dimensions;
  static constexpr int level_count = dimensions == 8 ? 3 : 8;
  static constexpr unsigned all_points = (1u << point_count) - 1;

  using Ranks = std::array<std::uint16_t, point_count>;

  // Functions that are not inlined may be called by code for any CPU.
  HWY_NOINLINE LaneFit(const LatticeNeighbours& lattice, const std::array<float, elements>& x,
                       const float* w)
      : lattice_(lattice) {
    const SnapTag f32;
    for (std::size_t i = 0; i < elements; i += snap_lanes) {
      const auto value = hn::LoadU(f32, x.data() + i);
      const auto weight = hn::LoadU(f32, w + i);
      hn::Store(value, f32, x_ + i);
      hn::Store(weight, f32, w_ + i);
      hn::Store(hn::Mul(weight, value), f32, wx_ + i);
      hn::Store(hn::Sqrt(weight), f32, root_w_ + i);
    }
    snap_.Set(x_, root_w_);
  }

  /// The scale, maybe negative; ranks() are the points.
  HWY_NOINLINE float find(const LatticeSearch& search) {
    const std::size_t count = FillTries(search);
    Snap(SnapTag(), count, all_points);
    SumUp(SnapTag(), count);
    float scale = search.start;
    float best = 0.0f;
    std::size_t best_try = tries_max;
    for (std::size_t k = 0; k < count; ++k) {
      if (q_[k] > 0.0f && p_[k] * p_[k] > best * q_[k]) {
        scale = p_[k] / q_[k];
        best = scale * p_[k];
        best_try = k;
      }
    }
    unsigned off_grid = search.is_on_grid ? 0 : all_points;
    std::uint32_t points[point_count] = {};
    if (best_try != tries_max) {
      off_grid = 0;
      for (std::size_t j = 0; j < point_count; ++j) {
        const std::size_t slot = j * tries_max + best_try;
        points[j] = points_[slot];
        ranks_[j] = lattice_.neighbour_ranks[indices_[slot]];
        off_grid |= lattice_.snaps[codes_[slot]].count != 0 ? 1u << j : 0u;
      }
    }
    if (!(scale > 0.0f) || (off_grid == 0 && search.resnap != Resnap::always)) return scale;
    if (search.resnap != Resnap::off_grid) off_grid = all_points;
    return Resnapped(scale, off_grid, points);
  }

  [[nodiscard]] HWY_NOINLINE const Ranks& ranks() const { return ranks_; }

 private:
  /// Short vectors for a single try.
  using OneTry = hn::CappedTag<float, 4>;

  /// Returns the number of tries.
  HWY_INLINE std::size_t FillTries(const LatticeSearch& search) {
    const SnapTag f32;
    const auto top = static_cast<float>(2 * level_count - 1);
    const auto count = static_cast<std::size_t>(2 * search.steps + 1);
    for (std::size_t k = 0; k < tries_max; ++k) {
      const float step = static_cast<float>(static_cast<int>(k) - search.steps);
      t_[k] = top + step * search.step;
    }
    for (std::size_t k = 0; k < tries_max; k += snap_lanes) {
      const auto t = hn::Div(hn::Load(f32, t_ + k), hn::Set(f32, search.extent));
      hn::Store(t, f32, t_ + k);
      hn::Store(hn::Div(hn::Set(f32, 1.0f), t), f32, scales_ + k);
    }
    return count;
  }

  /// Snaps all points with the chosen scale, keeps those of `mask`, and fits the scale to them.
  HWY_INLINE float Resnapped(float scale, unsigned mask, const std::uint32_t* points) {
    t_[0] = 1.0f / scale;
    scales_[0] = scale;
    Snap(OneTry(), 1, mask);
    for (std::size_t j = 0; j < point_count; ++j) {
      if ((mask >> j & 1u) != 0) {
        ranks_[j] = lattice_.neighbour_ranks[indices_[j * tries_max]];
      } else {
        points_[j * tries_max] = points[j];
      }
    }
    SumUp(OneTry(), 1);
    return q_[0] > 0.0f ? p_[0] / q_[0] : scale;
  }

  /// Fills points_ and indices_ for the first tries, of the points in `mask`.
  template <class D>
  HWY_INLINE void Snap(D f32, std::size_t count, unsigned mask) {
    for (std::size_t j = 0; j < point_count; ++j) {
      if ((mask >> j & 1u) == 0) continue;
      for (std::size_t k = 0; k < count; k += hn::Lanes(f32)) Round(f32, j, k);
      const std::size_t first = j * tries_max;
      snap_.Snap(lattice_, j, codes_ + first, scales_, count, points_ + first, indices_ + first);
    }
  }

  /// The codes of a rounded point, for a vector of tries.
  template <class D>
  HWY_INLINE void Round(D f32, std::size_t point, std::size_t first_try) {
    const hn::RebindToSigned<D> i32;
    const hn::RebindToUnsigned<D> u32;
    const auto t = hn::Load(f32, t_ + first_try);
    // Indices are clamped with the offset that round_even subtracts, which is then taken off the
    // code.
    constexpr std::uint32_t offset = 0x400000;
    std::uint32_t code_offset = 0;
    auto code = hn::Zero(i32);
    for (std::size_t i = dimensions; i-- > 0;) {
      const auto x = hn::Set(f32, x_[point * dimensions + i]);
      const auto level = hn::Mul(hn::Set(f32, 0.5f), hn::Sub(hn::Mul(t, x), hn::Set(f32, 1.0f)));
      const auto bits = hn::BitCast(i32, hn::Add(level, hn::Set(f32, 12582912.0f)));
      const auto rounded = hn::And(bits, hn::Set(i32, 0x7FFFFF));
      const auto index =
          hn::Min(hn::Max(rounded, hn::Set(i32, offset)), hn::Set(i32, offset + level_count - 1));
      const auto scaled =
          level_count == 8 ? hn::ShiftLeft<3>(code) : hn::Add(code, hn::ShiftLeft<1>(code));
      code = hn::Add(scaled, index);
      code_offset = code_offset * level_count + offset;
    }
    code = hn::Sub(code, hn::Set(i32, static_cast<std::int32_t>(code_offset)));
    hn::Store(hn::BitCast(u32, code), u32, codes_ + point * tries_max + first_try);
  }

  /// Fills p_ and q_ from points_, a vector of tries at once.
  template <class D>
  HWY_INLINE void SumUp(D f32, std::size_t count) {
    const hn::RebindToUnsigned<D> u32;
    for (std::size_t k = 0; k < count; k += hn::Lanes(f32)) {
      auto p = hn::Zero(f32);
      auto q = hn::Zero(f32);
      for (std::size_t j = 0; j < point_count; ++j) {
        auto point = hn::Load(u32, points_ + j * tries_max + k);
        for (std::size_t i = 0; i < dimensions; ++i, point = hn::ShiftRight<4>(point)) {
          const auto level = OddLevels(f32, point);
          const auto wx = hn::Set(f32, wx_[j * dimensions + i]);
          const auto w = hn::Set(f32, w_[j * dimensions + i]);
          p = hn::Add(p, hn::Mul(wx, level));
          q = hn::Add(q, hn::Mul(hn::Mul(w, level), level));
        }
      }
      hn::Store(p, f32, p_ + k);
      hn::Store(q, f32, q_ + k);
    }
  }

  const LatticeNeighbours& lattice_;
  HWY_ALIGN float x_[elements];
  HWY_ALIGN float w_[elements];
  HWY_ALIGN float wx_[elements];
  HWY_ALIGN float root_w_[elements];
  GroupSnap<elements, dimensions> snap_;
  HWY_ALIGN float t_[tries_max];
  HWY_ALIGN float scales_[tries_max];
  HWY_ALIGN float p_[tries_max];
  HWY_ALIGN float q_[tries_max];
  // The codes by point, then try.
  HWY_ALIGN std::uint32_t codes_[point_count * tries_max];
  HWY_ALIGN std::uint32_t points_[point_count * tries_max] = {};
  std::uint32_t indices_[point_count * tries_max];
  Ranks ranks_{};
};

/// A Method of iq2_encode.hpp and iq3_encode.hpp.
struct LaneMethod {
  template <std::size_t elements, std::size_t dimensions>
  using Fit = LaneFit<elements, dimensions>;

  template <std::size_t elements>
  static HWY_NOINLINE SignedMagnitudes<elements> split_signs(const float* x) {
    const SnapTag f32;
    SignedMagnitudes<elements> split{};
    for (std::size_t i = 0; i < elements; i += snap_lanes) {
      const auto value = hn::LoadU(f32, x + i);
      const auto is_negative = hn::Lt(value, hn::Zero(f32));
      hn::StoreU(hn::IfThenElse(is_negative, hn::Neg(value), value), f32, &split.magnitudes[i]);
      const unsigned bits = BitsOf(f32, is_negative) << (i % 8);
      split.signs[i / 8] |= static_cast<std::uint8_t>(bits);
      if constexpr (snap_lanes == 16) split.signs[i / 8 + 1] = static_cast<std::uint8_t>(bits >> 8);
    }
    return split;
  }

  template <std::size_t elements>
  static HWY_NOINLINE float largest(const std::array<float, elements>& values) {
    const SnapTag f32;
    auto largest = hn::LoadU(f32, values.data());
    for (std::size_t i = snap_lanes; i < elements; i += snap_lanes) {
      largest = hn::Max(largest, hn::LoadU(f32, &values[i]));
    }
    return hn::GetLane(hn::MaxOfLanes(f32, largest));
  }

  static HWY_NOINLINE float find_positive_scale(const float* x, const float* w, float largest) {
    std::array<std::uint8_t, 32> codes;
    return refine_positive<32>(x, w, FindInverseScale(x, w, largest), 4, codes.data());
  }

 private:
  /// The t of search_positive, one try per lane.
  static HWY_INLINE float FindInverseScale(const float* x, const float* w, float largest) {
    const SnapTag f32;
    const hn::RebindToSigned<SnapTag> i32;
    constexpr std::size_t tries = 9;
    HWY_ALIGN float ts[16];
    HWY_ALIGN float errors[16];
    for (int k = 0; k < 16; ++k) {
      const int step = k == 0 || k > 8 ? 0 : k < 5 ? k - 5 : k - 4;
      ts[k] = 0.1f * static_cast<float>(step) + 4.0f;
    }
    for (std::size_t k = 0; k < tries; k += snap_lanes) {
      const auto t = hn::Div(hn::Load(f32, ts + k), hn::Set(f32, largest));
      const auto scale = hn::Div(hn::Set(f32, 1.0f), t);
      // The first try does not cap codes, but keeps them in bytes.
      const auto first_lane = hn::Set(i32, -static_cast<std::int32_t>(k));
      const auto is_capped = hn::Ne(hn::Iota(i32, 0), first_lane);
      auto error = hn::Zero(f32);
      for (std::size_t i = 0; i < 32; ++i) {
        const auto value = hn::Set(f32, x[i]);
        const auto bits = hn::BitCast(i32, hn::Add(hn::Mul(t, value), hn::Set(f32, 12582912.0f)));
        const auto rounded = hn::Sub(hn::And(bits, hn::Set(i32, 0x7FFFFF)), hn::Set(i32, 0x400000));
        const auto code = hn::IfThenElse(is_capped, hn::Min(rounded, hn::Set(i32, 4)),
                                         hn::And(rounded, hn::Set(i32, 255)));
        const auto difference = hn::Sub(value, hn::Mul(scale, hn::ConvertTo(f32, code)));
        error = hn::Add(error, hn::Mul(hn::Mul(hn::Set(f32, w[i]), difference), difference));
      }
      hn::Store(t, f32, ts + k);
      hn::Store(error, f32, errors + k);
    }
    std::size_t best = 0;
    for (std::size_t k = 1; k < tries; ++k) {
      if (errors[k] < errors[best]) best = k;
    }
    return ts[best];
  }
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
