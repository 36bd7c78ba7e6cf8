// SPDX-License-Identifier: MIT
#include "codec/blocks/legacy4.hpp"
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

}  // namespace ingot::codec
