// SPDX-License-Identifier: MIT
// Finding the nearest neighbours of points outside a lattice: snap_to_rank of lattice_search.hpp,
// one neighbour per lane. Included once per CPU target, after hwy/highway.h.

// clang-format off
#if defined(INGOT_CODEC_SNAP_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_CODEC_SNAP_INL_HPP
#undef INGOT_CODEC_SNAP_INL_HPP
#else
#define INGOT_CODEC_SNAP_INL_HPP
#endif
// clang-format on

#include <hwy/highway.h>

#include <bit>
#include <cstdint>
#include <type_traits>

#include "codec/lattice/lattice_neighbours.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

using SnapTag = hn::CappedTag<float, 16>;
using SnapFloats = hn::Vec<SnapTag>;
using SnapBits = hn::Vec<hn::RebindToUnsigned<SnapTag>>;

inline constexpr std::size_t snap_lanes = HWY_MIN(std::size_t{16}, HWY_LANES(float));

/// table[lowest bits of index]: four bits for a table of 16, three for 8, two for 4.
template <class D>
HWY_INLINE hn::Vec<D> LookUp(D f32, hn::Vec<D> table, hn::Vec<hn::RebindToUnsigned<D>> index) {
  // With more lanes, the instruction ignores higher bits; debug builds of Highway do not.
  constexpr std::size_t lanes = HWY_MIN(HWY_LANES(float), hn::MaxLanes(D()));
  if constexpr (lanes < 8 || HWY_IS_DEBUG_BUILD) {
    index = hn::And(index, hn::Set(hn::RebindToUnsigned<D>(), lanes - 1));
  }
  return hn::TableLookupLanes(table, hn::IndicesFromVec(f32, index));
}

/// 2 * l + 1 for the level index l in the lowest four bits; at most 7.
template <class D>
HWY_INLINE hn::Vec<D> OddLevels(D f32, hn::Vec<hn::RebindToUnsigned<D>> point) {
  const hn::RebindToSigned<D> i32;
  if constexpr (hn::MaxLanes(D()) >= 8) {
    HWY_ALIGN static constexpr float levels[16] = {1, 3, 5, 7, 9, 11, 13, 15,
                                                   1, 3, 5, 7, 9, 11, 13, 15};
    return LookUp(f32, hn::Load(f32, levels), point);
  } else {
    const auto index = hn::And(hn::BitCast(i32, point), hn::Set(i32, 15));
    return hn::ConvertTo(f32, hn::Or(hn::ShiftLeft<1>(index), hn::Set(i32, 1)));
  }
}

/// Bit i is lane i of the mask; at most 16 lanes.
template <class D>
HWY_INLINE unsigned BitsOf(D f32, hn::Mask<D> mask) {
  std::uint8_t bytes[8] = {};
  hn::StoreMaskBits(f32, mask, bytes);
  return bytes[0] | static_cast<unsigned>(bytes[1]) << 8;
}

/// The smallest error so far in each lane, and the number of its candidate, less the lane.
template <class D>
struct SmallestErrors {
  hn::Vec<D> error;
  hn::Vec<hn::RebindToUnsigned<D>> first = hn::Zero(hn::RebindToUnsigned<D>());

  /// Takes the candidates of another chunk if they are better.
  HWY_INLINE void Add(hn::Vec<D> other, std::uint32_t other_first) {
    const hn::RebindToUnsigned<D> u32;
    const auto is_better = hn::Lt(other, error);
    error = hn::IfThenElse(is_better, other, error);
    first = hn::IfThenElse(hn::RebindMask(u32, is_better), hn::Set(u32, other_first), first);
  }

  /// The number of the first candidate with the smallest error.
  [[nodiscard]] HWY_INLINE std::uint32_t First() const {
    const D f32;
    const hn::RebindToUnsigned<D> u32;
    HWY_ALIGN std::uint32_t numbers[16];
    hn::Store(hn::Add(first, hn::Iota(u32, 0)), u32, numbers);
    unsigned bits = BitsOf(f32, hn::Eq(error, hn::MinOfLanes(f32, error)));
    std::uint32_t number = numbers[std::countr_zero(bits)];
    // The padding of a list equals its first neighbour, which is number 0; other ties are rare.
    for (bits &= bits - 1; HWY_UNLIKELY(bits != 0 && number != 0); bits &= bits - 1) {
      const std::uint32_t other = numbers[std::countr_zero(bits)];
      if (other < number) number = other;
    }
    return number;
  }
};

/// The error of each level for each value of an octet, and the sums for its neighbours. Level
/// index l is scale * levels[l].
class OctetErrors {
 public:
  using Tag = SnapTag;

  /// `x` and `w` hold each value and each importance four times, `levels` four levels; the last
  /// one is not used.
  HWY_INLINE OctetErrors(const float* x, const float* w, const float* levels, float scale) {
    const SnapTag f32;
    const auto values = hn::Mul(hn::Set(f32, scale), hn::LoadDup128(f32, levels));
    for (std::size_t i = 0; i < table_count; ++i) {
      SetTable(i, values, hn::Load(f32, x + i * snap_lanes), hn::Load(f32, w + i * snap_lanes));
    }
  }

  /// Makes the errors from plain values and importances.
  static HWY_INLINE OctetErrors Of8(const float* x, const float* w, const float* levels,
                                    float scale) {
    const SnapTag f32;
    OctetErrors errors;
    const auto values = hn::Mul(hn::Set(f32, scale), hn::LoadDup128(f32, levels));
    for (std::size_t i = 0; i < table_count; ++i) {
      errors.SetTable(i, values, FourTimes(x, i), FourTimes(w, i));
    }
    return errors;
  }

  /// The errors of a vector of neighbours.
  [[nodiscard]] HWY_INLINE SnapFloats Of(const std::uint32_t* points) const {
    const SnapTag f32;
    const hn::RebindToUnsigned<SnapTag> u32;
    // The constant selects the part of the table that belongs to an element.
    auto index = hn::Or(hn::LoadU(u32, points), hn::Set(u32, 0xC840C840u));
    auto error = LookUp(f32, tables_[0], index);
    for (std::size_t i = 1; i < 8; ++i) {
      index = hn::ShiftRight<4>(index);
      error = hn::Add(error, LookUp(f32, tables_[i * table_count / 8], index));
    }
    return error;
  }

 private:
  /// A table has as many elements as it has room for.
  static constexpr std::size_t table_count = 32 / snap_lanes;

  OctetErrors() = default;

  HWY_INLINE void SetTable(std::size_t i, SnapFloats levels, SnapFloats x, SnapFloats w) {
    const auto difference = hn::Sub(levels, x);
    tables_[i] = hn::Mul(hn::Mul(w, difference), difference);
  }

  /// Vector number i of eight floats, each four times.
  static HWY_INLINE SnapFloats FourTimes(const float* x, std::size_t i) {
    const SnapTag f32;
    const hn::RebindToUnsigned<SnapTag> u32;
    const std::size_t first = 8 / table_count * i;
    const auto quarter = hn::ShiftRight<2>(hn::Iota(u32, 0));
    const auto index = hn::Add(quarter, hn::Set(u32, static_cast<std::uint32_t>(first % 4)));
    return LookUp(f32, hn::LoadDup128(f32, x + first / 4 * 4), index);
  }

  SnapFloats tables_[table_count];
};

/// The errors of a quad, with eight levels. Few lists of neighbours are longer than 8.
class QuadErrors {
 public:
  using Tag = hn::CappedTag<float, 8>;

  /// `x` and `w` hold each value and each importance eight times.
  HWY_INLINE QuadErrors(const float* x, const float* w, const float* levels, float scale) {
    for (std::size_t i = 0; i < 4; ++i) {
      low_[i] = LevelErrors(x + 8 * i, w + 8 * i, levels, scale);
      if constexpr (has_high) high_[i] = LevelErrors(x + 8 * i, w + 8 * i, levels + 4, scale);
    }
  }

  [[nodiscard]] HWY_INLINE hn::Vec<Tag> Of(const std::uint32_t* points) const {
    const hn::RebindToUnsigned<Tag> u32;
    auto index = hn::LoadU(u32, points);
    auto error = At(0, index);
    for (std::size_t i = 1; i < 4; ++i) {
      index = hn::ShiftRight<4>(index);
      error = hn::Add(error, At(i, index));
    }
    return error;
  }

 private:
  /// Four lanes have room for half of the levels.
  static constexpr bool has_high = snap_lanes < 8;

  static HWY_INLINE hn::Vec<Tag> LevelErrors(const float* x, const float* w, const float* levels,
                                             float scale) {
    const Tag f32;
    const auto values = hn::Mul(hn::Set(f32, scale), hn::Load(f32, levels));
    const auto difference = hn::Sub(values, hn::Load(f32, x));
    return hn::Mul(hn::Mul(hn::Load(f32, w), difference), difference);
  }

  [[nodiscard]] HWY_INLINE hn::Vec<Tag> At(std::size_t i,
                                           hn::Vec<hn::RebindToUnsigned<Tag>> index) const {
    const Tag f32;
    const hn::RebindToUnsigned<Tag> u32;
    const auto low = LookUp(f32, low_[i], index);
    if constexpr (!has_high) return low;
    const auto is_high = hn::Ne(hn::And(index, hn::Set(u32, 4)), hn::Zero(u32));
    return hn::IfThenElse(hn::RebindMask(f32, is_high), LookUp(f32, high_[i], index), low);
  }

  hn::Vec<Tag> low_[4];
  hn::Vec<Tag> high_[has_high ? 4 : 1];
};

/// The number of the nearest of `count` neighbours. With `is_short`, they fit into one vector.
template <bool is_short, class Errors>
HWY_INLINE std::uint32_t Nearest(const Errors& errors, const std::uint32_t* points,
                                 std::uint32_t count) {
  const typename Errors::Tag f32;
  if constexpr (is_short) {
    const auto error = errors.Of(points);
    const unsigned bits = BitsOf(f32, hn::Eq(error, hn::MinOfLanes(f32, error)));
    return static_cast<std::uint32_t>(std::countr_zero(bits));
  } else {
    constexpr auto lanes = static_cast<std::uint32_t>(hn::MaxLanes(typename Errors::Tag()));
    SmallestErrors<typename Errors::Tag> best = {errors.Of(points)};
    for (std::uint32_t i = lanes; i < count; i += lanes) best.Add(errors.Of(points + i), i);
    return best.First();
  }
}

/// Snaps the points of a group, for all tries at once.
template <std::size_t elements, std::size_t dimensions>
class GroupSnap {
 public:
  HWY_INLINE void Set(const float* x, const float* w) {
    for (std::size_t i = 0; i < elements; ++i) {
      for (std::size_t level = 0; level < copies; ++level) {
        x_[copies * i + level] = x[i];
        w_[copies * i + level] = w[i];
      }
    }
  }

  /// One point of the group, for the first of up to 32 tries. Fills `points` from `codes`, and
  /// `indices`, from which the ranks follow.
  HWY_INLINE void Snap(const LatticeNeighbours& lattice, std::size_t point,
                       const std::uint32_t* codes, const float* scales, std::size_t try_count,
                       std::uint32_t* points, std::uint32_t* indices) const {
    // Short lists first, then long ones: a branch for each list would be mispredicted.
    std::uint8_t short_tries[32];
    std::uint8_t long_tries[32];
    std::size_t short_count = 0;
    std::size_t long_count = 0;
    const LatticeSnap* const snaps = lattice.snaps;
    const std::uint32_t* const neighbours = lattice.neighbour_points;
    for (std::size_t k = 0; k < try_count; ++k) {
      const LatticeSnap snap = snaps[codes[k]];
      indices[k] = snap.first;
      short_tries[short_count] = static_cast<std::uint8_t>(k);
      long_tries[long_count] = static_cast<std::uint8_t>(k);
      // Octets inside the lattice are skipped; most quads are outside, so testing them does not
      // pay.
      if constexpr (dimensions == 8) {
        points[k] = neighbours[snap.first];
        short_count += static_cast<std::size_t>(snap.count - 1 < lanes);  // 0 - 1 is large
      } else {
        short_count += static_cast<std::size_t>(snap.count <= lanes);
      }
      long_count += static_cast<std::size_t>(snap.count > lanes);
    }
    const float* const x = x_ + point * copies * dimensions;
    const float* const w = w_ + point * copies * dimensions;
    for (std::size_t i = 0; i < short_count; ++i) {
      const std::size_t k = short_tries[i];
      const Errors errors(x, w, levels, scales[k]);
      indices[k] += Nearest<true>(errors, neighbours + indices[k], lanes);
      points[k] = neighbours[indices[k]];
    }
    for (std::size_t i = 0; i < long_count; ++i) {
      const std::size_t k = long_tries[i];
      const Errors errors(x, w, levels, scales[k]);
      indices[k] += Nearest<false>(errors, neighbours + indices[k], snaps[codes[k]].count);
      points[k] = neighbours[indices[k]];
    }
  }

 private:
  using Errors = std::conditional_t<dimensions == 8, OctetErrors, QuadErrors>;
  static constexpr std::uint32_t lanes = hn::MaxLanes(typename Errors::Tag());
  static constexpr std::size_t copies = 32 / dimensions;
  /// With three levels, those after the third do not matter.
  HWY_ALIGN static constexpr float levels[8] = {1, 3, 5, 7, 9, 11, 13, 15};

  HWY_ALIGN float x_[copies * elements];
  HWY_ALIGN float w_[copies * elements];
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
