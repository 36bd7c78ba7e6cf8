// SPDX-License-Identifier: MIT
#include "codec/blocks/legacy.hpp"
#include "codec/codec.hpp"

namespace ingot::codec {

void dequantize_q4_0_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  for (std::size_t b = 0; b < block_count; ++b, dst += 32) {
    const auto block = load_block<BlockQ4_0>(src, b);
    const float scale = f16_at(block.scale.data());
    for (std::size_t i = 0; i < 16; ++i) {
      dst[i] = static_cast<float>((block.codes[i] & 15) - 8) * scale;
      dst[i + 16] = static_cast<float>((block.codes[i] >> 4) - 8) * scale;
    }
  }
}

void dequantize_q4_1_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  for (std::size_t b = 0; b < block_count; ++b, dst += 32) {
    const auto block = load_block<BlockQ4_1>(src, b);
    const float scale = f16_at(block.scale.data());
    const float minimum = f16_at(block.minimum.data());
    for (std::size_t i = 0; i < 16; ++i) {
      dst[i] = static_cast<float>(block.codes[i] & 15) * scale + minimum;
      dst[i + 16] = static_cast<float>(block.codes[i] >> 4) * scale + minimum;
    }
  }
}

void dequantize_q5_0_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  for (std::size_t b = 0; b < block_count; ++b, dst += 32) {
    const auto block = load_block<BlockQ5_0>(src, b);
    const float scale = f16_at(block.scale.data());
    const std::uint32_t high = u32_at(block.high_bits.data());
    for (std::uint32_t i = 0; i < 16; ++i) {
      const auto low_code = static_cast<int>((block.codes[i] & 15u) | (high >> i & 1u) << 4);
      const auto high_code = static_cast<int>(block.codes[i] >> 4 | (high >> (i + 16) & 1u) << 4);
      dst[i] = static_cast<float>(low_code - 16) * scale;
      dst[i + 16] = static_cast<float>(high_code - 16) * scale;
    }
  }
}

void dequantize_q5_1_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  for (std::size_t b = 0; b < block_count; ++b, dst += 32) {
    const auto block = load_block<BlockQ5_1>(src, b);
    const float scale = f16_at(block.scale.data());
    const float minimum = f16_at(block.minimum.data());
    const std::uint32_t high = u32_at(block.high_bits.data());
    for (std::uint32_t i = 0; i < 16; ++i) {
      const std::uint32_t low_code = (block.codes[i] & 15u) | (high >> i & 1u) << 4;
      const std::uint32_t high_code = block.codes[i] >> 4 | (high >> (i + 16) & 1u) << 4;
      dst[i] = static_cast<float>(low_code) * scale + minimum;
      dst[i + 16] = static_cast<float>(high_code) * scale + minimum;
    }
  }
}

}  // namespace ingot::codec
