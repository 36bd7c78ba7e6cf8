// SPDX-License-Identifier: MIT
#include "codec/blocks/k2.hpp"
#include "codec/codec.hpp"
#include "codec/encode/searches.hpp"

namespace ingot::codec {
namespace {

struct Groups {
  std::array<float, 16> scales;
  std::array<float, 16> minimums;  ///< Negated: 0 or above.
  std::array<float, 16> weights;   ///< Sums over the group.
  std::array<std::uint8_t, 16> scale_codes;
  std::array<std::uint8_t, 16> minimum_codes;
};

/// The codes of scales or minimums; returns the unit that they are multiples of.
float round_groups(const std::array<float, 16>& values, std::array<std::uint8_t, 16>& codes) {
  const float largest = largest_positive(values.data(), 16);
  codes.fill(0);
  if (!(largest > 0.0f)) return 0.0f;
  const float t = 15.0f / largest;
  for (std::size_t g = 0; g < 16; ++g) {
    codes[g] = static_cast<std::uint8_t>(round_even(t * values[g]) & 15);
  }
  return largest / 15.0f;
}

void search_groups(const std::array<float, 256>& x, const float* importances, Groups& groups,
                   std::array<std::uint8_t, 256>& codes) {
  const float mean_square = sum_of_squares(x.data(), 256) / 256.0f;
  for (std::size_t g = 0; g < 16; ++g) {
    const float* values = &x[16 * g];
    std::array<float, 16> w;
    AffineFit fit;
    if (importances == nullptr) {
      for (std::size_t i = 0; i < 16; ++i) w[i] = std::fabs(values[i]);
      const AffineTries tries = {3, -0.5f, 0.1f, 15, true};
      fit = search_affine<16>(values, w.data(), tries, &codes[16 * g]);
    } else {
      weigh_by_importance(values, importances + 16 * g, mean_square, 16, w.data());
      groups.weights[g] = sum_of(w.data(), 16);
      const AffineTries tries = {3, -0.9f, 0.05f, 36};
      fit = search_affine<16>(values, w.data(), tries, &codes[16 * g]);
    }
    groups.scales[g] = fit.scale;
    groups.minimums[g] = -fit.minimum;
  }
}

void encode(const std::array<float, 256>& x, const float* importances, BlockQ2_K& block) {
  Groups groups;
  std::array<std::uint8_t, 256> codes;
  search_groups(x, importances, groups, codes);
  float scale;
  float minimum;
  if (importances == nullptr) {
    scale = round_groups(groups.scales, groups.scale_codes);
    minimum = round_groups(groups.minimums, groups.minimum_codes);
  } else {
    const float* w = groups.weights.data();
    scale = search_positive<16>(groups.scales.data(), w, 15, groups.scale_codes.data());
    minimum = search_positive<16>(groups.minimums.data(), w, 15, groups.minimum_codes.data());
  }
  put_scale(block.scale.data(), scale);
  put_scale(block.minimum.data(), minimum);
  scale = f16_at(block.scale.data());
  minimum = f16_at(block.minimum.data());
  for (std::size_t g = 0; g < 16; ++g) {
    const std::uint8_t s = groups.scale_codes[g];
    const std::uint8_t m = groups.minimum_codes[g];
    block.groups[g] = static_cast<std::uint8_t>(s | m << 4);
    round_to_scale(&x[16 * g], 16, scale * to_float(s), minimum * to_float(m), 0, 3,
                   &codes[16 * g]);
  }
  for (std::size_t e = 0; e < 256; ++e) {
    const std::size_t byte = 32 * (e / 128) + e % 32;
    block.codes[byte] |= static_cast<std::uint8_t>(codes[e] << (2 * (e % 128 / 32)));
  }
}

}  // namespace

void quantize_q2_k_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockQ2_K, 256>(rows, encode);
}

}  // namespace ingot::codec
