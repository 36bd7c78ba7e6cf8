// SPDX-License-Identifier: MIT
// How IQ3 blocks are encoded. `Method` is the search, scalar or with vectors.
#pragma once

#include <algorithm>

#include "codec/blocks/iq.hpp"
#include "codec/encode/lattice_search.hpp"

namespace ingot::codec {

/// 8 groups of eight quads.
struct IQ3Groups {
  std::array<float, 8> scales{};
  std::array<std::uint16_t, 64> ranks{};
  std::array<std::uint8_t, 32> signs{};
};

template <class Method>
IQ3Groups find_groups_iq3_xxs(const BlockValues& x, const BlockValues& w) noexcept {
  const LatticeNeighbours& lattice = iq3_xxs_neighbours();
  IQ3Groups groups;
  for (std::size_t g = 0; g < 8; ++g) {
    auto split = Method::template split_signs<32>(&x[32 * g]);
    make_signs_even(&x[32 * g], &w[32 * g], split);
    const float largest = Method::largest(split.magnitudes);
    if (!(largest >= 1e-8f)) continue;
    typename Method::template Fit<32, 4> fit(lattice, split.magnitudes, &w[32 * g]);
    groups.scales[g] = fit.find({8, 15, 0.2f, largest, largest / 15.0f, true, Resnap::off_grid});
    make_scale_positive(groups.scales[g], split.signs, 127);
    std::ranges::copy(fit.ranks(), &groups.ranks[8 * g]);
    std::ranges::copy(split.signs, &groups.signs[4 * g]);
  }
  return groups;
}

template <class Method>
IQ3Groups find_groups_iq3_s(const BlockValues& x, const BlockValues& w) noexcept {
  const LatticeNeighbours& lattice = iq3_s_neighbours();
  IQ3Groups groups;
  for (std::size_t g = 0; g < 8; ++g) {
    auto split = Method::template split_signs<32>(&x[32 * g]);
    const float largest = Method::largest(split.magnitudes);
    if (largest == 0.0f) continue;
    typename Method::template Fit<32, 4> fit(lattice, split.magnitudes, &w[32 * g]);
    groups.scales[g] =
        fit.find({8, 9, 0.2f, largest, largest / 15.0f, false, Resnap::all_if_any_off});
    make_scale_positive(groups.scales[g], split.signs, 255);
    std::ranges::copy(fit.ranks(), &groups.ranks[8 * g]);
    std::ranges::copy(split.signs, &groups.signs[4 * g]);
  }
  return groups;
}

template <class Method>
void encode_iq3_xxs(const BlockValues& x, const BlockValues& w, BlockIQ3_XXS& block) noexcept {
  const IQ3Groups groups = find_groups_iq3_xxs<Method>(x, w);
  const float largest = largest_scale(groups.scales.data(), groups.scales.size());
  if (largest == 0.0f) return;
  const float unit = largest / 31.0f;
  put_scale(block.scale.data(), unit * 1.0125f, 0x7E00);
  for (std::size_t q = 0; q < 64; ++q) {
    block.ranks[q] = static_cast<std::uint8_t>(groups.ranks[q]);
  }
  for (std::size_t g = 0; g < 8; ++g) {
    std::uint32_t word = group_code(groups.scales[g], unit, 15) << 28;
    for (std::size_t j = 0; j < 4; ++j) {
      word |= std::uint32_t{groups.signs[4 * g + j]} << (7 * j);
    }
    put_u32(&block.groups[4 * g], word);
  }
}

template <class Method>
void encode_iq3_s(const BlockValues& x, const BlockValues& w, BlockIQ3_S& block) noexcept {
  const IQ3Groups groups = find_groups_iq3_s<Method>(x, w);
  block.signs = groups.signs;
  for (std::size_t q = 0; q < 64; ++q) {
    block.ranks[q] = static_cast<std::uint8_t>(groups.ranks[q]);
    block.rank_high[q / 8] |= static_cast<std::uint8_t>(groups.ranks[q] >> 8 << (q % 8));
  }
  const float largest = largest_scale(groups.scales.data(), groups.scales.size());
  if (largest == 0.0f) return;
  const float unit = largest / 31.0f;
  put_scale(block.scale.data(), unit * 1.033f, 0x7E00);
  for (std::size_t g = 0; g < 8; ++g) {
    const unsigned code = group_code(groups.scales[g], unit, 15);
    block.groups[g / 2] |= static_cast<std::uint8_t>(code << (4 * (g % 2)));
  }
}

}  // namespace ingot::codec
