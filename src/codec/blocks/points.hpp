// SPDX-License-Identifier: MIT
// Super-blocks of points of a lattice, IQ1_S to IQ3_S, taken apart and put together.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "codec/blocks/iq.hpp"
#include "codec/lattice/lattice.hpp"

namespace ingot::codec {

/// The content of a super-block of points.
struct BlockPoints {
  float scale = 0.0f;                         ///< The scale, a binary16.
  std::array<unsigned, 16> group_codes = {};  ///< The codes of the groups' scales.
  std::array<unsigned, 64> ranks = {};        ///< The ranks of octets or quads.
  std::array<unsigned, 32> signs = {};     ///< The signs of each octet: bit i is set if weight i is
                                           ///< negative.
  std::array<unsigned, 32> is_minus = {};  ///< IQ1: 1 for the shift -0.125 of an octet.
};

/// Bits `first` and following of a number.
[[nodiscard]] constexpr unsigned bits_at(unsigned number, std::size_t first,
                                         unsigned count) noexcept {
  return number >> first & ((1u << count) - 1);
}

/// Puts the low bytes of `count` ranks.
inline void put_low_ranks(const BlockPoints& points, std::uint8_t* bytes,
                          std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(points.ranks[i]);
}

/// Reads ranks whose bits from 8 on, `high_count` of each, lie in separate bytes.
template <unsigned high_count, std::size_t count, std::size_t high_bytes>
void read_ranks(const Bytes<count>& low, const Bytes<high_bytes>& high,
                BlockPoints& points) noexcept {
  constexpr std::size_t per_byte = count / high_bytes;
  for (std::size_t i = 0; i < count; ++i) {
    points.ranks[i] = low[i] | bits_at(high[i / per_byte], high_count * (i % per_byte), high_count)
                                   << 8;
  }
}
template <unsigned high_count, std::size_t count, std::size_t high_bytes>
void put_ranks(const BlockPoints& points, Bytes<count>& low, Bytes<high_bytes>& high) noexcept {
  constexpr std::size_t per_byte = count / high_bytes;
  put_low_ranks(points, low.data(), count);
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned bits = points.ranks[i] >> 8 << (high_count * (i % per_byte));
    high[i / per_byte] = static_cast<std::uint8_t>(high[i / per_byte] | bits);
  }
}

template <std::size_t byte_count>
void read_group_nibbles(const Bytes<byte_count>& bytes, BlockPoints& points) noexcept {
  for (std::size_t g = 0; g < 2 * byte_count; ++g) {
    points.group_codes[g] = bits_at(bytes[g / 2], 4 * (g % 2), 4);
  }
}
template <std::size_t byte_count>
void put_group_nibbles(const BlockPoints& points, Bytes<byte_count>& bytes) noexcept {
  for (std::size_t i = 0; i < byte_count; ++i) {
    const unsigned high = points.group_codes[2 * i + 1];
    bytes[i] = static_cast<std::uint8_t>(points.group_codes[2 * i] | high << 4);
  }
}

/// A word with seven signs of each octet of a group, and the code of its scale.
inline void read_sign_word(std::uint32_t word, std::size_t g, BlockPoints& points) noexcept {
  points.group_codes[g] = word >> 28;
  for (std::size_t j = 0; j < 4; ++j) {
    points.signs[4 * g + j] = even_signs(bits_at(word, 7 * j, 7));
  }
}
[[nodiscard]] inline std::uint32_t sign_word(const BlockPoints& points, std::size_t g) noexcept {
  std::uint32_t word = points.group_codes[g] << 28;
  for (std::size_t j = 0; j < 4; ++j) word |= (points.signs[4 * g + j] & 127u) << (7 * j);
  return word;
}

inline void read_points(const BlockIQ2_XXS& block, BlockPoints& points) noexcept {
  for (std::size_t g = 0; g < 8; ++g) {
    for (std::size_t j = 0; j < 4; ++j) points.ranks[4 * g + j] = block.groups[8 * g + j];
    read_sign_word(u32_at(&block.groups[8 * g + 4]), g, points);
  }
}
inline void put_points(const BlockPoints& points, BlockIQ2_XXS& block) noexcept {
  for (std::size_t g = 0; g < 8; ++g) {
    for (std::size_t j = 0; j < 4; ++j) {
      block.groups[8 * g + j] = static_cast<std::uint8_t>(points.ranks[4 * g + j]);
    }
    put_u32(&block.groups[8 * g + 4], sign_word(points, g));
  }
}

inline void read_points(const BlockIQ2_XS& block, BlockPoints& points) noexcept {
  for (std::size_t k = 0; k < 32; ++k) {
    const unsigned word = u16_at(&block.octets[2 * k]);
    points.ranks[k] = word & 511u;
    points.signs[k] = even_signs(word >> 9);
  }
  read_group_nibbles(block.groups, points);
}
inline void put_points(const BlockPoints& points, BlockIQ2_XS& block) noexcept {
  for (std::size_t k = 0; k < 32; ++k) {
    const unsigned word = points.ranks[k] | (points.signs[k] & 127u) << 9;
    put_u16(&block.octets[2 * k], static_cast<std::uint16_t>(word));
  }
  put_group_nibbles(points, block.groups);
}

/// Reads signs, and ranks with one or two bits more than a byte.
template <class Block>
requires std::is_same_v<Block, BlockIQ2_S> || std::is_same_v<Block, BlockIQ3_S>
void read_points(const Block& block, BlockPoints& points) noexcept {
  std::ranges::copy(block.signs, points.signs.begin());
  read_ranks<8 * sizeof block.rank_high / sizeof block.ranks>(block.ranks, block.rank_high, points);
  read_group_nibbles(block.groups, points);
}
template <class Block>
requires std::is_same_v<Block, BlockIQ2_S> || std::is_same_v<Block, BlockIQ3_S>
void put_points(const BlockPoints& points, Block& block) noexcept {
  for (std::size_t k = 0; k < 32; ++k) block.signs[k] = static_cast<std::uint8_t>(points.signs[k]);
  put_ranks<8 * sizeof block.rank_high / sizeof block.ranks>(points, block.ranks, block.rank_high);
  put_group_nibbles(points, block.groups);
}

inline void read_points(const BlockIQ3_XXS& block, BlockPoints& points) noexcept {
  std::ranges::copy(block.ranks, points.ranks.begin());
  for (std::size_t g = 0; g < 8; ++g) read_sign_word(u32_at(&block.groups[4 * g]), g, points);
}
inline void put_points(const BlockPoints& points, BlockIQ3_XXS& block) noexcept {
  put_low_ranks(points, block.ranks.data(), 64);
  for (std::size_t g = 0; g < 8; ++g) put_u32(&block.groups[4 * g], sign_word(points, g));
}

inline void read_points(const BlockIQ1_S& block, BlockPoints& points) noexcept {
  for (std::size_t k = 0; k < 32; ++k) {
    const unsigned word = u16_at(&block.groups[2 * (k / 4)]);
    points.ranks[k] = block.ranks[k] | bits_at(word, 3 * (k % 4), 3) << 8;
    points.is_minus[k] = word >> 15;
    points.group_codes[k / 4] = bits_at(word, 12, 3);
  }
}
inline void put_points(const BlockPoints& points, BlockIQ1_S& block) noexcept {
  put_low_ranks(points, block.ranks.data(), 32);
  for (std::size_t g = 0; g < 8; ++g) {
    unsigned word = points.group_codes[g] << 12 | points.is_minus[4 * g] << 15;
    for (std::size_t j = 0; j < 4; ++j) word |= points.ranks[4 * g + j] >> 8 << (3 * j);
    put_u16(&block.groups[2 * g], static_cast<std::uint16_t>(word));
  }
}

inline void read_points(const BlockIQ1_M& block, BlockPoints& points) noexcept {
  for (std::size_t k = 0; k < 32; ++k) {
    const unsigned nibble = bits_at(block.rank_high[k / 2], 4 * (k % 2), 4);
    points.ranks[k] = block.ranks[k] | (nibble & 7u) << 8;
    points.is_minus[k] = nibble >> 3;
  }
  for (std::size_t g = 0; g < 16; ++g) {
    points.group_codes[g] = bits_at(u16_at(&block.groups[2 * (g / 4)]), 3 * (g % 4), 3);
  }
}
inline void put_points(const BlockPoints& points, BlockIQ1_M& block) noexcept {
  put_low_ranks(points, block.ranks.data(), 32);
  for (std::size_t k = 0; k < 32; ++k) {
    const unsigned nibble = points.ranks[k] >> 8 | points.is_minus[k] << 3;
    block.rank_high[k / 2] |= static_cast<std::uint8_t>(nibble << (4 * (k % 2)));
  }
  for (std::size_t i = 0; i < 4; ++i) {
    unsigned word = 0;
    for (std::size_t j = 0; j < 4; ++j) word |= points.group_codes[4 * i + j] << (3 * j);
    put_u16(&block.groups[2 * i], static_cast<std::uint16_t>(word));
  }
}

/// The content of a super-block.
template <class Block>
[[nodiscard]] BlockPoints points_of(const Block& block) noexcept {
  BlockPoints points;
  read_points(block, points);
  if constexpr (std::is_same_v<Block, BlockIQ1_M>) {
    points.scale = f32_from_f16(scale_bits_of(block));
  } else {
    points.scale = f16_at(block.scale.data());
  }
  return points;
}

/// A super-block that stores the points.
template <class Block>
[[nodiscard]] Block block_of(const BlockPoints& points) noexcept {
  Block block{};
  put_points(points, block);
  if constexpr (std::is_same_v<Block, BlockIQ1_M>) {
    Bytes<2> scale;
    put_scale(scale.data(), points.scale);
    put_scale_bits(block, u16_at(scale.data()));
  } else {
    put_scale(block.scale.data(), points.scale, 0x7E00);
  }
  return block;
}

}  // namespace ingot::codec
