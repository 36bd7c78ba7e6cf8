// SPDX-License-Identifier: MIT
// Encodes IQ1 blocks. `Method` is the search, scalar or with vectors.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "codec/blocks/points.hpp"
#include "codec/encode/iq1_cuts.hpp"

namespace ingot::codec {

/// A group of octets, each shifted up or down.
template <std::size_t octets>
struct ShiftedGroup {
  float scale = 0.0f;
  unsigned minus = 0;
  std::array<std::uint16_t, octets> ranks{};
};

/// Snaps the levels of the cuts to the lattice. Each shift belongs to `octets / parts` octets.
template <class Method, std::size_t octets, std::size_t parts>
ShiftedGroup<octets> snap_cuts(const Cuts& cuts, const std::array<std::uint8_t, 8 * octets>& order,
                               const float* x, const float* w) noexcept {
  if (!cuts.is_found) return {};
  const LatticeNeighbours& lattice = iq1_neighbours();
  ShiftedGroup<octets> group = {cuts.scale, cuts.minus, {}};
  std::array<unsigned, 8 * octets> indices{};
  for (std::size_t j = 0; j < order.size(); ++j) {
    indices[order[j]] = j < cuts.first ? 0 : j < cuts.second ? 1 : 2;
  }
  if (group.scale < 0.0f) {
    for (unsigned& index : indices) index = 2 - index;
    group.scale = -group.scale;
    group.minus ^= (1u << parts) - 1;
  }
  bool is_on_grid = true;
  float p = 0.0f;
  float q = 0.0f;
  for (std::size_t k = 0; k < octets; ++k) {
    const bool is_minus = (group.minus >> (k * parts / octets) & 1u) != 0;
    const auto& levels = is_minus ? minus_levels : plus_levels;
    unsigned code = 0;
    for (std::size_t i = 8; i-- > 0;) code = code * 3 + indices[8 * k + i];
    const LatticeSnap& snap = lattice.snaps[code];
    is_on_grid = is_on_grid && snap.count == 0;
    group.ranks[k] =
        Method::snap_octet(lattice, snap, x + 8 * k, w + 8 * k, group.scale, levels.data());
    for (std::size_t i = 0; i < 8; ++i) {
      const float level = levels[lattice.points[group.ranks[k]] >> (4 * i) & 15u];
      p += w[8 * k + i] * level * x[8 * k + i];
      q += w[8 * k + i] * level * level;
    }
  }
  if (!is_on_grid && p > 0.0f && q > 0.0f) group.scale = p / q;
  return group;
}

/// The groups of a block; those of lower magnitudes than `least` count as zeros.
template <class Method, std::size_t octets, std::size_t parts>
std::array<ShiftedGroup<octets>, 32 / octets> find_shifted_groups(const BlockValues& x,
                                                                  const BlockValues& w,
                                                                  float least) noexcept {
  constexpr std::size_t elements = 8 * octets;
  std::array<ShiftedGroup<octets>, 32 / octets> groups;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const float* values = &x[elements * g];
    if (!(Method::template largest_magnitude<elements>(values) >= least)) continue;
    std::array<std::uint8_t, elements> order;
    const Cuts cuts = Method::find_cuts(values, &w[elements * g], order);
    groups[g] = snap_cuts<Method, octets, parts>(cuts, order, values, &w[elements * g]);
  }
  return groups;
}

/// Fills everything but the scale of a block: ranks, and unless all scales are 0, shifts and group
/// codes in units of a 15th of the largest scale. Returns that unit.
template <std::size_t octets>
float join_groups(const std::array<ShiftedGroup<octets>, 32 / octets>& groups, std::size_t parts,
                  BlockPoints& points) noexcept {
  std::array<float, 32 / octets> scales;
  std::ranges::transform(groups, scales.begin(), &ShiftedGroup<octets>::scale);
  const float largest = largest_scale(scales.data(), scales.size());
  for (std::size_t k = 0; k < 32; ++k) {
    const ShiftedGroup<octets>& group = groups[k / octets];
    points.ranks[k] = group.ranks[k % octets];
    if (largest == 0.0f) continue;
    points.is_minus[k] = group.minus >> (k % octets * parts / octets) & 1u;
    points.group_codes[k / octets] = group_code(group.scale, largest / 15.0f, 7);
  }
  return largest;
}

template <class Method>
void encode_points(const BlockValues& x, const BlockValues& w, BlockIQ1_S& block) noexcept {
  BlockPoints points;
  const float largest = join_groups<4>(find_shifted_groups<Method, 4, 1>(x, w, 1e-12f), 1, points);
  points.scale = largest / 15.0f * 1.125f;
  block = block_of<BlockIQ1_S>(points);
}

/// The scale with which codes and points of all groups of IQ1_M fit best; else `unit`.
inline float refit_scale(const BlockValues& x, const BlockValues& w, const BlockPoints& points,
                         float unit) noexcept {
  const LatticeNeighbours& lattice = iq1_neighbours();
  float p = 0.0f;
  float q = 0.0f;
  for (std::size_t k = 0; k < 32; ++k) {
    const auto& levels = points.is_minus[k] != 0 ? minus_levels : plus_levels;
    const std::uint32_t point = lattice.points[points.ranks[k]];
    const auto factor = static_cast<float>(2 * points.group_codes[k / 2] + 1);
    for (std::size_t i = 0; i < 8; ++i) {
      const float level = levels[point >> (4 * i) & 15u] * factor;
      const float product = w[8 * k + i] * level;
      p += product * x[8 * k + i];
      q += product * level;
    }
  }
  return q > 0.0f ? p / q : unit;
}

template <class Method>
void encode_points(const BlockValues& x, const BlockValues& w, BlockIQ1_M& block) noexcept {
  BlockPoints points;
  const float largest = join_groups<2>(find_shifted_groups<Method, 2, 2>(x, w, 1e-7f), 2, points);
  if (largest != 0.0f) points.scale = refit_scale(x, w, points, largest / 15.0f) * 1.1125f;
  block = block_of<BlockIQ1_M>(points);
}

}  // namespace ingot::codec
