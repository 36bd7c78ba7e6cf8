// SPDX-License-Identifier: MIT
#include "codec/lattice/lattice.hpp"

namespace ingot::codec {
namespace {

// The points are 34 KB, the bitmaps that they come from 4: a module of the web makes them when it
// starts, a program has them.
#ifdef INGOT_DECODES_ONLY
#define INGOT_MADE_EARLY(specifier)
#else
#define INGOT_MADE_EARLY(specifier) specifier
#endif

template <class Word, std::size_t point_count, std::size_t word_count, std::size_t level_count>
INGOT_MADE_EARLY(consteval)
std::array<Word, point_count> expand(const std::array<std::uint64_t, word_count>& bitmap,
                                     const std::array<std::int8_t, level_count>& levels) {
  const auto codes = lattice_codes<point_count>(bitmap);
  std::array<Word, point_count> points{};
  for (std::size_t rank = 0; rank < point_count; ++rank) {
    points[rank] = lattice_point<Word>(codes[rank], levels);
  }
  return points;
}

}  // namespace

INGOT_MADE_EARLY(constinit)
const std::array<std::uint64_t, 256> iq2_xxs_grid =
    expand<std::uint64_t, 256>(iq2_xxs_bitmap, iq2_levels);
INGOT_MADE_EARLY(constinit)
const std::array<std::uint64_t, 512> iq2_xs_grid =
    expand<std::uint64_t, 512>(iq2_xs_bitmap, iq2_levels);
INGOT_MADE_EARLY(constinit)
const std::array<std::uint64_t, 1024> iq2_s_grid =
    expand<std::uint64_t, 1024>(iq2_s_bitmap, iq2_levels);
INGOT_MADE_EARLY(constinit)
const std::array<std::uint32_t, 256> iq3_xxs_grid =
    expand<std::uint32_t, 256>(iq3_xxs_bitmap, iq3_xxs_levels);
INGOT_MADE_EARLY(constinit)
const std::array<std::uint32_t, 512> iq3_s_grid =
    expand<std::uint32_t, 512>(iq3_s_bitmap, iq3_s_levels);
INGOT_MADE_EARLY(constinit)
const std::array<std::uint64_t, 2048> iq1_grid =
    expand<std::uint64_t, 2048>(iq1_bitmap, iq1_levels);

}  // namespace ingot::codec
