// SPDX-License-Identifier: MIT
#include "codec/blocks/k.hpp"
#include "codec/codec.hpp"

namespace ingot::codec {

void dequantize_q2_k_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  for (std::size_t b = 0; b < block_count; ++b) {
    const auto block = load_block<BlockQ2_K>(src, b);
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
}

namespace {

int q3_group_scale_of(const BlockQ3_K& block, std::size_t group) noexcept {
  const unsigned low = block.groups[group % 8] >> (group < 8 ? 0 : 4) & 15u;
  const unsigned high = block.groups[8 + group % 4] >> (2 * (group / 4)) & 3u;
  return static_cast<int>(low | high << 4) - 32;
}

/// Q4_K, and Q5_K, which keeps the fifth bit of each code apart.
template <class Block>
void dequantize_k45(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  for (std::size_t b = 0; b < block_count; ++b) {
    const auto block = load_block<Block>(src, b);
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
}

}  // namespace

void dequantize_q3_k_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  for (std::size_t b = 0; b < block_count; ++b) {
    const auto block = load_block<BlockQ3_K>(src, b);
    const float scale = f16_at(block.scale.data());
    for (std::size_t e = 0; e < 256; ++e) {
      const float group_scale = scale * static_cast<float>(q3_group_scale_of(block, e / 16));
      const unsigned low = block.codes[32 * (e / 128) + e % 32] >> (2 * (e % 128 / 32)) & 3u;
      const unsigned high = block.high_bits[e % 32] >> (e / 32) & 1u;
      *dst++ = group_scale * static_cast<float>(static_cast<int>(low | high << 2) - 4);
    }
  }
}

void dequantize_q4_k_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  dequantize_k45<BlockQ4_K>(src, dst, block_count);
}

void dequantize_q5_k_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  dequantize_k45<BlockQ5_K>(src, dst, block_count);
}

void dequantize_q6_k_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  for (std::size_t b = 0; b < block_count; ++b) {
    const auto block = load_block<BlockQ6_K>(src, b);
    const float scale = f16_at(block.scale.data());
    for (std::size_t e = 0; e < 256; ++e) {
      const std::size_t half = e / 128;
      const std::size_t t = e % 128 / 32;
      const std::size_t l = e % 32;
      const float group_scale =
          scale * static_cast<float>(static_cast<std::int8_t>(block.groups[e / 16]));
      const unsigned low = block.codes[64 * half + 32 * (t % 2) + l] >> (4 * (t / 2)) & 15u;
      const unsigned high = block.high_bits[32 * half + l] >> (2 * t) & 3u;
      *dst++ = group_scale * static_cast<float>(static_cast<int>(low | high << 4) - 32);
    }
  }
}

}  // namespace ingot::codec
