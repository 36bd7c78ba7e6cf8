// SPDX-License-Identifier: MIT
// Recoders of types with a lattice: octet by octet the best point for the current values, then the
// errors of its weights are fed back one by one.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

#include "codec/feedback/input_moments.hpp"
#include "codec/feedback/point_choice.hpp"
#include "codec/feedback/point_grids.hpp"

namespace ingot::codec {

using Octet = std::array<float, 8>;

/// The scales of a block, which stay as they are.
template <class Grid>
[[nodiscard]] FoundPoints read_scales(const typename Grid::Block& block) noexcept {
  FoundPoints found;
  found.scale = Grid::ReadScale(block);
  for (std::size_t g = 0; g < 32 / Grid::group; ++g) {
    found.group_codes[g] = Grid::ReadGroup(block, g);
  }
  return found;
}

/// Points of magnitudes, with signs apart: IQ2 and IQ3.
template <class Grid>
class SignedOctet {
 public:
  /// Chooses points and signs of octet k; returns what it decodes to.
  [[nodiscard]] Octet Run(const float* x, const float* w, float factor, std::size_t k,
                          FoundPoints& found) noexcept {
    for (std::size_t i = 0; i < 8; ++i) SetCosts(i, std::fabs(x[i]), w[i], factor);
    unsigned signs = 0;
    for (std::size_t i = 0; i < 8; ++i) signs |= (x[i] < 0.0f ? 1u : 0u) << i;
    const bool is_odd = Grid::has_even_signs && even_signs(signs & 127u) != signs;
    found.signs[k] = signs ^ Choose(is_odd, &found.ranks[point_count * k]);
    Octet decoded;
    for (std::size_t i = 0; i < 8; ++i) {
      unsigned code = Grid::codes[found.ranks[point_count * k + i / size]];
      for (std::size_t j = 0; j < i % size; ++j) code /= level_count;
      const float magnitude = factor * static_cast<float>(Grid::levels[code % level_count]);
      decoded[i] = (found.signs[k] >> i & 1u) != 0 ? -magnitude : magnitude;
    }
    return decoded;
  }

 private:
  static constexpr std::size_t level_count =
      std::tuple_size_v<std::remove_cvref_t<decltype(Grid::levels)>>;
  static constexpr std::size_t size = level_count == 3 ? 8 : 4;  // places of a point
  static constexpr std::size_t point_count = 8 / size;           // of an octet

  void SetCosts(std::size_t i, float magnitude, float w, float factor) noexcept {
    for (std::size_t level = 0; level < level_count; ++level) {
      const float y = factor * static_cast<float>(Grid::levels[level]);
      const float right = magnitude - y;
      const float wrong = magnitude + y;
      const float cost = w * (right * right);
      costs_[i / size].Set(i % size, level, cost, w * (wrong * wrong) - cost);
    }
  }

  /// Writes the ranks; the sign that has to be wrong, as a bit.
  [[nodiscard]] unsigned Choose(bool is_odd, unsigned* ranks) const noexcept {
    std::array<ChosenPoint, point_count> points;
    for (std::size_t p = 0; p < point_count; ++p) points[p] = costs_[p].Find(Grid::codes);
    unsigned flipped = 0;
    if (is_odd) flipped = Flip(points);
    for (std::size_t p = 0; p < point_count; ++p) ranks[p] = points[p].rank;
    return flipped;
  }

  [[nodiscard]] unsigned Flip(std::array<ChosenPoint, point_count>& points) const noexcept {
    std::size_t best = 0;
    std::array<ChosenPoint, point_count> wrong;
    for (std::size_t p = 0; p < point_count; ++p) {
      wrong[p] = costs_[p].FindWithWrongSign(Grid::codes);
      if (wrong[p].cost - points[p].cost < wrong[best].cost - points[best].cost) best = p;
    }
    points[best] = wrong[best];
    return 1u << (size * best + costs_[best].WrongPlace(Grid::codes[wrong[best].rank]));
  }

  std::array<PointCosts<level_count, size>, point_count> costs_;
};

template <std::size_t elements, class Grid>
void recode_signed_points(std::byte* bytes, std::size_t first_column, float* row,
                          const InputMoments& moments) noexcept {
  static_assert(elements == 256);
  auto block = load_block<typename Grid::Block>(bytes, 0);
  FoundPoints found = read_scales<Grid>(block);
  SignedOctet<Grid> octet;
  for (std::size_t k = 0; k < 32; ++k) {
    const std::size_t column = first_column + 8 * k;
    const float factor = Grid::Factor(found.scale, found.group_codes[k / Grid::group]);
    const float* const w = moments.residual_weights().data() + column;
    const Octet decoded = octet.Run(row + column, w, factor, k, found);
    moments.feed_back(column, decoded, row);
  }
  block = {};
  put_points(found, block);
  store_block(block, bytes, 0);
}

template <std::size_t elements, class Grid>
void recode_shifted_points(std::byte* bytes, std::size_t first_column, float* row,
                           const InputMoments& moments) noexcept {
  static_assert(elements == 256);
  auto block = load_block<typename Grid::Block>(bytes, 0);
  FoundPoints found = read_scales<Grid>(block);
  PointCosts<3, 8> costs;
  for (std::size_t k = 0; k < 32; ++k) {
    const std::size_t column = first_column + 8 * k;
    const float factor =
        found.scale * static_cast<float>(2 * found.group_codes[k / Grid::group] + 1);
    const unsigned shifts = Grid::ShiftsOf(block, k / Grid::group);
    ChosenPoint best;
    for (unsigned is_minus = 0; is_minus < 2; ++is_minus) {
      if ((shifts >> is_minus & 1u) == 0) continue;
      const float shift = is_minus != 0 ? -0.125f : 0.125f;
      for (std::size_t i = 0; i < 8; ++i) {
        for (std::size_t level = 0; level < 3; ++level) {
          const float e =
              row[column + i] - factor * (static_cast<float>(iq1_levels[level]) + shift);
          costs.Set(i, level, moments.residual_weights()[column + i] * (e * e), 0.0f);
        }
      }
      const ChosenPoint point = costs.Find(iq1_codes);
      // Where nothing compares, as of infinite values, any shift will do that is allowed.
      if (best.cost <= point.cost && shifts == 3u && is_minus != 0) continue;
      best = point;
      found.is_minus[k] = is_minus;
    }
    found.ranks[k] = best.rank;
    const float shift = found.is_minus[k] != 0 ? -0.125f : 0.125f;
    Octet decoded;
    for (std::size_t i = 0; i < 8; ++i) {
      const auto level = static_cast<std::int8_t>(iq1_grid[best.rank] >> (8 * i) & 255u);
      decoded[i] = factor * (static_cast<float>(level) + shift);
    }
    moments.feed_back(column, decoded, row);
  }
  block = {};
  put_points(found, block);
  store_block(block, bytes, 0);
}

}  // namespace ingot::codec
