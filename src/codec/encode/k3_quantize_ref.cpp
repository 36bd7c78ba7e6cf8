// SPDX-License-Identifier: MIT
#include "codec/blocks/k3.hpp"
#include "codec/codec.hpp"
#include "codec/encode/searches.hpp"

namespace ingot::codec {
namespace {

/// The codes of the scales, 0 to 63 for -32 to 31; returns the unit that they are multiples of.
float round_scales(const std::array<float, 16>& scales, std::array<std::uint8_t, 16>& codes) {
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
float search(const std::array<float, 256>& x, const float* importances,
             std::array<std::uint8_t, 256>& codes, std::array<std::uint8_t, 16>& scale_codes) {
  std::array<float, 16> scales;
  if (importances == nullptr) {
    for (std::size_t g = 0; g < 16; ++g) {
      scales[g] = search_by_descent<16>(&x[16 * g], 4, &codes[16 * g]);
    }
    return round_scales(scales, scale_codes);
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
  std::array<std::uint8_t, 256> codes;
  std::array<std::uint8_t, 16> scale_codes;
  put_scale(block.scale.data(), search(x, importances, codes, scale_codes));
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

}  // namespace

void quantize_q3_k_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockQ3_K, 256>(rows, encode);
}

}  // namespace ingot::codec
