// SPDX-License-Identifier: MIT
#include "codec/blocks/k6.hpp"
#include "codec/codec.hpp"

namespace ingot::codec {

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
