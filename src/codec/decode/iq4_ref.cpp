// SPDX-License-Identifier: MIT
#include "codec/blocks/iq4.hpp"
#include "codec/codec.hpp"

namespace ingot::codec {

void dequantize_iq4_nl_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  for (std::size_t b = 0; b < block_count; ++b, dst += 32) {
    const auto block = load_block<BlockIQ4_NL>(src, b);
    const float scale = f16_at(block.scale.data());
    for (std::size_t i = 0; i < 16; ++i) {
      dst[i] = scale * static_cast<float>(iq4_values[block.codes[i] & 15]);
      dst[i + 16] = scale * static_cast<float>(iq4_values[block.codes[i] >> 4]);
    }
  }
}

void dequantize_iq4_xs_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  for (std::size_t b = 0; b < block_count; ++b) {
    const auto block = load_block<BlockIQ4_XS>(src, b);
    const float scale = f16_at(block.scale.data());
    const unsigned group_high = u16_at(block.group_high.data());
    for (std::size_t g = 0; g < 8; ++g, dst += 32) {
      const unsigned low = block.group_low[g / 2] >> (4 * (g % 2)) & 15u;
      const unsigned high = group_high >> (2 * g) & 3u;
      const float group_scale = scale * static_cast<float>(static_cast<int>(low | high << 4) - 32);
      for (std::size_t i = 0; i < 16; ++i) {
        const unsigned codes = block.codes[16 * g + i];
        dst[i] = group_scale * static_cast<float>(iq4_values[codes & 15]);
        dst[i + 16] = group_scale * static_cast<float>(iq4_values[codes >> 4]);
      }
    }
  }
}

}  // namespace ingot::codec
