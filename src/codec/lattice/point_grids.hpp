// SPDX-License-Identifier: MIT
// Decodes the ranks, signs and codes of a super-block of points.
//
// Each grid has the Block, how many octets share a factor (group), the points by rank, their codes
// and levels, and Factor, which makes a factor of the scale and the code of a group.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "codec/blocks/points.hpp"
#include "codec/lattice/lattice.hpp"

namespace ingot::codec {

/// Points of magnitudes, with signs apart.
template <class BlockType, std::size_t group_octets, bool even_signs>
struct SignedGrid {
  using Block = BlockType;
  static constexpr std::size_t group = group_octets;
  static constexpr bool has_even_signs = even_signs;
};

template <class BlockType, std::size_t group_octets, bool even_signs>
struct IQ2Grid : SignedGrid<BlockType, group_octets, even_signs> {
  static constexpr const auto& levels = iq2_levels;
  static float Factor(float scale, unsigned code) noexcept {
    return scale * (0.5f + static_cast<float>(code)) * 0.25f;
  }
};

struct GridIQ2_XXS : IQ2Grid<BlockIQ2_XXS, 4, true> {
  static constexpr const auto& codes = iq2_xxs_codes;
  static constexpr const auto& points = iq2_xxs_grid;
};

struct GridIQ2_XS : IQ2Grid<BlockIQ2_XS, 2, true> {
  static constexpr const auto& codes = iq2_xs_codes;
  static constexpr const auto& points = iq2_xs_grid;
};

struct GridIQ2_S : IQ2Grid<BlockIQ2_S, 2, false> {
  static constexpr const auto& codes = iq2_s_codes;
  static constexpr const auto& points = iq2_s_grid;
};

struct GridIQ3_XXS : SignedGrid<BlockIQ3_XXS, 4, true> {
  static constexpr const auto& codes = iq3_xxs_codes;
  static constexpr const auto& levels = iq3_xxs_levels;
  static constexpr const auto& points = iq3_xxs_grid;
  static float Factor(float scale, unsigned code) noexcept {
    return scale * (0.5f + static_cast<float>(code)) * 0.5f;
  }
};

struct GridIQ3_S : SignedGrid<BlockIQ3_S, 4, false> {
  static constexpr const auto& codes = iq3_s_codes;
  static constexpr const auto& levels = iq3_s_levels;
  static constexpr const auto& points = iq3_s_grid;
  static float Factor(float scale, unsigned code) noexcept {
    return scale * static_cast<float>(1 + 2 * code);
  }
};

/// IQ1: points of levels that are shifted, those of a group alike if it has one shift.
template <class BlockType, std::size_t group_octets, bool group_shift>
struct ShiftedGrid {
  using Block = BlockType;
  static constexpr std::size_t group = group_octets;
  static constexpr bool has_group_shift = group_shift;
  static float Factor(float scale, unsigned code) noexcept {
    return scale * static_cast<float>(2 * code + 1);
  }
};
using GridIQ1_S = ShiftedGrid<BlockIQ1_S, 4, true>;
using GridIQ1_M = ShiftedGrid<BlockIQ1_M, 2, false>;

using Octet = std::array<float, 8>;

[[nodiscard]] constexpr float point_shift_of(unsigned is_minus) noexcept {
  return is_minus != 0 ? -0.125f : 0.125f;
}

/// The weights of octet k.
template <class Grid>
[[nodiscard]] Octet decode_signed_octet(const BlockPoints& points, std::size_t k,
                                        float factor) noexcept {
  constexpr std::size_t size = sizeof(Grid::points[0]);
  Octet weights;
  for (std::size_t i = 0; i < 8; ++i) {
    const auto point = Grid::points[points.ranks[(8 * k + i) / size]];
    const float magnitude = factor * static_cast<float>(point >> (8 * (i % size)) & 255u);
    weights[i] = (points.signs[k] >> i & 1u) != 0 ? -magnitude : magnitude;
  }
  return weights;
}

[[nodiscard]] inline Octet decode_shifted_octet(const BlockPoints& points, std::size_t k,
                                                float factor) noexcept {
  Octet weights;
  for (std::size_t i = 0; i < 8; ++i) {
    const auto level = static_cast<std::int8_t>(iq1_grid[points.ranks[k]] >> (8 * i) & 255u);
    weights[i] = factor * (static_cast<float>(level) + point_shift_of(points.is_minus[k]));
  }
  return weights;
}

}  // namespace ingot::codec
