// SPDX-License-Identifier: MIT
#include "codec/blocks/k.hpp"
#include "codec/codec.hpp"
#include "codec/encode/k_affine.hpp"
#include "codec/encode/packing.hpp"
#include "codec/encode/searches.hpp"

namespace ingot::codec {
namespace {

template <class Type>
struct AffineGroups {
  static constexpr std::size_t count = 256 / Type::group_elements;
  std::array<float, count> scales;
  std::array<float, count> minimums;  ///< The negated minimums: 0 or above.
  std::array<float, count> weights;   ///< Sums over the group.
  Codes<count> scale_codes;
  Codes<count> minimum_codes;
};

template <class Type>
void search_affine_groups(const std::array<float, 256>& x, const float* importances,
                          AffineGroups<Type>& groups, Codes<256>& codes) {
  constexpr std::size_t size = Type::group_elements;
  const float mean_square = Type::mean_factor * sum_of_squares(x.data(), 256) / 256.0f;
  for (std::size_t g = 0; g < groups.count; ++g) {
    const float* values = &x[size * g];
    std::array<float, size> w;
    if (importances == nullptr) {
      const float average =
          Type::adds_average ? std::sqrt(sum_of_squares(values, size) / to_float(size)) : 0.0f;
      for (std::size_t i = 0; i < size; ++i) w[i] = average + std::fabs(values[i]);
    } else {
      weigh_by_importance(values, importances + size * g, mean_square, size, w.data());
      groups.weights[g] = sum_of(w.data(), size);
    }
    const AffineTries& tries = importances == nullptr ? Type::tries : Type::weighted_tries;
    const AffineFit fit = search_affine<size>(values, w.data(), tries, &codes[size * g]);
    groups.scales[g] = fit.scale;
    groups.minimums[g] = -fit.minimum;
  }
}

/// The codes of scales or minimums; returns the unit that they are multiples of.
template <class Type, std::size_t count>
float round_groups(const std::array<float, count>& values, Codes<count>& codes) {
  const float largest = largest_positive(values.data(), count);
  const float t = largest > 0.0f ? to_float(Type::top) / largest : 0.0f;
  for (std::size_t g = 0; g < count; ++g) {
    const int code = round_even(t * values[g]) & Type::rounded_bits;
    codes[g] = static_cast<std::uint8_t>(std::min(Type::top, code));
  }
  return largest / to_float(Type::top);
}

template <class Type, class Block>
void encode_affine(const std::array<float, 256>& x, const float* importances, Block& block) {
  Codes<256> codes;
  AffineGroups<Type> groups;
  search_affine_groups(x, importances, groups, codes);
  float scale;
  float minimum;
  if (importances == nullptr) {
    scale = round_groups<Type>(groups.scales, groups.scale_codes);
    minimum = round_groups<Type>(groups.minimums, groups.minimum_codes);
  } else {
    constexpr std::size_t count = AffineGroups<Type>::count;
    const float* w = groups.weights.data();
    scale = search_positive<count>(groups.scales.data(), w, Type::top, groups.scale_codes.data());
    minimum =
        search_positive<count>(groups.minimums.data(), w, Type::top, groups.minimum_codes.data());
  }
  put_scale(block.scale.data(), scale);
  put_scale(block.minimum.data(), minimum);
  scale = f16_at(block.scale.data());
  minimum = f16_at(block.minimum.data());
  for (std::size_t g = 0; g < groups.count; ++g) {
    const unsigned s = groups.scale_codes[g] & Type::kept_bits;
    const unsigned m = groups.minimum_codes[g] & Type::kept_bits;
    put_group(g, s, m, block);
    const std::size_t first = Type::group_elements * g;
    round_to_scale(&x[first], Type::group_elements, scale * static_cast<float>(s),
                   minimum * static_cast<float>(m), 0, Type::tries.max_code, &codes[first]);
  }
  put_codes(codes, block);
}

void encode(const std::array<float, 256>& x, const float* importances, BlockQ2_K& block) {
  encode_affine<AffineQ2_K>(x, importances, block);
}

void encode(const std::array<float, 256>& x, const float* importances, BlockQ4_K& block) {
  encode_affine<AffineQ4_K>(x, importances, block);
}

void encode(const std::array<float, 256>& x, const float* importances, BlockQ5_K& block) {
  encode_affine<AffineQ5_K>(x, importances, block);
}

/// The codes of the scales, 0 to 63 for -32 to 31; returns the unit that they are multiples of.
float round_scales_q3_k(const std::array<float, 16>& scales, Codes<16>& codes) {
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
float search_q3_k(const std::array<float, 256>& x, const float* importances, Codes<256>& codes,
                  Codes<16>& scale_codes) {
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

void encode(const std::array<float, 256>& x, const float* importances, BlockQ3_K& block) {
  Codes<256> codes;
  Codes<16> scale_codes;
  put_scale(block.scale.data(), search_q3_k(x, importances, codes, scale_codes));
  const float scale = f16_at(block.scale.data());
  for (std::size_t g = 0; g < 16; ++g) {
    const int group_scale = scale_codes[g] - 32;
    put_group_scale(g, group_scale, block);
    round_to_scale(&x[16 * g], 16, scale * to_float(group_scale), 0.0f, -4, 3, &codes[16 * g]);
  }
  put_codes(codes, block);
}

void encode(const std::array<float, 256>& x, const float* importances, BlockQ6_K& block) {
  Codes<256> codes;
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
  if (std::fabs(extreme) < least_magnitude) return;  // all bytes stay zero
  const float t = -128.0f / extreme;
  put_scale(block.scale.data(), 1.0f / t);
  const float scale = f16_at(block.scale.data());
  for (std::size_t g = 0; g < 16; ++g) {
    const auto group_scale = static_cast<std::int8_t>(std::min(127, round_even(t * scales[g])));
    put_group_scale(g, group_scale, block);
    round_to_scale(&x[16 * g], 16, scale * to_float(group_scale), 0.0f, -32, 31, &codes[16 * g]);
  }
  put_codes(codes, block);
}

}  // namespace

INGOT_REFERENCE_ENCODER(Q2_K, q2_k)
INGOT_REFERENCE_ENCODER(Q3_K, q3_k)
INGOT_REFERENCE_ENCODER(Q4_K, q4_k)
INGOT_REFERENCE_ENCODER(Q5_K, q5_k)
INGOT_REFERENCE_ENCODER(Q6_K, q6_k)

}  // namespace ingot::codec
