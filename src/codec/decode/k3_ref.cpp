// SPDX-License-Identifier: MIT
#include "codec/blocks/k3.hpp"
#include "codec/codec.hpp"

namespace ingot::codec {

namespace {

int group_scale_of(const BlockQ3_K& block, std::size_t group) noexcept {
  const unsigned low = block.groups[group % 8] >> (group < 8 ? 0 : 4) & 15u;
  const unsigned high = block.groups[8 + group % 4] >> (2 * (group / 4)) & 3u;
  return static_cast<int>(low | high << 4) - 32;
}

}  // namespace

void dequantize_q3_k_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  for (std::size_t b = 0; b < block_count; ++b) {
    const auto block = load_block<BlockQ3_K>(src, b);
    const float scale = f16_at(block.scale.data());
    for (std::size_t e = 0; e < 256; ++e) {
      const float group_scale = scale * static_cast<float>(group_scale_of(block, e / 16));
      const unsigned low = block.codes[32 * (e / 128) + e % 32] >> (2 * (e % 128 / 32)) & 3u;
      const unsigned high = block.high_bits[e % 32] >> (e / 32) & 1u;
      *dst++ = group_scale * static_cast<float>(static_cast<int>(low | high << 2) - 4);
    }
  }
}

}  // namespace ingot::codec
