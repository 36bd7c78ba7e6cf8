// SPDX-License-Identifier: MIT
#include "codec/blocks/k6.hpp"
#include "codec/codec.hpp"
#include "codec/encode/searches.hpp"

namespace ingot::codec {
namespace {

void encode(const std::array<float, 256>& x, const float* importances, BlockQ6_K& block) {
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

void quantize_q6_k_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockQ6_K, 256>(rows, encode);
}

}  // namespace ingot::codec
