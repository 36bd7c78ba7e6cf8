// SPDX-License-Identifier: MIT
#include "codec/blocks/sign.hpp"
#include "codec/codec.hpp"

namespace ingot::codec {

void dequantize_q1_0_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  for (std::size_t b = 0; b < block_count; ++b) {
    const auto block = load_block<BlockQ1_0>(src, b);
    const float scale = f16_at(block.scale.data());
    for (std::size_t i = 0; i < 128; ++i) {
      *dst++ = (block.signs[i / 8] >> (i % 8) & 1) != 0 ? scale : -scale;
    }
  }
}

}  // namespace ingot::codec
