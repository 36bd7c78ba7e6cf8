// SPDX-License-Identifier: MIT
// The point of a lattice that is nearest to some weights, at a given factor: all are compared.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

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

}  // namespace ingot::codec
