// SPDX-License-Identifier: MIT
#include "codec/lattice/lattice.hpp"

namespace ingot::codec {
namespace {

template <class Word, std::size_t point_count, std::size_t level_count>
consteval std::array<Word, point_count> expand(const std::array<std::uint16_t, point_count>& codes,
                                               const std::array<std::int8_t, level_count>& levels) {
  std::array<Word, point_count> points{};
  for (std::size_t rank = 0; rank < point_count; ++rank) {
    points[rank] = lattice_point<Word>(codes[rank], levels);
  }
  return points;
}

}  // namespace

constinit const std::array<std::uint64_t, 256> iq2_xxs_grid =
    expand<std::uint64_t>(iq2_xxs_codes, iq2_levels);
constinit const std::array<std::uint64_t, 512> iq2_xs_grid =
    expand<std::uint64_t>(iq2_xs_codes, iq2_levels);
constinit const std::array<std::uint64_t, 1024> iq2_s_grid =
    expand<std::uint64_t>(iq2_s_codes, iq2_levels);
constinit const std::array<std::uint32_t, 256> iq3_xxs_grid =
    expand<std::uint32_t>(iq3_xxs_codes, iq3_xxs_levels);
constinit const std::array<std::uint32_t, 512> iq3_s_grid =
    expand<std::uint32_t>(iq3_s_codes, iq3_s_levels);
constinit const std::array<std::uint64_t, 2048> iq1_grid =
    expand<std::uint64_t>(iq1_codes, iq1_levels);

}  // namespace ingot::codec
