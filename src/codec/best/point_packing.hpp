// SPDX-License-Identifier: MIT
// Putting points of a lattice into blocks that are zeros.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "codec/blocks/iq.hpp"

namespace ingot::codec {

/// What a super-block of points stores.
struct FoundPoints {
  float scale = 0.0f;                         ///< A binary16.
  std::array<unsigned, 16> group_codes = {};  ///< Of the scales of groups.
  std::array<unsigned, 64> ranks = {};        ///< Of octets or quads.
  std::array<unsigned, 32> signs = {};     ///< Of each octet: bit i is set if weight i is negative.
  std::array<unsigned, 32> is_minus = {};  ///< IQ1: 1 for the shift -0.125 of an octet.
};

inline void put_low_ranks(const FoundPoints& found, std::uint8_t* bytes,
                          std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(found.ranks[i]);
}

template <std::size_t bytes_count>
void put_group_nibbles(const FoundPoints& found, Bytes<bytes_count>& bytes) noexcept {
  for (std::size_t i = 0; i < bytes_count; ++i) {
    const unsigned high = found.group_codes[2 * i + 1];
    bytes[i] = static_cast<std::uint8_t>(found.group_codes[2 * i] | high << 4);
  }
}

/// Seven signs of each octet of a group, and the code of its scale.
[[nodiscard]] inline std::uint32_t sign_word(const FoundPoints& found, std::size_t g) noexcept {
  std::uint32_t word = found.group_codes[g] << 28;
  for (std::size_t j = 0; j < 4; ++j) word |= (found.signs[4 * g + j] & 127u) << (7 * j);
  return word;
}

inline void put_points(const FoundPoints& found, BlockIQ2_XXS& block) noexcept {
  put_f16(block.scale.data(), found.scale);
  for (std::size_t g = 0; g < 8; ++g) {
    for (std::size_t j = 0; j < 4; ++j) {
      block.groups[8 * g + j] = static_cast<std::uint8_t>(found.ranks[4 * g + j]);
    }
    put_u32(&block.groups[8 * g + 4], sign_word(found, g));
  }
}

inline void put_points(const FoundPoints& found, BlockIQ2_XS& block) noexcept {
  put_f16(block.scale.data(), found.scale);
  for (std::size_t k = 0; k < 32; ++k) {
    const unsigned word = found.ranks[k] | (found.signs[k] & 127u) << 9;
    put_u16(&block.octets[2 * k], static_cast<std::uint16_t>(word));
  }
  put_group_nibbles(found, block.groups);
}

inline void put_signs(const FoundPoints& found, Bytes<32>& bytes) noexcept {
  for (std::size_t k = 0; k < 32; ++k) bytes[k] = static_cast<std::uint8_t>(found.signs[k]);
}

inline void put_points(const FoundPoints& found, BlockIQ2_S& block) noexcept {
  put_f16(block.scale.data(), found.scale);
  put_low_ranks(found, block.ranks.data(), 32);
  put_signs(found, block.signs);
  for (std::size_t k = 0; k < 32; ++k) {
    const unsigned bits = found.ranks[k] >> 8 << (2 * (k % 4));
    block.rank_high[k / 4] = static_cast<std::uint8_t>(block.rank_high[k / 4] | bits);
  }
  put_group_nibbles(found, block.groups);
}

inline void put_points(const FoundPoints& found, BlockIQ3_XXS& block) noexcept {
  put_f16(block.scale.data(), found.scale);
  put_low_ranks(found, block.ranks.data(), 64);
  for (std::size_t g = 0; g < 8; ++g) put_u32(&block.groups[4 * g], sign_word(found, g));
}

inline void put_points(const FoundPoints& found, BlockIQ3_S& block) noexcept {
  put_f16(block.scale.data(), found.scale);
  put_low_ranks(found, block.ranks.data(), 64);
  put_signs(found, block.signs);
  for (std::size_t q = 0; q < 64; ++q) {
    const unsigned bit = found.ranks[q] >> 8 << (q % 8);
    block.rank_high[q / 8] = static_cast<std::uint8_t>(block.rank_high[q / 8] | bit);
  }
  put_group_nibbles(found, block.groups);
}

inline void put_points(const FoundPoints& found, BlockIQ1_S& block) noexcept {
  put_f16(block.scale.data(), found.scale);
  put_low_ranks(found, block.ranks.data(), 32);
  for (std::size_t g = 0; g < 8; ++g) {
    unsigned word = found.group_codes[g] << 12 | found.is_minus[4 * g] << 15;
    for (std::size_t j = 0; j < 4; ++j) word |= found.ranks[4 * g + j] >> 8 << (3 * j);
    put_u16(&block.groups[2 * g], static_cast<std::uint16_t>(word));
  }
}

inline void put_points(const FoundPoints& found, BlockIQ1_M& block) noexcept {
  put_low_ranks(found, block.ranks.data(), 32);
  for (std::size_t i = 0; i < 16; ++i) {
    const auto nibble = [&](std::size_t k) { return found.ranks[k] >> 8 | found.is_minus[k] << 3; };
    block.rank_high[i] = static_cast<std::uint8_t>(nibble(2 * i) | nibble(2 * i + 1) << 4);
  }
  for (std::size_t i = 0; i < 4; ++i) {
    unsigned word = 0;
    for (std::size_t j = 0; j < 4; ++j) word |= found.group_codes[4 * i + j] << (3 * j);
    put_u16(&block.groups[2 * i], static_cast<std::uint16_t>(word));
  }
  put_scale_bits(block, f16_from_f32(found.scale));
}

}  // namespace ingot::codec
