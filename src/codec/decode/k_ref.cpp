// SPDX-License-Identifier: MIT
#include "codec/blocks/k.hpp"
#include "codec/decode/decoding_ref.hpp"

namespace ingot::codec {
namespace {

void decode(const BlockQ2_K& block, float* dst) noexcept {
  const float scale = f16_at(block.scale.data());
  const float minimum = f16_at(block.minimum.data());
  for (std::size_t e = 0; e < 256; ++e) {
    const unsigned group = block.groups[e / 16];
    const float group_scale = scale * static_cast<float>(group & 15u);
    const float group_minimum = minimum * static_cast<float>(group >> 4);
    const unsigned code = block.codes[32 * (e / 128) + e % 32] >> (2 * (e % 128 / 32)) & 3u;
    *dst++ = group_scale * static_cast<float>(code) - group_minimum;
  }
}

void decode(const BlockQ3_K& block, float* dst) noexcept {
  const float scale = f16_at(block.scale.data());
  for (std::size_t e = 0; e < 256; ++e) {
    const float group_scale = scale * static_cast<float>(group_scale_of(block, e / 16));
    const unsigned low = block.codes[32 * (e / 128) + e % 32] >> (2 * (e % 128 / 32)) & 3u;
    const unsigned high = block.high_bits[e % 32] >> (e / 32) & 1u;
    *dst++ = group_scale * static_cast<float>(static_cast<int>(low | high << 2) - 4);
  }
}

/// Q4_K, and Q5_K, which keeps the fifth bit of each code apart.
template <class Block>
void decode_k45(const Block& block, float* dst) noexcept {
  const float scale = f16_at(block.scale.data());
  const float minimum = f16_at(block.minimum.data());
  for (std::size_t e = 0; e < 256; ++e) {
    const std::size_t g = e / 32;
    const float group_scale = scale * static_cast<float>(group_scale_of(block.groups, g));
    const float group_minimum = minimum * static_cast<float>(group_minimum_of(block.groups, g));
    unsigned code = block.codes[32 * (e / 64) + e % 32] >> (4 * (g % 2)) & 15u;
    if constexpr (requires { block.high_bits; }) {
      code |= (block.high_bits[e % 32] >> g & 1u) << 4;
    }
    *dst++ = group_scale * static_cast<float>(code) - group_minimum;
  }
}

void decode(const BlockQ4_K& block, float* dst) noexcept { decode_k45(block, dst); }

void decode(const BlockQ5_K& block, float* dst) noexcept { decode_k45(block, dst); }

void decode(const BlockQ6_K& block, float* dst) noexcept {
  const float scale = f16_at(block.scale.data());
  for (std::size_t e = 0; e < 256; ++e) {
    const std::size_t half = e / 128;
    const std::size_t t = e % 128 / 32;
    const std::size_t l = e % 32;
    const auto factor = static_cast<std::int8_t>(block.groups[e / 16]);
    const unsigned low = block.codes[64 * half + 32 * (t % 2) + l] >> (4 * (t / 2)) & 15u;
    const unsigned high = block.high_bits[32 * half + l] >> (2 * t) & 3u;
    const auto level = static_cast<float>(static_cast<int>(low | high << 4) - 32);
    *dst++ = scale * static_cast<float>(factor) * level;
  }
}

}  // namespace

INGOT_REFERENCE_DECODER(Q2_K, q2_k)
INGOT_REFERENCE_DECODER(Q3_K, q3_k)
INGOT_REFERENCE_DECODER(Q4_K, q4_k)
INGOT_REFERENCE_DECODER(Q5_K, q5_k)
INGOT_REFERENCE_DECODER(Q6_K, q6_k)

}  // namespace ingot::codec
