// SPDX-License-Identifier: MIT
// Finds the scale, signs and lattice points of a group for the scalar quantizers of IQ2 and IQ3.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "codec/encode/searches.hpp"
#include "codec/lattice/lattice_neighbours.hpp"

namespace ingot::codec {

using BlockValues = std::array<float, 256>;

/// Whether `value` replaces `best` as the smallest of several numbers, which may be NaN. The first
/// NaN counts as smaller than everything, so that results are defined for all inputs.
[[nodiscard]] inline bool is_smaller(float value, float best) noexcept {
  return value < best || (value != value && best == best);
}

/// The largest of the values and zero; NaN if one is NaN.
[[nodiscard]] inline float largest_scale(const float* values, std::size_t count) noexcept {
  float largest = 0.0f;
  for (std::size_t i = 0; i < count; ++i) {
    if (values[i] > largest || values[i] != values[i]) largest = values[i];
  }
  return largest;
}

/// The integer 2 * code + 1 stands for `scale` in units of `unit`; codes are at most `code_max`.
[[nodiscard]] inline unsigned group_code(float scale, float unit, int code_max) noexcept {
  const float inverse = 1.0f / unit;
  return static_cast<unsigned>(
      std::clamp(round_even(0.5f * (inverse * scale - 1.0f)), 0, code_max));
}

/// The rank of the point for the values x with weights w if level index l stands for
/// scale * levels[l]: the point itself or the neighbour with the smallest weighted squared error.
template <std::size_t dimensions>
[[nodiscard]] std::uint16_t snap_to_rank(const LatticeNeighbours& lattice, const LatticeSnap& snap,
                                         const float* x, const float* w, float scale,
                                         const float* levels) noexcept {
  float best_error = 0.0f;
  std::uint32_t best = snap.first;
  for (std::uint32_t index = snap.first; index < snap.first + snap.count; ++index) {
    const std::uint32_t point = lattice.neighbour_points[index];
    float error = 0.0f;
    for (std::size_t i = 0; i < dimensions; ++i) {
      const float difference = scale * levels[point >> (4 * i) & 15u] - x[i];
      error += w[i] * difference * difference;
    }
    if (index == snap.first || is_smaller(error, best_error)) {
      best = index;
      best_error = error;
    }
  }
  return lattice.neighbour_ranks[best];
}

/// Magnitudes of a group and its signs, a byte for each octet.
template <std::size_t elements>
struct SignedMagnitudes {
  std::array<float, elements> magnitudes;
  std::array<std::uint8_t, elements / 8> signs;
};

template <std::size_t elements>
[[nodiscard]] SignedMagnitudes<elements> split_signs(const float* x) noexcept {
  SignedMagnitudes<elements> split{};
  for (std::size_t i = 0; i < elements; ++i) {
    const bool is_negative = !(x[i] >= 0.0f);
    split.magnitudes[i] = is_negative ? -x[i] : x[i];
    if (is_negative) split.signs[i / 8] |= static_cast<std::uint8_t>(1u << (i % 8));
  }
  return split;
}

/// Makes the number of minus signs of each octet even, by turning the sign of the value that
/// matters least; its magnitude becomes negative. Only seven signs of each octet are kept.
template <std::size_t elements>
void make_signs_even(const float* x, const float* w, SignedMagnitudes<elements>& split) noexcept {
  for (std::size_t octet = 0; octet < elements / 8; ++octet) {
    std::uint8_t& signs = split.signs[octet];
    if (std::popcount(signs) % 2 != 0) {
      std::size_t least = 8 * octet;
      for (std::size_t i = 8 * octet + 1; i < 8 * octet + 8; ++i) {
        if (is_smaller(w[i] * x[i] * x[i], w[least] * x[least] * x[least])) least = i;
      }
      split.magnitudes[least] = -split.magnitudes[least];
      signs ^= static_cast<std::uint8_t>(1u << (least % 8));
    }
    signs &= 127;
  }
}

/// The step after the search, with the best scale.
enum class Resnap : std::uint8_t {
  off_grid,        ///< Snaps points again that were outside the lattice.
  all_if_any_off,  ///< Snaps all points again, if one was outside.
  always,
};

/// A search for the scale of a group. Level index l stands for 2 * l + 1.
struct LatticeSearch {
  int level_count;
  int steps;        ///< Scales -steps..steps are tried
  float step;       ///< in these steps
  float extent;     ///< around the one that makes this the highest level.
  float start;      ///< The scale if no try fits.
  bool is_on_grid;  ///< Whether the zeros before the search count as points of the lattice.
  Resnap resnap;
};

template <std::size_t elements, std::size_t dimensions>
class LatticeFit {
 public:
  static constexpr std::size_t point_count = elements / dimensions;
  using Ranks = std::array<std::uint16_t, point_count>;

  LatticeFit(const LatticeNeighbours& lattice, const std::array<float, elements>& x,
             const float* w) noexcept
      : lattice_(lattice), x_(x), w_(w) {
    for (std::size_t i = 0; i < elements; ++i) root_w_[i] = std::sqrt(w[i]);
  }

  /// The scale, maybe negative; ranks() are the points.
  [[nodiscard]] float find(const LatticeSearch& search) noexcept {
    const auto top = static_cast<float>(2 * search.level_count - 1);
    float scale = search.start;
    float best = 0.0f;
    bool is_on_grid = search.is_on_grid;
    std::array<bool, point_count> on_grid;
    on_grid.fill(is_on_grid);
    for (int k = -search.steps; k <= search.steps; ++k) {
      const float t = (top + static_cast<float>(k) * search.step) / search.extent;
      const Snapped snapped = snap(t, 1.0f / t);
      const Sums sums = sums_of(snapped.ranks);
      if (sums.q > 0.0f && sums.p * sums.p > best * sums.q) {
        scale = sums.p / sums.q;
        best = scale * sums.p;
        ranks_ = snapped.ranks;
        on_grid = snapped.on_grid;
        is_on_grid = std::ranges::find(on_grid, false) == on_grid.end();
      }
    }
    if (!(scale > 0.0f) || (is_on_grid && search.resnap != Resnap::always)) return scale;
    const Snapped again = snap(1.0f / scale, scale);
    for (std::size_t k = 0; k < point_count; ++k) {
      if (search.resnap != Resnap::off_grid || !on_grid[k]) ranks_[k] = again.ranks[k];
    }
    const Sums sums = sums_of(ranks_);
    return sums.q > 0.0f ? sums.p / sums.q : scale;
  }

  [[nodiscard]] const Ranks& ranks() const noexcept { return ranks_; }

 private:
  static constexpr std::array<float, 8> levels = {1, 3, 5, 7, 9, 11, 13, 15};

  struct Snapped {
    Ranks ranks;
    std::array<bool, point_count> on_grid;
  };

  /// The best scale for given points is p / q.
  struct Sums {
    float p;
    float q;
  };

  [[nodiscard]] Snapped snap(float t, float scale) const noexcept {
    Snapped snapped;
    const int index_max = static_cast<int>(lattice_.level_count) - 1;
    for (std::size_t k = 0; k < point_count; ++k) {
      const std::size_t first = k * dimensions;
      unsigned code = 0;
      for (std::size_t i = dimensions; i-- > 0;) {
        const int rounded = round_even(0.5f * (t * x_[first + i] - 1.0f));
        const auto index = static_cast<unsigned>(std::clamp(rounded, 0, index_max));
        code = code * lattice_.level_count + index;
      }
      const LatticeSnap& entry = lattice_.snaps[code];
      snapped.on_grid[k] = entry.count == 0;
      snapped.ranks[k] = snap_to_rank<dimensions>(lattice_, entry, &x_[first], &root_w_[first],
                                                  scale, levels.data());
    }
    return snapped;
  }

  [[nodiscard]] Sums sums_of(const Ranks& ranks) const noexcept {
    Sums sums = {0.0f, 0.0f};
    for (std::size_t k = 0; k < point_count; ++k) {
      const std::uint32_t point = lattice_.points[ranks[k]];
      for (std::size_t i = 0; i < dimensions; ++i) {
        const std::size_t element = k * dimensions + i;
        const float level = levels[point >> (4 * i) & 15u];
        sums.p += w_[element] * x_[element] * level;
        sums.q += w_[element] * level * level;
      }
    }
    return sums;
  }

  const LatticeNeighbours& lattice_;
  const std::array<float, elements>& x_;
  const float* w_;
  std::array<float, elements> root_w_;
  Ranks ranks_{};  // rank 0 is the point of all ones in each of these lattices
};

/// The search of the references.
struct ScalarMethod {
  template <std::size_t elements, std::size_t dimensions>
  using Fit = LatticeFit<elements, dimensions>;

  template <std::size_t elements>
  static SignedMagnitudes<elements> split_signs(const float* x) noexcept {
    return codec::split_signs<elements>(x);
  }

  template <std::size_t elements>
  static float largest(const std::array<float, elements>& values) noexcept {
    return *std::ranges::max_element(values);
  }

  /// Finds the scale for codes 0..4 of 32 values with few negative ones.
  static float find_positive_scale(const float* x, const float* w, float /*largest*/) noexcept {
    std::array<std::uint8_t, 32> codes;
    return search_positive<32>(x, w, 4, codes.data());
  }
};

/// Turns a negative scale positive, and with it all signs.
template <std::size_t octets>
void make_scale_positive(float& scale, std::array<std::uint8_t, octets>& signs,
                         std::uint8_t kept) noexcept {
  if (!(scale < 0.0f)) return;
  scale = -scale;
  for (std::uint8_t& octet : signs) octet = static_cast<std::uint8_t>(~octet & kept);
}

}  // namespace ingot::codec
