// SPDX-License-Identifier: MIT
// Encodes IQ2 and IQ3 blocks. `Method` is the search, scalar or with vectors.
#pragma once

#include <algorithm>
#include <limits>

#include "codec/blocks/points.hpp"
#include "codec/encode/lattice_search.hpp"

namespace ingot::codec {

/// The parameters of the search for the groups of a type.
struct GroupSearch {
  LatticeSearch search;  ///< The extent is the largest magnitude, and the start its level's scale,
  bool is_refined;       ///< or the start is the result of search_positive, and the extent 3 times
                         ///< that.
  bool has_even_signs;
  float least;  ///< Groups of lower magnitudes count as zeros.
};

/// The points of a block, and the scales of its groups.
struct GroupedPoints {
  BlockPoints points;
  std::array<float, 16> scales{};

  /// Chooses the scale of the block, and codes for those of its groups; false if all are 0.
  bool choose_scale(float factor) noexcept {
    const float largest = largest_scale(scales.data(), scales.size());
    if (largest == 0.0f) return false;
    const float unit = largest / 31.0f;
    points.scale = unit * factor;
    for (std::size_t g = 0; g < scales.size(); ++g) {
      points.group_codes[g] = group_code(scales[g], unit, 15);
    }
    return true;
  }
};

template <class Method, std::size_t elements, std::size_t dimensions>
GroupedPoints find_groups(const LatticeNeighbours& lattice, const BlockValues& x,
                          const BlockValues& w, const GroupSearch& how) noexcept {
  GroupedPoints groups;
  for (std::size_t g = 0; g < 256 / elements; ++g) {
    const float* importances = &w[elements * g];
    auto split = Method::template split_signs<elements>(&x[elements * g]);
    if (how.has_even_signs) make_signs_even(&x[elements * g], importances, split);
    const float largest = Method::largest(split.magnitudes);
    if (!(largest >= how.least)) continue;
    LatticeSearch search = how.search;
    search.extent = largest;
    search.start = largest / static_cast<float>(2 * search.level_count - 1);
    if (how.is_refined) {
      search.start = Method::find_positive_scale(split.magnitudes.data(), importances, largest);
      search.extent = search.start * 3.0f;
      if (search.extent <= 0.0f) continue;
    }
    typename Method::template Fit<elements, dimensions> fit(lattice, split.magnitudes, importances);
    groups.scales[g] = fit.find(search);
    make_scale_positive(groups.scales[g], split.signs, how.has_even_signs ? 127 : 255);
    std::ranges::copy(fit.ranks(), &groups.points.ranks[elements / dimensions * g]);
    std::ranges::copy(split.signs, &groups.points.signs[elements / 8 * g]);
  }
  return groups;
}

template <class Method>
void encode_points(const BlockValues& x, const BlockValues& w, BlockIQ2_XXS& block) noexcept {
  auto groups = find_groups<Method, 32, 8>(
      iq2_xxs_neighbours(), x, w,
      {{3, 6, 0.1f, 0.0f, 0.0f, false, Resnap::always}, true, true, 1e-15f});
  if (groups.choose_scale(1.0f)) block = block_of<BlockIQ2_XXS>(groups.points);
}

inline constexpr LatticeSearch iq2_search = {3, 9, 0.1f, 0.0f, 0.0f, true, Resnap::off_grid};

template <class Method>
void encode_points(const BlockValues& x, const BlockValues& w, BlockIQ2_XS& block) noexcept {
  auto groups =
      find_groups<Method, 16, 8>(iq2_xs_neighbours(), x, w, {iq2_search, false, true, 1e-15f});
  if (groups.choose_scale(1.0f)) block = block_of<BlockIQ2_XS>(groups.points);
}

template <class Method>
void encode_points(const BlockValues& x, const BlockValues& w, BlockIQ2_S& block) noexcept {
  auto groups =
      find_groups<Method, 16, 8>(iq2_s_neighbours(), x, w, {iq2_search, false, false, 1e-8f});
  groups.choose_scale(0.9875f);
  block = block_of<BlockIQ2_S>(groups.points);
}

template <class Method>
void encode_points(const BlockValues& x, const BlockValues& w, BlockIQ3_XXS& block) noexcept {
  auto groups = find_groups<Method, 32, 4>(
      iq3_xxs_neighbours(), x, w,
      {{8, 15, 0.2f, 0.0f, 0.0f, true, Resnap::off_grid}, false, true, 1e-8f});
  if (groups.choose_scale(1.0125f)) block = block_of<BlockIQ3_XXS>(groups.points);
}

template <class Method>
void encode_points(const BlockValues& x, const BlockValues& w, BlockIQ3_S& block) noexcept {
  auto groups = find_groups<Method, 32, 4>(iq3_s_neighbours(), x, w,
                                           {{8, 9, 0.2f, 0.0f, 0.0f, false, Resnap::all_if_any_off},
                                            false,
                                            false,
                                            std::numeric_limits<float>::denorm_min()});
  groups.choose_scale(1.033f);
  block = block_of<BlockIQ3_S>(groups.points);
}

}  // namespace ingot::codec
