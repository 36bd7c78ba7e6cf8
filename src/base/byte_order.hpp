// SPDX-License-Identifier: MIT
// Numbers in memory, unaligned and in either byte order.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ingot {

template <std::unsigned_integral T>
[[nodiscard]] constexpr T byteswap(T value) noexcept {
  if constexpr (sizeof(T) == 1) return value;
  if constexpr (sizeof(T) == 2) return __builtin_bswap16(value);
  if constexpr (sizeof(T) == 4) return __builtin_bswap32(value);
  if constexpr (sizeof(T) == 8) return __builtin_bswap64(value);
}

/// Reads a number; `is_swapped`: it is stored in the other byte order than this machine's.
template <std::unsigned_integral T>
[[nodiscard]] T load(const std::byte* from, bool is_swapped) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return is_swapped ? byteswap(value) : value;
}

template <std::unsigned_integral T>
[[nodiscard]] T load_little(const std::byte* from) noexcept {
  return load<T>(from, std::endian::native != std::endian::little);
}

/// Writes a number; see load.
template <std::unsigned_integral T>
void store(std::byte* to, T value, bool is_swapped) noexcept {
  if (is_swapped) value = byteswap(value);
  std::memcpy(to, &value, sizeof value);
}

template <std::unsigned_integral T>
void store_little(std::byte* to, T value) noexcept {
  store(to, value, std::endian::native != std::endian::little);
}

}  // namespace ingot
