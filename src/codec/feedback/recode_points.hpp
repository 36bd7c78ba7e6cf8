// SPDX-License-Identifier: MIT
// Recoders of types with a lattice: octet by octet the best point for the current values, of all
// that there are, then the errors of its weights are fed back one by one.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "codec/lattice/point_grids.hpp"
#include "ingot/error_feedback.hpp"

namespace ingot::codec {

/// The point that costs least.
struct ChosenPoint {
  unsigned rank = 0;
  float cost = std::numeric_limits<float>::infinity();
};

/// The cost of each level at each of the `size` places of a point. The cost of a point is the sum
/// over its places, looked up for each half.
template <std::size_t level_count, std::size_t size>
class PointCosts {
 public:
  static constexpr std::size_t half = size / 2;
  static constexpr std::size_t half_count = [] {
    std::size_t count = 1;
    for (std::size_t i = 0; i < half; ++i) count *= level_count;
    return count;
  }();

  /// @param wrong the extra cost of the place with the wrong sign.
  void Set(std::size_t place, std::size_t level, float cost, float wrong) noexcept {
    costs_[place][level] = cost;
    wrong_[place][level] = wrong;
  }

  /// The best of some points, given by their codes: level indices as digits, the lowest first.
  template <std::size_t point_count>
  [[nodiscard]] ChosenPoint Find(
      const std::array<std::uint16_t, point_count>& codes) const noexcept {
    const std::array<Half, 2> halves = {Sums(0), Sums(half)};
    return Best(
        codes, [&](std::size_t low, std::size_t high) { return halves[0][low] + halves[1][high]; });
  }

  /// Finds the best point if one sign must be wrong, at the place where that costs least.
  template <std::size_t point_count>
  [[nodiscard]] ChosenPoint FindWithWrongSign(
      const std::array<std::uint16_t, point_count>& codes) const noexcept {
    const std::array<Half, 2> halves = {Sums(0), Sums(half)};
    const std::array<Half, 2> wrong = {LeastWrong(0), LeastWrong(half)};
    return Best(codes, [&](std::size_t low, std::size_t high) {
      return halves[0][low] + halves[1][high] + std::min(wrong[0][low], wrong[1][high]);
    });
  }

  /// The place of a point whose sign costs least to be wrong.
  [[nodiscard]] std::size_t WrongPlace(unsigned code) const noexcept {
    std::size_t found = 0;
    float least = std::numeric_limits<float>::infinity();
    for (std::size_t i = 0; i < size; ++i, code /= level_count) {
      const float cost = wrong_[i][code % level_count];
      if (!(cost < least)) continue;
      least = cost;
      found = i;
    }
    return found;
  }

 private:
  using Half = std::array<float, half_count>;
  using Places = std::array<std::array<float, level_count>, size>;

  [[nodiscard]] Half Sums(std::size_t first) const noexcept {
    return Joined(costs_, first, 0.0f, [](float a, float b) { return a + b; });
  }
  [[nodiscard]] Half LeastWrong(std::size_t first) const noexcept {
    return Joined(wrong_, first, std::numeric_limits<float>::infinity(),
                  [](float a, float b) { return b < a ? b : a; });
  }

  /// The joint costs of each choice of levels for half the places.
  template <class Join>
  [[nodiscard]] static Half Joined(const Places& places, std::size_t first, float start,
                                   const Join& join) noexcept {
    Half all;
    all[0] = start;
    std::size_t count = 1;
    for (std::size_t i = 0; i < half; ++i, count *= level_count) {
      // The last level comes first, since level 0 replaces the entries that the others are made of.
      for (std::size_t level = level_count; level-- > 0;) {
        for (std::size_t k = 0; k < count; ++k) {
          all[level * count + k] = join(all[k], places[first + i][level]);
        }
      }
    }
    return all;
  }

  template <std::size_t point_count, class Cost>
  [[nodiscard]] static ChosenPoint Best(const std::array<std::uint16_t, point_count>& codes,
                                        const Cost& cost_of) noexcept {
    ChosenPoint best;
    for (unsigned rank = 0; rank < point_count; ++rank) {
      const float cost = cost_of(codes[rank] % half_count, codes[rank] / half_count);
      if (cost < best.cost) best = {rank, cost};
    }
    return best;
  }

  Places costs_;
  Places wrong_;
};

/// Points of magnitudes, with signs apart: IQ2 and IQ3.
template <class Grid>
class SignedOctet {
 public:
  /// Chooses points and signs of octet k; returns its decoded values.
  [[nodiscard]] Octet Run(const float* x, const float* w, float factor, std::size_t k,
                          BlockPoints& found) noexcept {
    for (std::size_t i = 0; i < 8; ++i) SetCosts(i, std::fabs(x[i]), w[i], factor);
    unsigned signs = 0;
    for (std::size_t i = 0; i < 8; ++i) signs |= (x[i] < 0.0f ? 1u : 0u) << i;
    const bool is_odd = Grid::has_even_signs && even_signs(signs & 127u) != signs;
    found.signs[k] = signs ^ Choose(is_odd, &found.ranks[point_count * k]);
    return decode_signed_octet<Grid>(found, k, factor);
  }

 private:
  static constexpr std::size_t level_count =
      std::tuple_size_v<std::remove_cvref_t<decltype(Grid::levels)>>;
  static constexpr std::size_t size = level_count == 3 ? 8 : 4;  // number of places of a point
  static constexpr std::size_t point_count = 8 / size;           // points of an octet

  void SetCosts(std::size_t i, float magnitude, float w, float factor) noexcept {
    for (std::size_t level = 0; level < level_count; ++level) {
      const float y = factor * static_cast<float>(Grid::levels[level]);
      const float right = magnitude - y;
      const float wrong = magnitude + y;
      const float cost = w * (right * right);
      costs_[i / size].Set(i % size, level, cost, w * (wrong * wrong) - cost);
    }
  }

  /// Writes the ranks; returns the sign that has to be wrong, as a bit.
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

/// Chooses the points of the octets of a block anew, one after the other: choose(row, w, factor, k,
/// points) of those from a column on, with its scales as they are.
template <class Grid, class Choose>
void recode_octets(std::byte* bytes, std::size_t first_column, float* row,
                   const InputMoments& moments, const Choose& choose) noexcept {
  BlockPoints points = points_of(load_block<typename Grid::Block>(bytes, 0));
  for (std::size_t k = 0; k < 32; ++k) {
    const std::size_t column = first_column + 8 * k;
    const float factor = Grid::Factor(points.scale, points.group_codes[k / Grid::group]);
    const float* const w = moments.residual_weights().data() + column;
    moments.feed_back(column, choose(row + column, w, factor, k, points), row);
  }
  store_block(block_of<typename Grid::Block>(points), bytes, 0);
}

template <std::size_t elements, class Grid>
void recode_signed_points(std::byte* bytes, std::size_t first_column, float* row,
                          const InputMoments& moments) noexcept {
  static_assert(elements == 256);
  SignedOctet<Grid> octet;
  recode_octets<Grid>(bytes, first_column, row, moments,
                      [&](auto&&... of_octet) { return octet.Run(of_octet...); });
}

/// The best point of octet k with any shift that it may have; returns its decoded values.
template <class Grid>
[[nodiscard]] Octet choose_shifted_octet(const float* x, const float* w, float factor,
                                         std::size_t k, BlockPoints& found) noexcept {
  const unsigned shifts = Grid::has_group_shift ? 1u << found.is_minus[k] : 3u;
  PointCosts<3, 8> costs;
  ChosenPoint best;
  for (unsigned is_minus = 0; is_minus < 2; ++is_minus) {
    if ((shifts >> is_minus & 1u) == 0) continue;
    const float shift = point_shift_of(is_minus);
    for (std::size_t i = 0; i < 8; ++i) {
      for (std::size_t level = 0; level < 3; ++level) {
        const float e = x[i] - factor * (static_cast<float>(iq1_levels[level]) + shift);
        costs.Set(i, level, w[i] * (e * e), 0.0f);
      }
    }
    const ChosenPoint point = costs.Find(iq1_codes);
    // If comparisons fail, as for infinite values, any allowed shift will do.
    if (best.cost <= point.cost && shifts == 3u && is_minus != 0) continue;
    best = point;
    found.is_minus[k] = is_minus;
  }
  found.ranks[k] = best.rank;
  return decode_shifted_octet(found, k, factor);
}

template <std::size_t elements, class Grid>
void recode_shifted_points(std::byte* bytes, std::size_t first_column, float* row,
                           const InputMoments& moments) noexcept {
  static_assert(elements == 256);
  recode_octets<Grid>(bytes, first_column, row, moments, choose_shifted_octet<Grid>);
}

}  // namespace ingot::codec
