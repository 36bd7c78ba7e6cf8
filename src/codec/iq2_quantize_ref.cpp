// SPDX-License-Identifier: MIT
#include "codec/codec.hpp"
#include "codec/iq2.hpp"
#include "codec/lattice_search.hpp"
#include "codec/quantize_common.hpp"

namespace ingot::codec {
namespace {

using Values = std::array<float, 256>;

/// Importances from weights, which may be null.
Values importances_of(const Values& x, const float* weights, float square) noexcept {
  Values w;
  for (std::size_t i = 0; i < x.size(); ++i) {
    w[i] = weights != nullptr ? weights[i] * std::sqrt(square + x[i] * x[i])
                              : 0.25f * square + x[i] * x[i];
  }
  return w;
}

/// Error of the scale 1/t; codes above 4 become 4, or if they are not capped, are bytes.
float scale_error(const float* x, const float* w, float t, bool is_capped) noexcept {
  const float scale = 1.0f / t;
  float error = 0.0f;
  for (std::size_t i = 0; i < 32; ++i) {
    const int rounded = round_even(t * x[i]);
    const int code = is_capped ? std::min(4, rounded) : rounded & 255;
    const float difference = x[i] - scale * static_cast<float>(code);
    error += w[i] * difference * difference;
  }
  return error;
}

/// The t, around 4 / largest, for which rounding t * x loses least.
float find_inverse_scale(const float* x, const float* w, float largest) noexcept {
  float best_t = 4.0f / largest;
  float best_error = scale_error(x, w, best_t, false);
  for (int k = -4; k <= 4; ++k) {
    if (k == 0) continue;
    const float t = (0.1f * static_cast<float>(k) + 4.0f) / largest;
    const float error = scale_error(x, w, t, true);
    if (error < best_error) {
      best_error = error;
      best_t = t;
    }
  }
  return best_t;
}

/// A scale for codes 0..4 of 32 values of which few are negative, the largest being `largest`. As
/// in the reference implementation, codes are kept in bytes: -1 becomes 255.
float find_positive_scale(const float* x, const float* w, float largest) noexcept {
  const float t = find_inverse_scale(x, w, largest);
  std::array<int, 32> codes;
  float p = 0.0f;
  float q = 0.0f;
  for (std::size_t i = 0; i < 32; ++i) {
    const int code = std::min(4, round_even(t * x[i]));
    p += w[i] * x[i] * static_cast<float>(code);
    q += w[i] * static_cast<float>(code) * static_cast<float>(code);
    codes[i] = code & 255;
  }
  bool has_changed = true;
  for (int pass = 0; pass < 5 && has_changed; ++pass) {
    has_changed = false;
    for (std::size_t i = 0; i < 32; ++i) {
      const auto old_code = static_cast<float>(codes[i]);
      const float rest_p = p - w[i] * x[i] * old_code;
      const float rest_q = q - w[i] * old_code * old_code;
      if (!(rest_p > 0.0f && rest_q > 0.0f)) continue;
      const int code = std::min(4, round_even(x[i] * rest_q / rest_p));
      if (code == codes[i]) continue;
      const auto new_code = static_cast<float>(code);
      const float new_p = rest_p + w[i] * x[i] * new_code;
      const float new_q = rest_q + w[i] * new_code * new_code;
      if (!(new_p * new_p * q > p * p * new_q)) continue;
      codes[i] = code & 255;
      p = new_p;
      q = new_q;
      has_changed = true;
    }
  }
  return q > 0.0f ? p / q : 0.0f;
}

void encode_iq2_xxs(const Values& x, const float* weights, BlockIQ2_XXS& block) noexcept {
  const LatticeNeighbours& lattice = iq2_xxs_neighbours();
  const Values w = importances_of(x, weights, mean_square(x, 1.0f));
  std::array<float, 8> scales{};
  std::array<std::uint32_t, 16> words{};
  for (std::size_t g = 0; g < 8; ++g) {
    const float* importances = &w[32 * g];
    auto split = split_signs<32>(&x[32 * g]);
    make_signs_even(&x[32 * g], importances, split);
    const float largest = *std::ranges::max_element(split.magnitudes);
    if (!(largest >= 1e-15f)) continue;
    const float start = find_positive_scale(split.magnitudes.data(), importances, largest);
    const float extent = start * 3.0f;
    if (extent <= 0.0f) continue;
    LatticeFit<32, 8> fit(lattice, split.magnitudes, importances);
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
  put_scale(block.scale.data(), unit);
  for (std::size_t g = 0; g < 8; ++g) {
    words[2 * g + 1] |= group_code(scales[g], unit, 15) << 28;
    put_u32(&block.groups[8 * g], words[2 * g]);
    put_u32(&block.groups[8 * g + 4], words[2 * g + 1]);
  }
}

/// What IQ2_XS and IQ2_S have in common: 16 groups of two octets.
struct Groups {
  std::array<float, 16> scales{};
  std::array<std::uint16_t, 32> ranks{};
  std::array<std::uint8_t, 32> signs{};
};

Groups find_groups(const LatticeNeighbours& lattice, const Values& x, const Values& w,
                   bool has_even_signs, float smallest) noexcept {
  Groups groups;
  for (std::size_t g = 0; g < 16; ++g) {
    auto split = split_signs<16>(&x[16 * g]);
    if (has_even_signs) make_signs_even(&x[16 * g], &w[16 * g], split);
    const float largest = *std::ranges::max_element(split.magnitudes);
    if (!(largest >= smallest)) continue;
    LatticeFit<16, 8> fit(lattice, split.magnitudes, &w[16 * g]);
    groups.scales[g] = fit.find({3, 9, 0.1f, largest, largest / 5.0f, true, Resnap::off_grid});
    make_scale_positive(groups.scales[g], split.signs, has_even_signs ? 127 : 255);
    for (std::size_t j = 0; j < 2; ++j) {
      groups.ranks[2 * g + j] = fit.ranks()[j];
      groups.signs[2 * g + j] = split.signs[j];
    }
  }
  return groups;
}

void put_group_codes(const Groups& groups, float unit, Bytes<8>& bytes) noexcept {
  for (std::size_t g = 0; g < 16; ++g) {
    const unsigned code = group_code(groups.scales[g], unit, 15);
    bytes[g / 2] |= static_cast<std::uint8_t>(code << (4 * (g % 2)));
  }
}

void encode_iq2_xs(const Values& x, const float* weights, BlockIQ2_XS& block) noexcept {
  const Values w = importances_of(x, weights, mean_square(x, 1.0f));
  const Groups groups = find_groups(iq2_xs_neighbours(), x, w, true, 1e-15f);
  const float largest = largest_scale(groups.scales.data(), groups.scales.size());
  if (largest == 0.0f) return;
  const float unit = largest / 31.0f;
  put_scale(block.scale.data(), unit);
  for (std::size_t k = 0; k < 32; ++k) {
    put_u16(&block.octets[2 * k],
            static_cast<std::uint16_t>(groups.ranks[k] | groups.signs[k] << 9));
  }
  put_group_codes(groups, unit, block.groups);
}

void encode_iq2_s(const Values& x, const float* weights, BlockIQ2_S& block) noexcept {
  const Values w = importances_of(x, weights, mean_square(x, 2.0f));
  const Groups groups = find_groups(iq2_s_neighbours(), x, w, false, 1e-8f);
  for (std::size_t k = 0; k < 32; ++k) {
    block.ranks[k] = static_cast<std::uint8_t>(groups.ranks[k]);
    block.signs[k] = groups.signs[k];
    block.rank_high[k / 4] |= static_cast<std::uint8_t>(groups.ranks[k] >> 8 << (2 * (k % 4)));
  }
  const float largest = largest_scale(groups.scales.data(), groups.scales.size());
  if (largest == 0.0f) return;
  const float unit = largest / 31.0f;
  put_scale(block.scale.data(), unit * 0.9875f);
  put_group_codes(groups, unit, block.groups);
}

}  // namespace

void quantize_iq2_xxs_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockIQ2_XXS, 256>(rows, encode_iq2_xxs);
}

void quantize_iq2_xs_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockIQ2_XS, 256>(rows, encode_iq2_xs);
}

void quantize_iq2_s_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockIQ2_S, 256>(rows, encode_iq2_s);
}

}  // namespace ingot::codec
