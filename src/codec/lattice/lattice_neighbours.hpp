// SPDX-License-Identifier: MIT
// Snapping points to a lattice: a point outside has a list of candidates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ingot::codec {

/// The candidates of a point: `count` neighbours, from index `first` on. A point of the lattice has
/// a count of 0; its list is itself.
struct LatticeSnap {
  std::uint32_t first;
  std::uint32_t count;
};

/// The tables of one lattice. The neighbours of a point are all points of the lattice at the
/// smallest few distinct distances from it (Euclidean, over level indices), ordered by distance,
/// then rank. Lists are padded by repeating the first neighbour, to multiples of 16 in 8 dimensions
/// and of 8 in 4 dimensions. Points are packed: bits 4i..4i+3 are level index i.
struct LatticeNeighbours {
  std::size_t dimensions;
  unsigned level_count;
  const LatticeSnap* snaps;               ///< The snaps by code, see lattice_bitmaps.hpp.
  const std::uint32_t* points;            ///< The points by rank.
  const std::uint16_t* neighbour_ranks;   ///< The ranks by index.
  const std::uint32_t* neighbour_points;  ///< The neighbours by index; aligned to 64 bytes.
};

// Built by the first call, in some milliseconds. Thread-safe.
[[nodiscard]] const LatticeNeighbours& iq2_xxs_neighbours() noexcept;
[[nodiscard]] const LatticeNeighbours& iq2_xs_neighbours() noexcept;
[[nodiscard]] const LatticeNeighbours& iq2_s_neighbours() noexcept;
[[nodiscard]] const LatticeNeighbours& iq3_xxs_neighbours() noexcept;
[[nodiscard]] const LatticeNeighbours& iq3_s_neighbours() noexcept;
[[nodiscard]] const LatticeNeighbours& iq1_neighbours() noexcept;

}  // namespace ingot::codec
