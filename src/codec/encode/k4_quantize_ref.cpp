// SPDX-License-Identifier: MIT
#include "codec/codec.hpp"
#include "codec/encode/k45_search.hpp"

namespace ingot::codec {
namespace {

struct Groups {
  std::array<float, 8> scales;
  std::array<float, 8> minimums;  ///< Negated: 0 or above.
  std::array<float, 8> weights;   ///< Sums over the group.
  std::array<std::uint8_t, 8> scale_codes;
  std::array<std::uint8_t, 8> minimum_codes;
};

void search_groups(const std::array<float, 256>& x, const float* importances,
                   const AffineTries& tries, Groups& groups, Bytes<256>& codes) {
  const float mean_square = (2.0f * sum_of_squares(x.data(), 256)) / 256.0f;
  for (std::size_t g = 0; g < 8; ++g) {
    const float* values = &x[32 * g];
    std::array<float, 32> w;
    if (importances == nullptr) {
      const float average = std::sqrt(sum_of_squares(values, 32) / 32.0f);
      for (std::size_t i = 0; i < 32; ++i) w[i] = average + std::fabs(values[i]);
    } else {
      weigh_by_importance(values, importances + 32 * g, mean_square, 32, w.data());
      groups.weights[g] = sum_of(w.data(), 32);
    }
    const AffineFit fit = search_affine<32>(values, w.data(), tries, &codes[32 * g]);
    groups.scales[g] = fit.scale;
    groups.minimums[g] = -fit.minimum;
  }
}

/// The codes of scales or minimums; returns the unit that they are multiples of.
float round_groups(const std::array<float, 8>& values, std::array<std::uint8_t, 8>& codes) {
  const float largest = largest_positive(values.data(), 8);
  const float t = largest > 0.0f ? 63.0f / largest : 0.0f;
  for (std::size_t g = 0; g < 8; ++g) {
    codes[g] = static_cast<std::uint8_t>(std::min(63, round_even(t * values[g]) & 255));
  }
  return largest / 63.0f;
}

void encode_q4_k(const std::array<float, 256>& x, const float* importances, BlockQ4_K& block) {
  const K45Codes found = search_k45(x, importances, q4_k_tries);
  block.scale = found.scale;
  block.minimum = found.minimum;
  block.groups = found.groups;
  for (std::size_t e = 0; e < 256; ++e) {
    const std::size_t byte = 32 * (e / 64) + e % 32;
    block.codes[byte] |= static_cast<std::uint8_t>(found.codes[e] << (4 * (e / 32 % 2)));
  }
}

}  // namespace

K45Codes search_k45(const std::array<float, 256>& x, const float* importances,
                    const AffineTries& tries) noexcept {
  K45Codes found{};
  Groups groups;
  float scale;
  float minimum;
  if (importances == nullptr) {
    search_groups(x, nullptr, tries, groups, found.codes);
    scale = round_groups(groups.scales, groups.scale_codes);
    minimum = round_groups(groups.minimums, groups.minimum_codes);
  } else {
    search_groups(x, importances, k45_weighted_tries(tries.max_code), groups, found.codes);
    const float* w = groups.weights.data();
    scale = search_positive<8>(groups.scales.data(), w, 63, groups.scale_codes.data());
    minimum = search_positive<8>(groups.minimums.data(), w, 63, groups.minimum_codes.data());
  }
  put_scale(found.scale.data(), scale);
  put_scale(found.minimum.data(), minimum);
  scale = f16_at(found.scale.data());
  minimum = f16_at(found.minimum.data());
  for (std::size_t g = 0; g < 8; ++g) {
    const unsigned s = groups.scale_codes[g] & 63u;
    const unsigned m = groups.minimum_codes[g] & 63u;
    put_group(found.groups, g, s, m);
    round_to_scale(&x[32 * g], 32, scale * static_cast<float>(s), minimum * static_cast<float>(m),
                   0, tries.max_code, &found.codes[32 * g]);
  }
  return found;
}

void quantize_q4_k_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockQ4_K, 256>(rows, encode_q4_k);
}

}  // namespace ingot::codec
