// SPDX-License-Identifier: MIT
#include "codec/blocks/k4.hpp"
#include "codec/codec.hpp"

namespace ingot::codec {

void dequantize_q4_k_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  for (std::size_t b = 0; b < block_count; ++b) {
    const auto block = load_block<BlockQ4_K>(src, b);
    const float scale = f16_at(block.scale.data());
    const float minimum = f16_at(block.minimum.data());
    for (std::size_t e = 0; e < 256; ++e) {
      const std::size_t g = e / 32;
      const float group_scale = scale * static_cast<float>(group_scale_of(block.groups, g));
      const float group_minimum = minimum * static_cast<float>(group_minimum_of(block.groups, g));
      const unsigned code = block.codes[32 * (e / 64) + e % 32] >> (4 * (g % 2)) & 15u;
      *dst++ = group_scale * static_cast<float>(code) - group_minimum;
    }
  }
}

}  // namespace ingot::codec
