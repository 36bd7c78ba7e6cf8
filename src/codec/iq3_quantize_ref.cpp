// SPDX-License-Identifier: MIT
#include "codec/codec.hpp"
#include "codec/iq3.hpp"
#include "codec/lattice_search.hpp"
#include "codec/quantize_common.hpp"

namespace ingot::codec {
namespace {

using Values = std::array<float, 256>;

Values importances_of(const Values& x, const float* weights) noexcept {
  const float square = mean_square(x, 2.0f);
  Values w;
  for (std::size_t i = 0; i < x.size(); ++i) {
    w[i] = weights != nullptr ? weights[i] * std::sqrt(square + x[i] * x[i]) : x[i] * x[i];
  }
  return w;
}

/// 8 groups of eight quads.
struct Groups {
  std::array<float, 8> scales{};
  std::array<std::uint16_t, 64> ranks{};
  std::array<std::uint8_t, 32> signs{};
};

Groups find_groups_iq3_xxs(const Values& x, const Values& w) noexcept {
  const LatticeNeighbours& lattice = iq3_xxs_neighbours();
  Groups groups;
  for (std::size_t g = 0; g < 8; ++g) {
    auto split = split_signs<32>(&x[32 * g]);
    make_signs_even(&x[32 * g], &w[32 * g], split);
    const float largest = *std::ranges::max_element(split.magnitudes);
    if (!(largest >= 1e-8f)) continue;
    LatticeFit<32, 4> fit(lattice, split.magnitudes, &w[32 * g]);
    groups.scales[g] = fit.find({8, 15, 0.2f, largest, largest / 15.0f, true, Resnap::off_grid});
    make_scale_positive(groups.scales[g], split.signs, 127);
    std::ranges::copy(fit.ranks(), &groups.ranks[8 * g]);
    std::ranges::copy(split.signs, &groups.signs[4 * g]);
  }
  return groups;
}

Groups find_groups_iq3_s(const Values& x, const Values& w) noexcept {
  const LatticeNeighbours& lattice = iq3_s_neighbours();
  Groups groups;
  for (std::size_t g = 0; g < 8; ++g) {
    auto split = split_signs<32>(&x[32 * g]);
    const float largest = *std::ranges::max_element(split.magnitudes);
    if (largest == 0.0f) continue;
    LatticeFit<32, 4> fit(lattice, split.magnitudes, &w[32 * g]);
    groups.scales[g] =
        fit.find({8, 9, 0.2f, largest, largest / 15.0f, false, Resnap::all_if_any_off});
    make_scale_positive(groups.scales[g], split.signs, 255);
    std::ranges::copy(fit.ranks(), &groups.ranks[8 * g]);
    std::ranges::copy(split.signs, &groups.signs[4 * g]);
  }
  return groups;
}

void encode_iq3_xxs(const Values& x, const float* weights, BlockIQ3_XXS& block) noexcept {
  const Groups groups = find_groups_iq3_xxs(x, importances_of(x, weights));
  const float largest = largest_scale(groups.scales.data(), groups.scales.size());
  if (largest == 0.0f) return;
  const float unit = largest / 31.0f;
  put_scale(block.scale.data(), unit * 1.0125f);
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

void encode_iq3_s(const Values& x, const float* weights, BlockIQ3_S& block) noexcept {
  const Groups groups = find_groups_iq3_s(x, importances_of(x, weights));
  block.signs = groups.signs;
  for (std::size_t q = 0; q < 64; ++q) {
    block.ranks[q] = static_cast<std::uint8_t>(groups.ranks[q]);
    block.rank_high[q / 8] |= static_cast<std::uint8_t>(groups.ranks[q] >> 8 << (q % 8));
  }
  const float largest = largest_scale(groups.scales.data(), groups.scales.size());
  if (largest == 0.0f) return;
  const float unit = largest / 31.0f;
  put_scale(block.scale.data(), unit * 1.033f);
  for (std::size_t g = 0; g < 8; ++g) {
    const unsigned code = group_code(groups.scales[g], unit, 15);
    block.groups[g / 2] |= static_cast<std::uint8_t>(code << (4 * (g % 2)));
  }
}

}  // namespace

void quantize_iq3_xxs_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockIQ3_XXS, 256>(rows, encode_iq3_xxs);
}

void quantize_iq3_s_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockIQ3_S, 256>(rows, encode_iq3_s);
}

}  // namespace ingot::codec
