// SPDX-License-Identifier: MIT
#include "codec/codec.hpp"
#include "codec/iq1.hpp"
#include "codec/lattice_search.hpp"
#include "codec/quantize_common.hpp"

namespace ingot::codec {
namespace {

using Values = std::array<float, 256>;

/// What the level indices stand for with each shift.
constexpr std::array<float, 3> plus_levels = {-0.875f, 0.125f, 1.125f};
constexpr std::array<float, 3> minus_levels = {-1.125f, -0.125f, 0.875f};

/// Below all scores of a fit.
constexpr float lowest_score = -3.40282347e38f;

Values importances_of(const Values& x, const float* weights) noexcept {
  const float square = mean_square(x, 2.0f);
  Values w;
  for (std::size_t i = 0; i < x.size(); ++i) {
    w[i] = weights != nullptr ? weights[i] * std::sqrt(square + x[i] * x[i]) : x[i] * x[i];
  }
  return w;
}

template <std::size_t elements>
float largest_magnitude(const float* x) noexcept {
  float largest = 0.0f;
  for (std::size_t i = 0; i < elements; ++i) largest = std::max(largest, std::fabs(x[i]));
  return largest;
}

/// The positions of the values in ascending order; equal ones stay in order.
template <std::size_t elements>
std::array<std::uint8_t, elements> sorted_positions(const float* x) noexcept {
  std::array<std::uint8_t, elements> order;
  for (std::size_t i = 0; i < elements; ++i) {
    std::size_t place = i;
    for (; place > 0 && x[order[place - 1]] > x[i]; --place) order[place] = order[place - 1];
    order[place] = static_cast<std::uint8_t>(i);
  }
  return order;
}

/// The best of all ways to give the sorted values of a group ascending levels: those before `first`
/// get index 0, those from `second` on index 2. Bit j of `minus` tells the shift of part j of the
/// group.
struct Cuts {
  bool is_found = false;
  float scale = 0.0f;
  std::size_t first = 0;
  std::size_t second = 0;
  unsigned minus = 0;
  float score = lowest_score;

  /// A way for which scale = p / q fits best.
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

/// p and q are taken from sums over a prefix, the middle and the rest.
Cuts find_cuts_iq1_s(const float* x, const float* w,
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
constexpr std::array<unsigned, 4> iq1_m_shifts = {0, 2, 1, 3};

Cuts find_cuts_iq1_m(const float* x, const float* w,
                     const std::array<std::uint8_t, 16>& order) noexcept {
  Cuts best;
  for (std::size_t first = 0; first <= 16; ++first) {
    for (std::size_t second = first; second <= 16; ++second) {
      std::array<float, 4> p{};
      std::array<float, 4> q{};
      for (std::size_t j = 0; j < 16; ++j) {
        const std::size_t i = order[j];
        const std::size_t index = j < first ? 0 : j < second ? 1 : 2;
        for (std::size_t k = 0; k < 4; ++k) {
          const bool is_minus = (iq1_m_shifts[k] >> (i / 8) & 1u) != 0;
          const float level = is_minus ? minus_levels[index] : plus_levels[index];
          const float product = w[i] * level;
          p[k] += product * x[i];
          q[k] += product * level;
        }
      }
      for (std::size_t k = 0; k < 4; ++k) {
        best.consider(p[k], q[k], first, second, iq1_m_shifts[k]);
      }
    }
  }
  return best;
}

/// A group of octets, each shifted up or down.
template <std::size_t octets>
struct Group {
  float scale = 0.0f;
  unsigned minus = 0;
  std::array<std::uint16_t, octets> ranks{};
};

/// Snaps what the cuts say to the lattice. Each shift is that of `octets / parts` octets.
template <std::size_t octets, std::size_t parts>
Group<octets> snap_cuts(const Cuts& cuts, const std::array<std::uint8_t, 8 * octets>& order,
                        const float* x, const float* w) noexcept {
  if (!cuts.is_found) return {};
  const LatticeNeighbours& lattice = iq1_neighbours();
  Group<octets> group = {cuts.scale, cuts.minus, {}};
  std::array<unsigned, 8 * octets> indices{};
  for (std::size_t j = 0; j < order.size(); ++j) {
    indices[order[j]] = j < cuts.first ? 0 : j < cuts.second ? 1 : 2;
  }
  if (group.scale < 0.0f) {
    for (unsigned& index : indices) index = 2 - index;
    group.scale = -group.scale;
    group.minus ^= (1u << parts) - 1;
  }
  bool is_on_grid = true;
  float p = 0.0f;
  float q = 0.0f;
  for (std::size_t k = 0; k < octets; ++k) {
    const bool is_minus = (group.minus >> (k * parts / octets) & 1u) != 0;
    const auto& levels = is_minus ? minus_levels : plus_levels;
    unsigned code = 0;
    for (std::size_t i = 8; i-- > 0;) code = code * 3 + indices[8 * k + i];
    const LatticeSnap& snap = lattice.snaps[code];
    is_on_grid = is_on_grid && snap.count == 0;
    group.ranks[k] =
        snap_to_rank<8>(lattice, snap, x + 8 * k, w + 8 * k, group.scale, levels.data());
    for (std::size_t i = 0; i < 8; ++i) {
      const float level = levels[lattice.points[group.ranks[k]] >> (4 * i) & 15u];
      p += w[8 * k + i] * level * x[8 * k + i];
      q += w[8 * k + i] * level * level;
    }
  }
  if (!is_on_grid && p > 0.0f && q > 0.0f) group.scale = p / q;
  return group;
}

void encode_iq1_s(const Values& x, const float* weights, BlockIQ1_S& block) noexcept {
  const Values w = importances_of(x, weights);
  std::array<Group<4>, 8> groups;
  std::array<float, 8> scales{};
  for (std::size_t g = 0; g < 8; ++g) {
    const float* values = &x[32 * g];
    if (!(largest_magnitude<32>(values) >= 1e-12f)) continue;
    const auto order = sorted_positions<32>(values);
    const Cuts cuts = find_cuts_iq1_s(values, &w[32 * g], order);
    groups[g] = snap_cuts<4, 1>(cuts, order, values, &w[32 * g]);
    scales[g] = groups[g].scale;
  }
  const float largest = largest_scale(scales.data(), scales.size());
  const float unit = largest / 15.0f;
  if (largest != 0.0f) put_scale(block.scale.data(), unit * 1.125f);
  for (std::size_t g = 0; g < 8; ++g) {
    unsigned word = 0;
    if (largest != 0.0f) {
      word = group_code(groups[g].scale, unit, 7) << 12 | groups[g].minus << 15;
    }
    for (std::size_t j = 0; j < 4; ++j) {
      block.ranks[4 * g + j] = static_cast<std::uint8_t>(groups[g].ranks[j]);
      word |= static_cast<unsigned>(groups[g].ranks[j]) >> 8 << (3 * j);
    }
    put_u16(&block.groups[2 * g], static_cast<std::uint16_t>(word));
  }
}

/// The scale with which codes and points of all groups fit best; else `unit`.
float refit_scale(const Values& x, const Values& w, const std::array<Group<2>, 16>& groups,
                  const std::array<unsigned, 16>& codes, float unit) noexcept {
  const LatticeNeighbours& lattice = iq1_neighbours();
  float p = 0.0f;
  float q = 0.0f;
  for (std::size_t k = 0; k < 32; ++k) {
    const Group<2>& group = groups[k / 2];
    const auto& levels = (group.minus >> (k % 2) & 1u) != 0 ? minus_levels : plus_levels;
    const std::uint32_t point = lattice.points[group.ranks[k % 2]];
    const auto factor = static_cast<float>(2 * codes[k / 2] + 1);
    for (std::size_t i = 0; i < 8; ++i) {
      const float level = levels[point >> (4 * i) & 15u] * factor;
      const float product = w[8 * k + i] * level;
      p += product * x[8 * k + i];
      q += product * level;
    }
  }
  return q > 0.0f ? p / q : unit;
}

void put_groups(const std::array<Group<2>, 16>& groups, bool has_scale,
                BlockIQ1_M& block) noexcept {
  for (std::size_t k = 0; k < 32; ++k) {
    const Group<2>& group = groups[k / 2];
    const unsigned rank = group.ranks[k % 2];
    const unsigned minus = has_scale ? group.minus >> (k % 2) & 1u : 0u;
    block.ranks[k] = static_cast<std::uint8_t>(rank);
    block.rank_high[k / 2] |= static_cast<std::uint8_t>((rank >> 8 | minus << 3) << (4 * (k % 2)));
  }
}

void encode_iq1_m(const Values& x, const float* weights, BlockIQ1_M& block) noexcept {
  const Values w = importances_of(x, weights);
  std::array<Group<2>, 16> groups;
  std::array<float, 16> scales{};
  for (std::size_t g = 0; g < 16; ++g) {
    const float* values = &x[16 * g];
    if (!(largest_magnitude<16>(values) >= 1e-7f)) continue;
    const auto order = sorted_positions<16>(values);
    const Cuts cuts = find_cuts_iq1_m(values, &w[16 * g], order);
    groups[g] = snap_cuts<2, 2>(cuts, order, values, &w[16 * g]);
    scales[g] = groups[g].scale;
  }
  const float largest = largest_scale(scales.data(), scales.size());
  put_groups(groups, largest != 0.0f, block);
  if (largest == 0.0f) return;
  const float unit = largest / 15.0f;
  std::array<unsigned, 16> codes;
  for (std::size_t g = 0; g < 16; ++g) codes[g] = group_code(scales[g], unit, 7);
  Bytes<2> scale;
  put_scale(scale.data(), refit_scale(x, w, groups, codes, unit) * 1.1125f);
  for (std::size_t i = 0; i < 4; ++i) {
    unsigned word = (u16_at(scale.data()) >> (4 * i) & 15u) << 12;
    for (std::size_t j = 0; j < 4; ++j) word |= codes[4 * i + j] << (3 * j);
    put_u16(&block.groups[2 * i], static_cast<std::uint16_t>(word));
  }
}

}  // namespace

void quantize_iq1_s_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockIQ1_S, 256>(rows, encode_iq1_s);
}

void quantize_iq1_m_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockIQ1_M, 256>(rows, encode_iq1_m);
}

}  // namespace ingot::codec
