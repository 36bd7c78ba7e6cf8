// SPDX-License-Identifier: MIT
#include "codec/blocks/iq1.hpp"
#include "codec/codec.hpp"
#include "codec/lattice/lattice.hpp"

namespace ingot::codec {

namespace {

float* decode_octet(std::uint64_t point, float shift, float factor, float* dst) noexcept {
  for (std::size_t i = 0; i < 8; ++i) {
    const auto level = static_cast<std::int8_t>(point >> (8 * i) & 255u);
    *dst++ = factor * (static_cast<float>(level) + shift);
  }
  return dst;
}

}  // namespace

void dequantize_iq1_s_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  for (std::size_t b = 0; b < block_count; ++b) {
    const auto block = load_block<BlockIQ1_S>(src, b);
    const float scale = f16_at(block.scale.data());
    for (std::size_t k = 0; k < 32; ++k) {
      const unsigned word = u16_at(&block.groups[2 * (k / 4)]);
      const float factor = scale * static_cast<float>(2 * (word >> 12 & 7u) + 1);
      const float shift = (word & 0x8000u) != 0 ? -0.125f : 0.125f;
      const unsigned high = word >> (3 * (k % 4)) & 7u;
      dst = decode_octet(iq1_grid[block.ranks[k] | high << 8], shift, factor, dst);
    }
  }
}

void dequantize_iq1_m_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  for (std::size_t b = 0; b < block_count; ++b) {
    const auto block = load_block<BlockIQ1_M>(src, b);
    const float scale = f32_from_f16(scale_bits_of(block));
    for (std::size_t k = 0; k < 32; ++k) {
      const std::size_t g = k / 2;
      const unsigned group_scale = u16_at(&block.groups[2 * (g / 4)]) >> (3 * (g % 4)) & 7u;
      const float factor = scale * static_cast<float>(2 * group_scale + 1);
      const unsigned nibble = block.rank_high[k / 2] >> (4 * (k % 2)) & 15u;
      const float shift = (nibble & 8u) != 0 ? -0.125f : 0.125f;
      dst = decode_octet(iq1_grid[block.ranks[k] | (nibble & 7u) << 8], shift, factor, dst);
    }
  }
}

}  // namespace ingot::codec
