// SPDX-License-Identifier: MIT
// How IQ1 blocks are encoded. `Method` is the search, scalar or with vectors.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "codec/blocks/iq.hpp"
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

template <class Method>
void encode_iq1_s(const BlockValues& x, const BlockValues& w, BlockIQ1_S& block) noexcept {
  std::array<ShiftedGroup<4>, 8> groups;
  std::array<float, 8> scales{};
  for (std::size_t g = 0; g < 8; ++g) {
    const float* values = &x[32 * g];
    if (!(Method::template largest_magnitude<32>(values) >= 1e-12f)) continue;
    std::array<std::uint8_t, 32> order;
    const Cuts cuts = Method::find_cuts_iq1_s(values, &w[32 * g], order);
    groups[g] = snap_cuts<Method, 4, 1>(cuts, order, values, &w[32 * g]);
    scales[g] = groups[g].scale;
  }
  const float largest = largest_scale(scales.data(), scales.size());
  const float unit = largest / 15.0f;
  if (largest != 0.0f) put_scale(block.scale.data(), unit * 1.125f, 0x7E00);
  for (std::size_t g = 0; g < 8; ++g) {
    unsigned word = 0;
    if (largest != 0.0f) {
      word = group_code(groups[g].scale, unit, 7) << 12 | groups[g].minus << 15;
    }
    for (std::size_t j = 0; j < 4; ++j) {
      block.ranks[4 * g + j] = static_cast<std::uint8_t>(groups[g].ranks[j]);
      word |= static_cast<unsigned>(groups[g].ranks[j]) >> 8 << (3 * j);
    }
    put_u16(&block.groups[2 * g], static_cast<std::uint16_t>(word));
  }
}

/// The scale with which codes and points of all groups fit best; else `unit`.
inline float refit_scale(const BlockValues& x, const BlockValues& w,
                         const std::array<ShiftedGroup<2>, 16>& groups,
                         const std::array<unsigned, 16>& codes, float unit) noexcept {
  const LatticeNeighbours& lattice = iq1_neighbours();
  float p = 0.0f;
  float q = 0.0f;
  for (std::size_t k = 0; k < 32; ++k) {
    const ShiftedGroup<2>& group = groups[k / 2];
    const auto& levels = (group.minus >> (k % 2) & 1u) != 0 ? minus_levels : plus_levels;
    const std::uint32_t point = lattice.points[group.ranks[k % 2]];
    const auto factor = static_cast<float>(2 * codes[k / 2] + 1);
    for (std::size_t i = 0; i < 8; ++i) {
      const float level = levels[point >> (4 * i) & 15u] * factor;
      const float product = w[8 * k + i] * level;
      p += product * x[8 * k + i];
      q += product * level;
    }
  }
  return q > 0.0f ? p / q : unit;
}

inline void put_groups(const std::array<ShiftedGroup<2>, 16>& groups, bool has_scale,
                       BlockIQ1_M& block) noexcept {
  for (std::size_t k = 0; k < 32; ++k) {
    const ShiftedGroup<2>& group = groups[k / 2];
    const unsigned rank = group.ranks[k % 2];
    const unsigned minus = has_scale ? group.minus >> (k % 2) & 1u : 0u;
    block.ranks[k] = static_cast<std::uint8_t>(rank);
    block.rank_high[k / 2] |= static_cast<std::uint8_t>((rank >> 8 | minus << 3) << (4 * (k % 2)));
  }
}

template <class Method>
void encode_iq1_m(const BlockValues& x, const BlockValues& w, BlockIQ1_M& block) noexcept {
  std::array<ShiftedGroup<2>, 16> groups;
  std::array<float, 16> scales{};
  for (std::size_t g = 0; g < 16; ++g) {
    const float* values = &x[16 * g];
    if (!(Method::template largest_magnitude<16>(values) >= 1e-7f)) continue;
    std::array<std::uint8_t, 16> order;
    const Cuts cuts = Method::find_cuts_iq1_m(values, &w[16 * g], order);
    groups[g] = snap_cuts<Method, 2, 2>(cuts, order, values, &w[16 * g]);
    scales[g] = groups[g].scale;
  }
  const float largest = largest_scale(scales.data(), scales.size());
  put_groups(groups, largest != 0.0f, block);
  if (largest == 0.0f) return;
  const float unit = largest / 15.0f;
  std::array<unsigned, 16> codes;
  for (std::size_t g = 0; g < 16; ++g) codes[g] = group_code(scales[g], unit, 7);
  Bytes<2> scale;
  put_scale(scale.data(), refit_scale(x, w, groups, codes, unit) * 1.1125f);
  for (std::size_t i = 0; i < 4; ++i) {
    unsigned word = (u16_at(scale.data()) >> (4 * i) & 15u) << 12;
    for (std::size_t j = 0; j < 4; ++j) word |= codes[4 * i + j] << (3 * j);
    put_u16(&block.groups[2 * i], static_cast<std::uint16_t>(word));
  }
}

}  // namespace ingot::codec
