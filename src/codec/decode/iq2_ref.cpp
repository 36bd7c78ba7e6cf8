// SPDX-License-Identifier: MIT
#include "codec/blocks/iq2.hpp"
#include "codec/codec.hpp"
#include "codec/lattice/lattice.hpp"

namespace ingot::codec {

namespace {

float* decode_octet(std::uint64_t point, unsigned signs, float factor, float* dst) noexcept {
  for (std::size_t i = 0; i < 8; ++i) {
    const float magnitude = factor * static_cast<float>(point >> (8 * i) & 255u);
    *dst++ = (signs >> i & 1u) != 0 ? -magnitude : magnitude;
  }
  return dst;
}

float group_factor(float scale, unsigned group_scale) noexcept {
  return scale * (0.5f + static_cast<float>(group_scale)) * 0.25f;
}

unsigned nibble_of(const Bytes<8>& bytes, std::size_t index) noexcept {
  return bytes[index / 2] >> (4 * (index % 2)) & 15u;
}

}  // namespace

void dequantize_iq2_xxs_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  for (std::size_t b = 0; b < block_count; ++b) {
    const auto block = load_block<BlockIQ2_XXS>(src, b);
    const float scale = f16_at(block.scale.data());
    for (std::size_t g = 0; g < 8; ++g) {
      const std::uint8_t* ranks = &block.groups[8 * g];
      const std::uint32_t word = u32_at(ranks + 4);
      const float factor = group_factor(scale, word >> 28);
      for (std::size_t j = 0; j < 4; ++j) {
        dst = decode_octet(iq2_xxs_grid[ranks[j]], even_signs(word >> (7 * j) & 127u), factor, dst);
      }
    }
  }
}

void dequantize_iq2_xs_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  for (std::size_t b = 0; b < block_count; ++b) {
    const auto block = load_block<BlockIQ2_XS>(src, b);
    const float scale = f16_at(block.scale.data());
    for (std::size_t k = 0; k < 32; ++k) {
      const unsigned word = u16_at(&block.octets[2 * k]);
      const float factor = group_factor(scale, nibble_of(block.groups, k / 2));
      dst = decode_octet(iq2_xs_grid[word & 511u], even_signs(word >> 9), factor, dst);
    }
  }
}

void dequantize_iq2_s_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  for (std::size_t b = 0; b < block_count; ++b) {
    const auto block = load_block<BlockIQ2_S>(src, b);
    const float scale = f16_at(block.scale.data());
    for (std::size_t k = 0; k < 32; ++k) {
      const unsigned high = block.rank_high[k / 4] >> (2 * (k % 4)) & 3u;
      const float factor = group_factor(scale, nibble_of(block.groups, k / 2));
      dst = decode_octet(iq2_s_grid[block.ranks[k] | high << 8], block.signs[k], factor, dst);
    }
  }
}

}  // namespace ingot::codec
