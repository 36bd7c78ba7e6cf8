// SPDX-License-Identifier: MIT
#include "codec/blocks/k2.hpp"
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

}  // namespace ingot::codec
