// SPDX-License-Identifier: MIT
// The lattices of the IQ types: sets of points of 4 or 8 small integers. Blocks store ranks in
// them.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "codec/lattice/lattice_bitmaps.hpp"

namespace ingot::codec {

/// The codes (see lattice_bitmaps.hpp) of all points of a lattice, ascending: entry = rank.
template <std::size_t point_count, std::size_t word_count>
[[nodiscard]] constexpr std::array<std::uint16_t, point_count> lattice_codes(
    const std::array<std::uint64_t, word_count>& bitmap) {
  std::array<std::uint16_t, point_count> codes{};
  std::size_t rank = 0;
  for (std::size_t word = 0; word < word_count; ++word) {
    for (std::uint64_t rest = bitmap[word]; rest != 0; rest &= rest - 1) {
      codes[rank++] =
          static_cast<std::uint16_t>(word * 64 + static_cast<std::size_t>(std::countr_zero(rest)));
    }
  }
  return codes;
}

inline constexpr auto iq2_xxs_codes = lattice_codes<256>(iq2_xxs_bitmap);
inline constexpr auto iq2_xs_codes = lattice_codes<512>(iq2_xs_bitmap);
inline constexpr auto iq2_s_codes = lattice_codes<1024>(iq2_s_bitmap);
inline constexpr auto iq3_xxs_codes = lattice_codes<256>(iq3_xxs_bitmap);
inline constexpr auto iq3_s_codes = lattice_codes<512>(iq3_s_bitmap);
inline constexpr auto iq1_codes = lattice_codes<2048>(iq1_bitmap);

/// The level for each level index, in decoded weights.
inline constexpr std::array<std::int8_t, 3> iq2_levels = {8, 25, 43};
inline constexpr std::array<std::int8_t, 8> iq3_xxs_levels = {4, 12, 20, 28, 36, 44, 52, 62};
inline constexpr std::array<std::int8_t, 8> iq3_s_levels = {1, 3, 5, 7, 9, 11, 13, 15};
inline constexpr std::array<std::int8_t, 3> iq1_levels = {-1, 0, 1};

/// A point as signed bytes, element 0 in the lowest: 8 in a uint64, 4 in a uint32.
template <class Word, std::size_t level_count>
[[nodiscard]] constexpr Word lattice_point(unsigned code,
                                           const std::array<std::int8_t, level_count>& levels) {
  Word point = 0;
  for (std::size_t i = 0; i < sizeof(Word); ++i, code /= level_count) {
    point |= Word{static_cast<std::uint8_t>(levels[code % level_count])} << (8 * i);
  }
  return point;
}

// The points by rank.
extern const std::array<std::uint64_t, 256> iq2_xxs_grid;
extern const std::array<std::uint64_t, 512> iq2_xs_grid;
extern const std::array<std::uint64_t, 1024> iq2_s_grid;
extern const std::array<std::uint32_t, 256> iq3_xxs_grid;
extern const std::array<std::uint32_t, 512> iq3_s_grid;
extern const std::array<std::uint64_t, 2048> iq1_grid;

/// 7 sign bits, and an eighth that makes the number of minus signs even. Bit i: element i is
/// negative.
[[nodiscard]] constexpr std::uint8_t even_signs(unsigned seven_bits) noexcept {
  const auto parity = static_cast<unsigned>(std::popcount(seven_bits)) & 1u;
  return static_cast<std::uint8_t>(seven_bits | parity << 7);
}

}  // namespace ingot::codec
