// SPDX-License-Identifier: MIT
#include "codec/blocks/q8.hpp"
#include "codec/codec.hpp"

namespace ingot::codec {

namespace {

template <class Block>
void decode(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  for (std::size_t b = 0; b < block_count; ++b) {
    const auto block = load_block<Block>(src, b);
    const float scale = f16_at(block.scale.data());
    for (const std::uint8_t code : block.codes) {
      *dst++ = static_cast<float>(static_cast<std::int8_t>(code)) * scale;
    }
  }
}

}  // namespace

void dequantize_q8_0_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  decode<BlockQ8_0>(src, dst, block_count);
}

void dequantize_q8_1_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  decode<BlockQ8_1>(src, dst, block_count);
}

void dequantize_q8_k_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  for (std::size_t b = 0; b < block_count; ++b) {
    const auto block = load_block<BlockQ8_K>(src, b);
    const float scale = std::bit_cast<float>(u32_at(block.scale.data()));
    for (const std::uint8_t code : block.codes) {
      *dst++ = scale * static_cast<float>(static_cast<std::int8_t>(code));
    }
  }
}

}  // namespace ingot::codec
