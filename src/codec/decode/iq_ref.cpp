// SPDX-License-Identifier: MIT
#include "codec/blocks/iq.hpp"
#include "codec/codec.hpp"
#include "codec/lattice/lattice.hpp"

namespace ingot::codec {

namespace {

/// The elements of a point, plus the shift, times the factor.
float* decode_shifted(std::uint64_t point, float shift, float factor, float* dst) noexcept {
  for (std::size_t i = 0; i < 8; ++i) {
    const auto level = static_cast<std::int8_t>(point >> (8 * i) & 255u);
    *dst++ = factor * (static_cast<float>(level) + shift);
  }
  return dst;
}

/// The elements of a point of 8 or 4 bytes times the factor; bit i of `signs` negates element i.
template <class Point>
float* decode_signed(Point point, unsigned signs, float factor, float* dst) noexcept {
  for (std::size_t i = 0; i < sizeof(Point); ++i) {
    const float magnitude = factor * static_cast<float>(point >> (8 * i) & 255u);
    *dst++ = (signs >> i & 1u) != 0 ? -magnitude : magnitude;
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
      dst = decode_shifted(iq1_grid[block.ranks[k] | high << 8], shift, factor, dst);
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
      dst = decode_shifted(iq1_grid[block.ranks[k] | (nibble & 7u) << 8], shift, factor, dst);
    }
  }
}

namespace {

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
        dst =
            decode_signed(iq2_xxs_grid[ranks[j]], even_signs(word >> (7 * j) & 127u), factor, dst);
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
      dst = decode_signed(iq2_xs_grid[word & 511u], even_signs(word >> 9), factor, dst);
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
      dst = decode_signed(iq2_s_grid[block.ranks[k] | high << 8], block.signs[k], factor, dst);
    }
  }
}

void dequantize_iq3_xxs_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  for (std::size_t b = 0; b < block_count; ++b) {
    const auto block = load_block<BlockIQ3_XXS>(src, b);
    const float scale = f16_at(block.scale.data());
    for (std::size_t k = 0; k < 32; ++k) {
      const std::uint32_t word = u32_at(&block.groups[4 * (k / 4)]);
      const float factor = scale * (0.5f + static_cast<float>(word >> 28)) * 0.5f;
      const unsigned signs = even_signs(word >> (7 * (k % 4)) & 127u);
      dst = decode_signed(iq3_xxs_grid[block.ranks[2 * k]], signs, factor, dst);
      dst = decode_signed(iq3_xxs_grid[block.ranks[2 * k + 1]], signs >> 4, factor, dst);
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
      dst = decode_signed(iq3_s_grid[block.ranks[q] | high << 8], signs, factor, dst);
    }
  }
}

void dequantize_iq4_nl_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  for (std::size_t b = 0; b < block_count; ++b, dst += 32) {
    const auto block = load_block<BlockIQ4_NL>(src, b);
    const float scale = f16_at(block.scale.data());
    for (std::size_t i = 0; i < 16; ++i) {
      dst[i] = scale * static_cast<float>(iq4_values[block.codes[i] & 15]);
      dst[i + 16] = scale * static_cast<float>(iq4_values[block.codes[i] >> 4]);
    }
  }
}

void dequantize_iq4_xs_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  for (std::size_t b = 0; b < block_count; ++b) {
    const auto block = load_block<BlockIQ4_XS>(src, b);
    const float scale = f16_at(block.scale.data());
    const unsigned group_high = u16_at(block.group_high.data());
    for (std::size_t g = 0; g < 8; ++g, dst += 32) {
      const unsigned low = block.group_low[g / 2] >> (4 * (g % 2)) & 15u;
      const unsigned high = group_high >> (2 * g) & 3u;
      const float group_scale = scale * static_cast<float>(static_cast<int>(low | high << 4) - 32);
      for (std::size_t i = 0; i < 16; ++i) {
        const unsigned codes = block.codes[16 * g + i];
        dst[i] = group_scale * static_cast<float>(iq4_values[codes & 15]);
        dst[i + 16] = group_scale * static_cast<float>(iq4_values[codes >> 4]);
      }
    }
  }
}

}  // namespace ingot::codec
