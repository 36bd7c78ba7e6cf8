// SPDX-License-Identifier: MIT
// How IQ2 blocks are encoded. `Method` is the search, scalar or with vectors.
#pragma once

#include <algorithm>

#include "codec/blocks/iq.hpp"
#include "codec/encode/lattice_search.hpp"

namespace ingot::codec {

template <class Method>
void encode_iq2_xxs(const BlockValues& x, const BlockValues& w, BlockIQ2_XXS& block) noexcept {
  const LatticeNeighbours& lattice = iq2_xxs_neighbours();
  std::array<float, 8> scales{};
  std::array<std::uint32_t, 16> words{};
  for (std::size_t g = 0; g < 8; ++g) {
    const float* importances = &w[32 * g];
    auto split = Method::template split_signs<32>(&x[32 * g]);
    make_signs_even(&x[32 * g], importances, split);
    const float largest = Method::largest(split.magnitudes);
    if (!(largest >= 1e-15f)) continue;
    const float start = Method::find_positive_scale(split.magnitudes.data(), importances, largest);
    const float extent = start * 3.0f;
    if (extent <= 0.0f) continue;
    typename Method::template Fit<32, 8> fit(lattice, split.magnitudes, importances);
    scales[g] = fit.find({3, 6, 0.1f, extent, start, false, Resnap::always});
    make_scale_positive(scales[g], split.signs, 127);
    for (std::size_t j = 0; j < 4; ++j) {
      words[2 * g] |= std::uint32_t{fit.ranks()[j]} << (8 * j);
      words[2 * g + 1] |= std::uint32_t{split.signs[j]} << (7 * j);
    }
  }
  const float largest = largest_scale(scales.data(), scales.size());
  if (largest == 0.0f) return;
  const float unit = largest / 31.0f;
  put_scale(block.scale.data(), unit, 0x7E00);
  for (std::size_t g = 0; g < 8; ++g) {
    words[2 * g + 1] |= group_code(scales[g], unit, 15) << 28;
    put_u32(&block.groups[8 * g], words[2 * g]);
    put_u32(&block.groups[8 * g + 4], words[2 * g + 1]);
  }
}

/// The common part of IQ2_XS and IQ2_S: 16 groups of two octets.
struct IQ2Groups {
  std::array<float, 16> scales{};
  std::array<std::uint16_t, 32> ranks{};
  std::array<std::uint8_t, 32> signs{};
};

template <class Method>
IQ2Groups find_groups(const LatticeNeighbours& lattice, const BlockValues& x, const BlockValues& w,
                      bool has_even_signs, float smallest) noexcept {
  IQ2Groups groups;
  for (std::size_t g = 0; g < 16; ++g) {
    auto split = Method::template split_signs<16>(&x[16 * g]);
    if (has_even_signs) make_signs_even(&x[16 * g], &w[16 * g], split);
    const float largest = Method::largest(split.magnitudes);
    if (!(largest >= smallest)) continue;
    typename Method::template Fit<16, 8> fit(lattice, split.magnitudes, &w[16 * g]);
    groups.scales[g] = fit.find({3, 9, 0.1f, largest, largest / 5.0f, true, Resnap::off_grid});
    make_scale_positive(groups.scales[g], split.signs, has_even_signs ? 127 : 255);
    for (std::size_t j = 0; j < 2; ++j) {
      groups.ranks[2 * g + j] = fit.ranks()[j];
      groups.signs[2 * g + j] = split.signs[j];
    }
  }
  return groups;
}

inline void put_group_codes(const IQ2Groups& groups, float unit, Bytes<8>& bytes) noexcept {
  for (std::size_t g = 0; g < 16; ++g) {
    const unsigned code = group_code(groups.scales[g], unit, 15);
    bytes[g / 2] |= static_cast<std::uint8_t>(code << (4 * (g % 2)));
  }
}

template <class Method>
void encode_iq2_xs(const BlockValues& x, const BlockValues& w, BlockIQ2_XS& block) noexcept {
  const IQ2Groups groups = find_groups<Method>(iq2_xs_neighbours(), x, w, true, 1e-15f);
  const float largest = largest_scale(groups.scales.data(), groups.scales.size());
  if (largest == 0.0f) return;
  const float unit = largest / 31.0f;
  put_scale(block.scale.data(), unit, 0x7E00);
  for (std::size_t k = 0; k < 32; ++k) {
    put_u16(&block.octets[2 * k],
            static_cast<std::uint16_t>(groups.ranks[k] | groups.signs[k] << 9));
  }
  put_group_codes(groups, unit, block.groups);
}

template <class Method>
void encode_iq2_s(const BlockValues& x, const BlockValues& w, BlockIQ2_S& block) noexcept {
  const IQ2Groups groups = find_groups<Method>(iq2_s_neighbours(), x, w, false, 1e-8f);
  for (std::size_t k = 0; k < 32; ++k) {
    block.ranks[k] = static_cast<std::uint8_t>(groups.ranks[k]);
    block.signs[k] = groups.signs[k];
    block.rank_high[k / 4] |= static_cast<std::uint8_t>(groups.ranks[k] >> 8 << (2 * (k % 4)));
  }
  const float largest = largest_scale(groups.scales.data(), groups.scales.size());
  if (largest == 0.0f) return;
  const float unit = largest / 31.0f;
  put_scale(block.scale.data(), unit * 0.9875f, 0x7E00);
  put_group_codes(groups, unit, block.groups);
}

}  // namespace ingot::codec
