// SPDX-License-Identifier: MIT
#include "codec/blocks/iq3.hpp"
#include "codec/codec.hpp"
#include "codec/lattice/lattice.hpp"

namespace ingot::codec {

namespace {

float* decode_quad(std::uint32_t point, unsigned signs, float factor, float* dst) noexcept {
  for (std::size_t i = 0; i < 4; ++i) {
    const float magnitude = factor * static_cast<float>(point >> (8 * i) & 255u);
    *dst++ = (signs >> i & 1u) != 0 ? -magnitude : magnitude;
  }
  return dst;
}

}  // namespace

void dequantize_iq3_xxs_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  for (std::size_t b = 0; b < block_count; ++b) {
    const auto block = load_block<BlockIQ3_XXS>(src, b);
    const float scale = f16_at(block.scale.data());
    for (std::size_t k = 0; k < 32; ++k) {
      const std::uint32_t word = u32_at(&block.groups[4 * (k / 4)]);
      const float factor = scale * (0.5f + static_cast<float>(word >> 28)) * 0.5f;
      const unsigned signs = even_signs(word >> (7 * (k % 4)) & 127u);
      dst = decode_quad(iq3_xxs_grid[block.ranks[2 * k]], signs, factor, dst);
      dst = decode_quad(iq3_xxs_grid[block.ranks[2 * k + 1]], signs >> 4, factor, dst);
    }
  }
}

void dequantize_iq3_s_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  for (std::size_t b = 0; b < block_count; ++b) {
    const auto block = load_block<BlockIQ3_S>(src, b);
    const float scale = f16_at(block.scale.data());
    for (std::size_t q = 0; q < 64; ++q) {
      const std::size_t g = q / 8;
      const unsigned group_scale = block.groups[g / 2] >> (4 * (g % 2)) & 15u;
      const float factor = scale * static_cast<float>(1 + 2 * group_scale);
      const unsigned high = block.rank_high[g] >> (q % 8) & 1u;
      const unsigned signs = block.signs[q / 2] >> (4 * (q % 2));
      dst = decode_quad(iq3_s_grid[block.ranks[q] | high << 8], signs, factor, dst);
    }
  }
}

}  // namespace ingot::codec
