// SPDX-License-Identifier: MIT
// The factors that the scales of an encoded block leave to the points of its octets: types that
// store 4 or 8 weights by the rank of a point.
//
// Each grid has the Block, how many octets share a factor (group), ReadScale and ReadGroup, the
// stored scale and integer of a group, and Factor, which makes a factor of both as the decoder
// does.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "codec/best/point_packing.hpp"
#include "codec/lattice/lattice.hpp"

namespace ingot::codec {

template <class BlockType, std::size_t group_octets>
struct PointGrid {
  using Block = BlockType;
  static constexpr std::size_t group = group_octets;
  static float ReadScale(const Block& block) noexcept { return f16_at(block.scale.data()); }
};

template <std::size_t count>
[[nodiscard]] constexpr unsigned nibble_at(const Bytes<count>& bytes, std::size_t i) noexcept {
  return bytes[i / 2] >> (4 * (i % 2)) & 15u;
}

[[nodiscard]] inline float half_step_factor(float scale, unsigned code, float step) noexcept {
  return scale * (0.5f + static_cast<float>(code)) * step;
}

struct GridIQ2_XXS : PointGrid<BlockIQ2_XXS, 4> {
  static constexpr bool has_even_signs = true;
  static constexpr const auto& codes = iq2_xxs_codes;
  static constexpr const auto& levels = iq2_levels;
  static unsigned ReadGroup(const Block& block, std::size_t g) noexcept {
    return u32_at(&block.groups[8 * g + 4]) >> 28;
  }
  static float Factor(float scale, unsigned code) noexcept {
    return half_step_factor(scale, code, 0.25f);
  }
};

struct GridIQ2_XS : PointGrid<BlockIQ2_XS, 2> {
  static constexpr bool has_even_signs = true;
  static constexpr const auto& codes = iq2_xs_codes;
  static constexpr const auto& levels = iq2_levels;
  static unsigned ReadGroup(const Block& block, std::size_t g) noexcept {
    return nibble_at(block.groups, g);
  }
  static float Factor(float scale, unsigned code) noexcept {
    return half_step_factor(scale, code, 0.25f);
  }
};

struct GridIQ2_S : PointGrid<BlockIQ2_S, 2> {
  static constexpr bool has_even_signs = false;
  static constexpr const auto& codes = iq2_s_codes;
  static constexpr const auto& levels = iq2_levels;
  static unsigned ReadGroup(const Block& block, std::size_t g) noexcept {
    return nibble_at(block.groups, g);
  }
  static float Factor(float scale, unsigned code) noexcept {
    return half_step_factor(scale, code, 0.25f);
  }
};

struct GridIQ3_XXS : PointGrid<BlockIQ3_XXS, 4> {
  static constexpr bool has_even_signs = true;
  static constexpr const auto& codes = iq3_xxs_codes;
  static constexpr const auto& levels = iq3_xxs_levels;
  static unsigned ReadGroup(const Block& block, std::size_t g) noexcept {
    return u32_at(&block.groups[4 * g]) >> 28;
  }
  static float Factor(float scale, unsigned code) noexcept {
    return half_step_factor(scale, code, 0.5f);
  }
};

struct GridIQ3_S : PointGrid<BlockIQ3_S, 4> {
  static constexpr bool has_even_signs = false;
  static constexpr const auto& codes = iq3_s_codes;
  static constexpr const auto& levels = iq3_s_levels;
  static unsigned ReadGroup(const Block& block, std::size_t g) noexcept {
    return nibble_at(block.groups, g);
  }
  static float Factor(float scale, unsigned code) noexcept {
    return scale * static_cast<float>(1 + 2 * code);
  }
};

/// Of IQ1 also the shifts: bit i of ShiftsOf is set if an octet of the group may have shift i,
/// +0.125 or -0.125.
struct GridIQ1_S : PointGrid<BlockIQ1_S, 4> {
  static unsigned ReadGroup(const Block& block, std::size_t g) noexcept {
    return u16_at(&block.groups[2 * g]) >> 12 & 7u;
  }
  static unsigned ShiftsOf(const Block& block, std::size_t g) noexcept {
    return (u16_at(&block.groups[2 * g]) & 0x8000u) != 0 ? 2u : 1u;
  }
};

struct GridIQ1_M : PointGrid<BlockIQ1_M, 2> {
  static float ReadScale(const Block& block) noexcept { return f32_from_f16(scale_bits_of(block)); }
  static unsigned ReadGroup(const Block& block, std::size_t g) noexcept {
    return u16_at(&block.groups[2 * (g / 4)]) >> (3 * (g % 4)) & 7u;
  }
  static unsigned ShiftsOf(const Block&, std::size_t) noexcept { return 3u; }
};

}  // namespace ingot::codec
