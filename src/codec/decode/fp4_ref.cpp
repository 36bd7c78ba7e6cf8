// SPDX-License-Identifier: MIT
#include "codec/blocks/fp4.hpp"
#include "codec/codec.hpp"

namespace ingot::codec {

void dequantize_mxfp4_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  for (std::size_t b = 0; b < block_count; ++b, dst += 32) {
    const auto block = load_block<BlockMXFP4>(src, b);
    const float scale = half_e8m0(block.exponent);
    for (std::size_t i = 0; i < 16; ++i) {
      dst[i] = static_cast<float>(e2m1_doubled[block.codes[i] & 15]) * scale;
      dst[i + 16] = static_cast<float>(e2m1_doubled[block.codes[i] >> 4]) * scale;
    }
  }
}

void dequantize_nvfp4_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  for (std::size_t b = 0; b < block_count; ++b) {
    const auto block = load_block<BlockNVFP4>(src, b);
    for (std::size_t g = 0; g < 4; ++g, dst += 16) {
      const float scale = half_ue4m3(block.scales[g]);
      for (std::size_t i = 0; i < 8; ++i) {
        const unsigned codes = block.codes[8 * g + i];
        dst[i] = static_cast<float>(e2m1_doubled[codes & 15]) * scale;
        dst[i + 8] = static_cast<float>(e2m1_doubled[codes >> 4]) * scale;
      }
    }
  }
}

}  // namespace ingot::codec
