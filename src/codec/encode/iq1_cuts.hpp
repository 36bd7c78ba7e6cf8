// SPDX-License-Identifier: MIT
// Chooses the levels of a group for the quantizers of IQ1, which then snap them to the lattice.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "codec/encode/lattice_search.hpp"

namespace ingot::codec {

/// The levels by index with each shift; the fourth is padding for vectors.
alignas(16) inline constexpr std::array<float, 4> plus_levels = {-0.875f, 0.125f, 1.125f, 0.0f};
alignas(16) inline constexpr std::array<float, 4> minus_levels = {-1.125f, -0.125f, 0.875f, 0.0f};

/// A score below all scores of a fit.
inline constexpr float lowest_score = -3.40282347e38f;

template <std::size_t elements>
[[nodiscard]] float largest_magnitude(const float* x) noexcept {
  float largest = 0.0f;
  for (std::size_t i = 0; i < elements; ++i) largest = std::max(largest, std::fabs(x[i]));
  return largest;
}

/// The positions of the values in ascending order; equal ones stay in order.
template <std::size_t elements>
[[nodiscard]] std::array<std::uint8_t, elements> sorted_positions(const float* x) noexcept {
  std::array<std::uint8_t, elements> order;
  for (std::size_t i = 0; i < elements; ++i) {
    std::size_t place = i;
    for (; place > 0 && x[order[place - 1]] > x[i]; --place) order[place] = order[place - 1];
    order[place] = static_cast<std::uint8_t>(i);
  }
  return order;
}

/// The best of all ways to give the sorted values of a group ascending levels: those before `first`
/// get index 0, those from `second` on index 2. Bit j of `minus` is set if part j of the group
/// is shifted down.
struct Cuts {
  bool is_found = false;
  float scale = 0.0f;
  std::size_t first = 0;
  std::size_t second = 0;
  unsigned minus = 0;
  float score = lowest_score;

  /// Takes a candidate with the best scale p / q, if it fits better.
  void consider(float p, float q, std::size_t first_cut, std::size_t second_cut,
                unsigned shifts) noexcept {
    if (!(q > 0.0f && p * p > score * q)) return;
    scale = p / q;
    score = scale * p;
    is_found = true;
    first = first_cut;
    second = second_cut;
    minus = shifts;
  }
};

/// p and q come from sums over the values before, between and after the cuts.
[[nodiscard]] inline Cuts find_cuts_iq1_s(const float* x, const float* w,
                                          const std::array<std::uint8_t, 32>& order) noexcept {
  std::array<float, 33> sum_x{};
  std::array<float, 33> sum_w{};
  for (std::size_t j = 0; j < 32; ++j) {
    sum_x[j + 1] = sum_x[j] + w[order[j]] * x[order[j]];
    sum_w[j + 1] = sum_w[j] + w[order[j]];
  }
  Cuts best;
  for (std::size_t first = 0; first <= 32; ++first) {
    for (std::size_t second = first; second <= 32; ++second) {
      const std::array px = {sum_x[first], sum_x[second] - sum_x[first], sum_x[32] - sum_x[second]};
      const std::array pw = {sum_w[first], sum_w[second] - sum_w[first], sum_w[32] - sum_w[second]};
      for (unsigned minus = 0; minus < 2; ++minus) {
        const auto& level = minus != 0 ? minus_levels : plus_levels;
        const float p = px[0] * level[0] + px[1] * level[1] + px[2] * level[2];
        const float q =
            pw[0] * level[0] * level[0] + pw[1] * level[1] * level[1] + pw[2] * level[2] * level[2];
        best.consider(p, q, first, second, minus);
      }
    }
  }
  return best;
}

/// The four ways to shift two octets: bit j of the index is set if octet j is shifted down.
/// They are tried in this order.
inline constexpr std::array<unsigned, 4> iq1_m_shifts = {0, 2, 1, 3};

/// Sums over the sorted values of a group before each cut, of either octet by itself; with padding
/// for vectors.
struct OctetSums {
  std::array<std::array<float, 32>, 2> x{};  ///< Sums of weight * value.
  std::array<std::array<float, 32>, 2> w{};  ///< Sums of weights.

  OctetSums(const float* values, const float* weights,
            const std::array<std::uint8_t, 16>& order) noexcept {
    for (std::size_t j = 0; j < 16; ++j) {
      const std::size_t i = order[j];
      for (std::size_t octet = 0; octet < 2; ++octet) {
        x[octet][j + 1] = x[octet][j];
        w[octet][j + 1] = w[octet][j];
      }
      x[i / 8][j + 1] += weights[i] * values[i];
      w[i / 8][j + 1] += weights[i];
    }
  }

  /// All shifts at two cuts. As levels differ by 1, p is its value for the highest level everywhere
  /// minus two sums.
  void consider(std::size_t first, std::size_t second, Cuts& best) const noexcept {
    std::array<std::array<float, 2>, 2> p;
    std::array<std::array<float, 2>, 2> q;
    for (std::size_t octet = 0; octet < 2; ++octet) {
      for (std::size_t minus = 0; minus < 2; ++minus) {
        const auto& [low, middle, high, _] = minus != 0 ? minus_levels : plus_levels;
        p[octet][minus] = x[octet][16] * high - (x[octet][first] + x[octet][second]);
        q[octet][minus] = w[octet][16] * high * high +
                          w[octet][first] * (low * low - middle * middle) +
                          w[octet][second] * (middle * middle - high * high);
      }
    }
    for (const unsigned minus : iq1_m_shifts) {
      best.consider(p[0][minus & 1u] + p[1][minus >> 1], q[0][minus & 1u] + q[1][minus >> 1], first,
                    second, minus);
    }
  }
};

[[nodiscard]] inline Cuts find_cuts_iq1_m(const OctetSums& sums) noexcept {
  Cuts best;
  for (std::size_t first = 0; first <= 16; ++first) {
    for (std::size_t second = first; second <= 16; ++second) sums.consider(first, second, best);
  }
  return best;
}

/// The search of the references. Each search for cuts also sorts.
struct ScalarSearch : ScalarMethod {
  template <std::size_t elements>
  static float largest_magnitude(const float* x) noexcept {
    return codec::largest_magnitude<elements>(x);
  }

  static Cuts find_cuts(const float* x, const float* w,
                        std::array<std::uint8_t, 32>& order) noexcept {
    order = sorted_positions<32>(x);
    return codec::find_cuts_iq1_s(x, w, order);
  }

  static Cuts find_cuts(const float* x, const float* w,
                        std::array<std::uint8_t, 16>& order) noexcept {
    order = sorted_positions<16>(x);
    return find_cuts_iq1_m(OctetSums(x, w, order));
  }

  static std::uint16_t snap_octet(const LatticeNeighbours& lattice, const LatticeSnap& snap,
                                  const float* x, const float* w, float scale,
                                  const float* levels) noexcept {
    return snap_to_rank<8>(lattice, snap, x, w, scale, levels);
  }
};

}  // namespace ingot::codec
