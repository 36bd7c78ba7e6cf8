// SPDX-License-Identifier: MIT
#include "codec/blocks/k.hpp"
#include "codec/codec.hpp"
#include "codec/encode/k45_search.hpp"
#include "codec/encode/searches.hpp"

namespace ingot::codec {
namespace {

struct GroupsQ2_K {
  std::array<float, 16> scales;
  std::array<float, 16> minimums;  ///< Negated: 0 or above.
  std::array<float, 16> weights;   ///< Sums over the group.
  std::array<std::uint8_t, 16> scale_codes;
  std::array<std::uint8_t, 16> minimum_codes;
};

/// The codes of scales or minimums; returns the unit that they are multiples of.
float round_groups_q2_k(const std::array<float, 16>& values, std::array<std::uint8_t, 16>& codes) {
  const float largest = largest_positive(values.data(), 16);
  codes.fill(0);
  if (!(largest > 0.0f)) return 0.0f;
  const float t = 15.0f / largest;
  for (std::size_t g = 0; g < 16; ++g) {
    codes[g] = static_cast<std::uint8_t>(round_even(t * values[g]) & 15);
  }
  return largest / 15.0f;
}

void search_groups_q2_k(const std::array<float, 256>& x, const float* importances,
                        GroupsQ2_K& groups, std::array<std::uint8_t, 256>& codes) {
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

void encode_q2_k(const std::array<float, 256>& x, const float* importances, BlockQ2_K& block) {
  GroupsQ2_K groups;
  std::array<std::uint8_t, 256> codes;
  search_groups_q2_k(x, importances, groups, codes);
  float scale;
  float minimum;
  if (importances == nullptr) {
    scale = round_groups_q2_k(groups.scales, groups.scale_codes);
    minimum = round_groups_q2_k(groups.minimums, groups.minimum_codes);
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

/// The codes of the scales, 0 to 63 for -32 to 31; returns the unit that they are multiples of.
float round_scales_q3_k(const std::array<float, 16>& scales, std::array<std::uint8_t, 16>& codes) {
  const float extreme = signed_extreme(scales.data(), 16);
  codes.fill(0);
  if (extreme == 0.0f) return 0.0f;
  const float t = -32.0f / extreme;
  for (std::size_t g = 0; g < 16; ++g) {
    codes[g] = static_cast<std::uint8_t>(symmetric_code(scales[g], t, 32) + 32);
  }
  return 1.0f / t;
}

/// The codes of the values and of the groups' scales; returns the unit of the latter.
float search_q3_k(const std::array<float, 256>& x, const float* importances,
                  std::array<std::uint8_t, 256>& codes, std::array<std::uint8_t, 16>& scale_codes) {
  std::array<float, 16> scales;
  if (importances == nullptr) {
    for (std::size_t g = 0; g < 16; ++g) {
      scales[g] = search_by_descent<16>(&x[16 * g], 4, &codes[16 * g]);
    }
    return round_scales_q3_k(scales, scale_codes);
  }
  const float mean_square = (2.0f * sum_of_squares(x.data(), 256)) / 256.0f;
  std::array<float, 16> group_weights;
  for (std::size_t g = 0; g < 16; ++g) {
    std::array<float, 16> w;
    weigh_by_importance(&x[16 * g], importances + 16 * g, mean_square, 16, w.data());
    group_weights[g] = sum_of(w.data(), 16);
    scales[g] = search_symmetric<16>(&x[16 * g], w.data(), 4, &codes[16 * g]);
  }
  return search_symmetric<16>(scales.data(), group_weights.data(), 32, scale_codes.data());
}

void encode_q3_k(const std::array<float, 256>& x, const float* importances, BlockQ3_K& block) {
  std::array<std::uint8_t, 256> codes;
  std::array<std::uint8_t, 16> scale_codes;
  put_scale(block.scale.data(), search_q3_k(x, importances, codes, scale_codes));
  const float scale = f16_at(block.scale.data());
  for (std::size_t g = 0; g < 16; ++g) {
    const unsigned code = scale_codes[g];
    block.groups[g % 8] |= static_cast<std::uint8_t>((code & 15) << (4 * (g / 8)));
    block.groups[8 + g % 4] |= static_cast<std::uint8_t>(code >> 4 << (2 * (g / 4)));
    round_to_scale(&x[16 * g], 16, scale * to_float(scale_codes[g] - 32), 0.0f, -4, 3,
                   &codes[16 * g]);
  }
  for (std::size_t e = 0; e < 256; ++e) {
    const std::size_t byte = 32 * (e / 128) + e % 32;
    block.codes[byte] |= static_cast<std::uint8_t>((codes[e] & 3) << (2 * (e % 128 / 32)));
    block.high_bits[e % 32] |= static_cast<std::uint8_t>(codes[e] >> 2 << (e / 32));
  }
}

struct GroupsK45 {
  std::array<float, 8> scales;
  std::array<float, 8> minimums;  ///< Negated: 0 or above.
  std::array<float, 8> weights;   ///< Sums over the group.
  std::array<std::uint8_t, 8> scale_codes;
  std::array<std::uint8_t, 8> minimum_codes;
};

void search_groups_k45(const std::array<float, 256>& x, const float* importances,
                       const AffineTries& tries, GroupsK45& groups, Bytes<256>& codes) {
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
float round_groups_k45(const std::array<float, 8>& values, std::array<std::uint8_t, 8>& codes) {
  const float largest = largest_positive(values.data(), 8);
  const float t = largest > 0.0f ? 63.0f / largest : 0.0f;
  for (std::size_t g = 0; g < 8; ++g) {
    codes[g] = static_cast<std::uint8_t>(std::min(63, round_even(t * values[g]) & 255));
  }
  return largest / 63.0f;
}

/// Fills all of a block but the codes of the values, and returns these.
template <class Block>
Bytes<256> search_k45(const std::array<float, 256>& x, const float* importances,
                      const AffineTries& tries, Block& block) {
  Bytes<256> codes{};
  GroupsK45 groups;
  float scale;
  float minimum;
  if (importances == nullptr) {
    search_groups_k45(x, nullptr, tries, groups, codes);
    scale = round_groups_k45(groups.scales, groups.scale_codes);
    minimum = round_groups_k45(groups.minimums, groups.minimum_codes);
  } else {
    search_groups_k45(x, importances, k45_weighted_tries(tries.max_code), groups, codes);
    const float* w = groups.weights.data();
    scale = search_positive<8>(groups.scales.data(), w, 63, groups.scale_codes.data());
    minimum = search_positive<8>(groups.minimums.data(), w, 63, groups.minimum_codes.data());
  }
  put_scale(block.scale.data(), scale);
  put_scale(block.minimum.data(), minimum);
  scale = f16_at(block.scale.data());
  minimum = f16_at(block.minimum.data());
  for (std::size_t g = 0; g < 8; ++g) {
    const unsigned s = groups.scale_codes[g] & 63u;
    const unsigned m = groups.minimum_codes[g] & 63u;
    put_group(block.groups, g, s, m);
    round_to_scale(&x[32 * g], 32, scale * static_cast<float>(s), minimum * static_cast<float>(m),
                   0, tries.max_code, &codes[32 * g]);
  }
  return codes;
}

void encode_q4_k(const std::array<float, 256>& x, const float* importances, BlockQ4_K& block) {
  const Bytes<256> codes = search_k45(x, importances, q4_k_tries, block);
  for (std::size_t e = 0; e < 256; ++e) {
    const std::size_t byte = 32 * (e / 64) + e % 32;
    block.codes[byte] |= static_cast<std::uint8_t>(codes[e] << (4 * (e / 32 % 2)));
  }
}

void encode_q5_k(const std::array<float, 256>& x, const float* importances, BlockQ5_K& block) {
  const Bytes<256> codes = search_k45(x, importances, q5_k_tries, block);
  for (std::size_t e = 0; e < 256; ++e) {
    const std::size_t byte = 32 * (e / 64) + e % 32;
    block.codes[byte] |= static_cast<std::uint8_t>((codes[e] & 15) << (4 * (e / 32 % 2)));
    block.high_bits[e % 32] |= static_cast<std::uint8_t>(codes[e] >> 4 << (e / 32));
  }
}

void encode_q6_k(const std::array<float, 256>& x, const float* importances, BlockQ6_K& block) {
  std::array<std::uint8_t, 256> codes;
  std::array<float, 16> scales;
  for (std::size_t g = 0; g < 16; ++g) {
    std::array<float, 16> w;
    if (importances == nullptr) {
      weigh_by_square(&x[16 * g], 16, w.data());
    } else {
      std::copy_n(importances + 16 * g, 16, w.data());
    }
    scales[g] = search_symmetric<16>(&x[16 * g], w.data(), 32, &codes[16 * g]);
  }
  const float extreme = signed_extreme(scales.data(), 16);
  if (std::fabs(extreme) < least_magnitude) return;  // all bytes zero
  const float t = -128.0f / extreme;
  put_scale(block.scale.data(), 1.0f / t);
  const float scale = f16_at(block.scale.data());
  for (std::size_t g = 0; g < 16; ++g) {
    const auto group_scale = static_cast<std::int8_t>(std::min(127, round_even(t * scales[g])));
    block.groups[g] = static_cast<std::uint8_t>(group_scale);
    round_to_scale(&x[16 * g], 16, scale * to_float(group_scale), 0.0f, -32, 31, &codes[16 * g]);
  }
  for (std::size_t e = 0; e < 256; ++e) {
    const std::size_t half = e / 128;
    const std::size_t t4 = e % 128 / 32;
    const std::size_t l = e % 32;
    block.codes[64 * half + 32 * (t4 % 2) + l] |=
        static_cast<std::uint8_t>((codes[e] & 15) << (4 * (t4 / 2)));
    block.high_bits[32 * half + l] |= static_cast<std::uint8_t>(codes[e] >> 4 << (2 * t4));
  }
}

}  // namespace

void quantize_q2_k_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockQ2_K, 256>(rows, encode_q2_k);
}

void quantize_q3_k_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockQ3_K, 256>(rows, encode_q3_k);
}

void quantize_q4_k_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockQ4_K, 256>(rows, encode_q4_k);
}

void quantize_q5_k_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockQ5_K, 256>(rows, encode_q5_k);
}

void quantize_q6_k_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockQ6_K, 256>(rows, encode_q6_k);
}

}  // namespace ingot::codec
