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

#include "codec/lattice_neighbours.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

using SnapTag = hn::CappedTag<float, 16>;
using SnapFloats = hn::Vec<SnapTag>;
using SnapBits = hn::Vec<hn::RebindToUnsigned<SnapTag>>;

inline constexpr std::size_t snap_lanes = HWY_MIN(std::size_t{16}, HWY_LANES(float));

/// table[lowest bits of index]: four bits for a table of 16, three for 8, two for 4.
HWY_INLINE SnapFloats LookUp(SnapFloats table, SnapBits index) {
  const SnapTag f32;
  // With more lanes, the instruction ignores higher bits; only debug builds of Highway mind.
  if constexpr (snap_lanes < 8 || HWY_IS_DEBUG_BUILD) {
    index = hn::And(index, hn::Set(hn::RebindToUnsigned<SnapTag>(), snap_lanes - 1));
  }
  return hn::TableLookupLanes(table, hn::IndicesFromVec(f32, index));
}

/// 2 * l + 1 for the level index l in the lowest four bits; at most 7.
HWY_INLINE SnapFloats OddLevels(SnapBits point) {
  const SnapTag f32;
  const hn::RebindToSigned<SnapTag> i32;
  if constexpr (snap_lanes >= 8) {
    HWY_ALIGN static constexpr float levels[16] = {1, 3, 5, 7, 9, 11, 13, 15,
                                                   1, 3, 5, 7, 9, 11, 13, 15};
    return LookUp(hn::Load(f32, levels), point);
  } else {
    const auto index = hn::And(hn::BitCast(i32, point), hn::Set(i32, 15));
    return hn::ConvertTo(f32, hn::Or(hn::ShiftLeft<1>(index), hn::Set(i32, 1)));
  }
}

/// A bit for each lane of which the mask is set.
HWY_INLINE unsigned BitsOf(hn::Mask<SnapTag> mask) {
  std::uint8_t bytes[8] = {};
  hn::StoreMaskBits(SnapTag(), mask, bytes);
  return bytes[0] | static_cast<unsigned>(bytes[1]) << 8;
}

/// The first of the lanes in `bits` with the smallest position; rarely more than one is set.
HWY_INLINE std::uint32_t FirstPosition(unsigned bits, const std::uint32_t* positions) {
  std::uint32_t first = positions[std::countr_zero(bits)];
  for (bits &= bits - 1; bits != 0; bits &= bits - 1) {
    first = HWY_MIN(first, positions[std::countr_zero(bits)]);
  }
  return first;
}

/// The index of the nearest neighbour of an octet. `x` and `w` hold each of its values and
/// importances four times; `levels` are four: what level index 0, 1, 2 stands for; no matter.
/// snap.count is not 0.
HWY_INLINE std::uint32_t NearestOctet(const LatticeNeighbours& lattice, LatticeSnap snap,
                                      const float* x, const float* w, float scale,
                                      const float* levels) {
  const SnapTag f32;
  const hn::RebindToUnsigned<SnapTag> u32;
  // The error of each level of each element, as many elements to a table as it has room for.
  constexpr std::size_t table_elements = snap_lanes / 4;
  const auto level_values = hn::Mul(hn::Set(f32, scale), hn::LoadDup128(f32, levels));
  SnapFloats tables[8 / table_elements];
  for (std::size_t i = 0; i < 8 / table_elements; ++i) {
    const auto difference = hn::Sub(level_values, hn::Load(f32, x + i * snap_lanes));
    tables[i] = hn::Mul(hn::Mul(hn::Load(f32, w + i * snap_lanes), difference), difference);
  }
  const std::uint32_t* points = lattice.neighbour_points + snap.first;
  // Which part of its table an element has.
  const auto parts = hn::Set(u32, 0xC840C840u);
  auto best = hn::Set(f32, 3.0e38f);
  auto positions = hn::Zero(u32);
  for (std::uint32_t first = 0; first < snap.count; first += snap_lanes) {
    auto index = hn::Or(hn::LoadU(u32, points + first), parts);
    auto error = LookUp(tables[0], index);
    for (std::size_t i = 1; i < 8; ++i) {
      index = hn::ShiftRight<4>(index);
      error = hn::Add(error, LookUp(tables[i / table_elements], index));
    }
    const auto is_better = hn::Lt(error, best);
    best = hn::IfThenElse(is_better, error, best);
    positions = hn::IfThenElse(hn::RebindMask(u32, is_better), hn::Set(u32, first), positions);
  }
  const unsigned bits = BitsOf(hn::Eq(best, hn::MinOfLanes(f32, best)));
  if (snap.count <= snap_lanes) return snap.first + static_cast<unsigned>(std::countr_zero(bits));
  HWY_ALIGN std::uint32_t lane_positions[snap_lanes];
  hn::Store(hn::Add(positions, hn::Iota(u32, 0)), u32, lane_positions);
  return snap.first + FirstPosition(bits, lane_positions);
}

/// Quads are compared in twos if there are lanes for that.
inline constexpr std::size_t quads_at_once = snap_lanes >= 16 ? 2 : 1;
inline constexpr std::size_t quad_lanes = snap_lanes / quads_at_once;

/// The errors of each of the eight levels of an element of one quad, or of two.
struct QuadTable {
  SnapFloats low;
  SnapFloats high;  ///< The upper four levels if a vector has only four lanes.

  HWY_INLINE SnapFloats At(SnapBits index) const {
    if constexpr (snap_lanes >= 8) return LookUp(low, index);
    const hn::RebindToUnsigned<SnapTag> u32;
    const auto is_high = hn::Ne(hn::And(index, hn::Set(u32, 4)), hn::Zero(u32));
    return hn::IfThenElse(hn::RebindMask(SnapTag(), is_high), LookUp(high, index),
                          LookUp(low, index));
  }
};

HWY_INLINE SnapFloats QuadErrors(SnapFloats levels, const float* x, const float* w) {
  const SnapTag f32;
  const auto difference = hn::Sub(levels, hn::Load(f32, x));
  return hn::Mul(hn::Mul(hn::Load(f32, w), difference), difference);
}

/// The neighbours from number `first` on, of one quad or two. A list that ends before yields its
/// last chunk again, which changes nothing. Two quads differ in bit 3 of their levels.
HWY_INLINE SnapBits LoadNeighbours(const LatticeNeighbours& lattice, const LatticeSnap* snaps,
                                   std::uint32_t first) {
  const hn::RebindToUnsigned<SnapTag> u32;
  const std::uint32_t* points = lattice.neighbour_points;
  if constexpr (quads_at_once == 1) {
    return hn::LoadU(u32, points + snaps[0].first + first);
  } else {
    const hn::Half<decltype(u32)> half;
    const auto offset_in = [&](std::size_t j) HWY_ATTR {
      const std::uint32_t last = (HWY_MAX(snaps[j].count, 1u) - 1) & ~7u;
      return snaps[j].first + HWY_MIN(first, last);
    };
    const auto lower = hn::LoadU(half, points + offset_in(0));
    const auto upper = hn::Or(hn::LoadU(half, points + offset_in(1)), hn::Set(half, 0x8888));
    return hn::Combine(u32, upper, lower);
  }
}

/// Indices of the nearest neighbours of quads_at_once quads. `x` and `w` hold for each of the four
/// elements 16 floats: eight times the one of the first quad, eight times that of the second.
/// The result for a quad is of no use if its snap.count is 0.
HWY_INLINE void NearestQuads(const LatticeNeighbours& lattice, const LatticeSnap* snaps,
                             const float* x, const float* w, float scale, std::uint32_t* nearest) {
  const SnapTag f32;
  const hn::RebindToUnsigned<SnapTag> u32;
  HWY_ALIGN static constexpr float odd_levels[16] = {1, 3, 5, 7, 9, 11, 13, 15,
                                                     1, 3, 5, 7, 9, 11, 13, 15};
  const auto levels = hn::Mul(hn::Set(f32, scale), hn::Load(f32, odd_levels));
  QuadTable tables[4];
  for (std::size_t i = 0; i < 4; ++i) {
    tables[i].low = QuadErrors(levels, x + 16 * i, w + 16 * i);
    tables[i].high = tables[i].low;
    if constexpr (snap_lanes < 8) {
      const auto high_levels = hn::Mul(hn::Set(f32, scale), hn::Load(f32, odd_levels + 4));
      tables[i].high = QuadErrors(high_levels, x + 16 * i, w + 16 * i);
    }
  }
  const std::uint32_t count = HWY_MAX(snaps[0].count, snaps[quads_at_once - 1].count);
  auto best = hn::Set(f32, 3.0e38f);
  auto positions = hn::Zero(u32);
  for (std::uint32_t first = 0; first < count; first += quad_lanes) {
    auto index = LoadNeighbours(lattice, snaps, first);
    auto error = tables[0].At(index);
    for (std::size_t i = 1; i < 4; ++i) {
      index = hn::ShiftRight<4>(index);
      error = hn::Add(error, tables[i].At(index));
    }
    const auto is_better = hn::Lt(error, best);
    best = hn::IfThenElse(is_better, error, best);
    positions = hn::IfThenElse(hn::RebindMask(u32, is_better), hn::Set(u32, first), positions);
  }
  auto smallest = hn::Min(best, hn::Shuffle2301(best));
  smallest = hn::Min(smallest, hn::Shuffle1032(smallest));
  if constexpr (snap_lanes >= 8) smallest = hn::Min(smallest, hn::SwapAdjacentBlocks(smallest));
  const unsigned bits = BitsOf(hn::Eq(best, smallest));
  HWY_ALIGN std::uint32_t lane_positions[snap_lanes];
  hn::Store(hn::Add(positions, hn::And(hn::Iota(u32, 0), hn::Set(u32, quad_lanes - 1))), u32,
            lane_positions);
  constexpr unsigned quad_mask = (1u << quad_lanes) - 1;
  for (std::size_t j = 0; j < quads_at_once; ++j) {
    nearest[j] = snaps[j].first + FirstPosition(bits >> (j * quad_lanes) & quad_mask,
                                                lane_positions + j * quad_lanes);
  }
}

/// Snaps the points of a group, for all tries at once. Points, ranks and codes are arrays by point,
/// then try, with room for 32 tries.
template <std::size_t elements, std::size_t dimensions>
class SnapErrors;

template <std::size_t elements>
class SnapErrors<elements, 8> {
 public:
  HWY_INLINE void Set(const float* x, const float* w) {
    for (std::size_t i = 0; i < elements; ++i) {
      for (std::size_t level = 0; level < 4; ++level) {
        x_[4 * i + level] = x[i];
        w_[4 * i + level] = w[i];
      }
    }
  }

  HWY_INLINE void SnapAll(const LatticeNeighbours& lattice, const std::uint32_t* codes,
                          const float* scales, std::size_t try_count, std::uint32_t* points,
                          std::uint16_t* ranks) const {
    HWY_ALIGN static constexpr float levels[4] = {1, 3, 5, 5};
    // Those outside the lattice are first collected, because nobody can predict which they are.
    std::uint16_t outside[elements / 8 * 32];
    std::size_t outside_count = 0;
    for (std::size_t j = 0; j < elements / 8; ++j) {
      for (std::size_t slot = 32 * j; slot < 32 * j + try_count; ++slot) {
        const LatticeSnap snap = lattice.snaps[codes[slot]];
        const std::uint32_t rank = snap.count == 0 ? snap.first : 0;
        points[slot] = lattice.points[rank];
        ranks[slot] = static_cast<std::uint16_t>(rank);
        outside[outside_count] = static_cast<std::uint16_t>(slot);
        outside_count += snap.count != 0 ? 1 : 0;
      }
    }
    for (std::size_t i = 0; i < outside_count; ++i) {
      const std::size_t slot = outside[i];
      const std::size_t first = slot / 32 * 32;  // 8 elements, 4 floats each
      const std::uint32_t index = NearestOctet(lattice, lattice.snaps[codes[slot]], x_ + first,
                                               w_ + first, scales[slot % 32], levels);
      points[slot] = lattice.neighbour_points[index];
      ranks[slot] = lattice.neighbour_ranks[index];
    }
  }

 private:
  HWY_ALIGN float x_[4 * elements];
  HWY_ALIGN float w_[4 * elements];
};

template <std::size_t elements>
class SnapErrors<elements, 4> {
 public:
  HWY_INLINE void Set(const float* x, const float* w) {
    for (std::size_t i = 0; i < elements; ++i) {
      // Pair of quads, element of the quad, quad of the pair.
      const std::size_t first = i / 8 * 64 + i % 4 * 16 + i / 4 % 2 * 8;
      for (std::size_t level = 0; level < 8; ++level) {
        x_[first + level] = x[i];
        w_[first + level] = w[i];
      }
    }
  }

  HWY_INLINE void SnapAll(const LatticeNeighbours& lattice, const std::uint32_t* codes,
                          const float* scales, std::size_t try_count, std::uint32_t* points,
                          std::uint16_t* ranks) const {
    for (std::size_t j = 0; j < elements / 4; j += quads_at_once) {
      const std::size_t first = j / 2 * 64 + j % 2 * 8;
      for (std::size_t k = 0; k < try_count; ++k) {
        LatticeSnap snaps[quads_at_once];
        std::uint32_t nearest[quads_at_once] = {};
        std::uint32_t outside_count = 0;
        for (std::size_t part = 0; part < quads_at_once; ++part) {
          snaps[part] = lattice.snaps[codes[(j + part) * 32 + k]];
          outside_count += snaps[part].count;
        }
        if (outside_count != 0) {
          NearestQuads(lattice, snaps, x_ + first, w_ + first, scales[k], nearest);
        }
        for (std::size_t part = 0; part < quads_at_once; ++part) {
          const std::size_t slot = (j + part) * 32 + k;
          const LatticeSnap snap = snaps[part];
          ranks[slot] = snap.count == 0 ? static_cast<std::uint16_t>(snap.first)
                                        : lattice.neighbour_ranks[nearest[part]];
          points[slot] = lattice.points[ranks[slot]];
        }
      }
    }
  }

 private:
  HWY_ALIGN float x_[16 * elements / 2];
  HWY_ALIGN float w_[16 * elements / 2];
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
