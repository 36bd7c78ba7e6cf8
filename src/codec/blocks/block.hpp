// SPDX-License-Identifier: MIT
// Blocks in memory: structs of bytes, so that any file offset is a legal address.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "ingot/half.hpp"
#include "ingot/types.hpp"

namespace ingot::codec {

template <std::size_t count>
using Bytes = std::array<std::uint8_t, count>;

/// Block number `index` from `src` on.
template <class Block>
[[nodiscard]] inline Block load_block(const std::byte* src, std::size_t index) noexcept {
  Block block;
  std::memcpy(&block, src + index * sizeof(Block), sizeof(Block));
  return block;
}

template <class Block>
inline void store_block(const Block& block, std::byte* dst, std::size_t index) noexcept {
  std::memcpy(dst + index * sizeof(Block), &block, sizeof(Block));
}

// Reads a little-endian word, also on a big-endian machine.
template <class Word>
[[nodiscard]] constexpr Word word_at(const std::uint8_t* bytes) noexcept {
  Word word = 0;
  if (!std::is_constant_evaluated() && std::endian::native == std::endian::little) {
    std::memcpy(&word, bytes, sizeof word);  // compilers do not always see that it is one load
    return word;
  }
  for (std::size_t i = sizeof word; i-- > 0;) {
    word = static_cast<Word>(std::uint64_t{word} << 8 | bytes[i]);
  }
  return word;
}
[[nodiscard]] constexpr std::uint16_t u16_at(const std::uint8_t* bytes) noexcept {
  return word_at<std::uint16_t>(bytes);
}
[[nodiscard]] constexpr std::uint32_t u32_at(const std::uint8_t* bytes) noexcept {
  return word_at<std::uint32_t>(bytes);
}
[[nodiscard]] constexpr std::uint64_t u64_at(const std::uint8_t* bytes) noexcept {
  return word_at<std::uint64_t>(bytes);
}
constexpr void put_u16(std::uint8_t* bytes, std::uint16_t value) noexcept {
  bytes[0] = static_cast<std::uint8_t>(value);
  bytes[1] = static_cast<std::uint8_t>(value >> 8);
}
constexpr void put_u32(std::uint8_t* bytes, std::uint32_t value) noexcept {
  put_u16(bytes, static_cast<std::uint16_t>(value));
  put_u16(bytes + 2, static_cast<std::uint16_t>(value >> 16));
}
constexpr void put_u64(std::uint8_t* bytes, std::uint64_t value) noexcept {
  put_u32(bytes, static_cast<std::uint32_t>(value));
  put_u32(bytes + 4, static_cast<std::uint32_t>(value >> 32));
}

[[nodiscard]] inline float f16_at(const std::uint8_t* bytes) noexcept {
  return f32_from_f16(u16_at(bytes));
}
inline void put_f16(std::uint8_t* bytes, float value) noexcept {
  put_u16(bytes, f16_from_f32(value));
}
/// Stores a scale as binary16. Huge values give scales that are NaN; their sign would depend on the
/// order of operands that a compiler chooses, so it is fixed to that of x86.
inline void put_scale(std::uint8_t* bytes, float scale,
                      std::uint16_t not_a_number = 0xFE00) noexcept {
  put_u16(bytes, scale == scale ? f16_from_f32(scale) : not_a_number);
}

}  // namespace ingot::codec

/// Checks that a block struct has the size in the table, and no padding.
#define INGOT_CHECK_BLOCK(Block, enumerator)                                              \
  static_assert(sizeof(Block) == ::ingot::codec::block_bytes_of(TensorType::enumerator)); \
  static_assert(alignof(Block) == 1 && std::is_trivially_copyable_v<Block>)

namespace ingot::codec {

// The table's row of a live type, at compile time.
[[nodiscard]] consteval TensorTypeInfo info_of(TensorType type) {
  for (const TensorTypeInfo& info : live_tensor_types) {
    if (info.type == type) return info;
  }
  return {};
}
[[nodiscard]] consteval std::size_t block_bytes_of(TensorType type) {
  return info_of(type).block_bytes;
}
[[nodiscard]] consteval std::size_t block_elements_of(TensorType type) {
  return info_of(type).block_elements;
}

}  // namespace ingot::codec
