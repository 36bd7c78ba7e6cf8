// SPDX-License-Identifier: MIT
// Types whose blocks are single numbers. Integers and binary64 become the nearest float, ties to
// even.
#include <bit>

#include "codec/blocks/block.hpp"
#include "codec/codec.hpp"

namespace ingot::codec {
namespace {

const std::uint8_t* bytes_of(const std::byte* src) noexcept {
  return reinterpret_cast<const std::uint8_t*>(src);
}

}  // namespace

void dequantize_f32_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  for (std::size_t i = 0; i < block_count; ++i) {
    // Copies bits and not floats, as some machines would make a signalling NaN quiet.
    const std::uint32_t bits = u32_at(bytes_of(src) + 4 * i);
    std::memcpy(dst + i, &bits, sizeof bits);
  }
}

void dequantize_f16_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  for (std::size_t i = 0; i < block_count; ++i) dst[i] = f16_at(bytes_of(src) + 2 * i);
}

void dequantize_bf16_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  for (std::size_t i = 0; i < block_count; ++i) {
    const std::uint32_t bits = std::uint32_t{u16_at(bytes_of(src) + 2 * i)} << 16;
    std::memcpy(dst + i, &bits, sizeof bits);
  }
}

void dequantize_f64_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  for (std::size_t i = 0; i < block_count; ++i) {
    dst[i] = static_cast<float>(std::bit_cast<double>(u64_at(bytes_of(src) + 8 * i)));
  }
}

void dequantize_i8_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  for (std::size_t i = 0; i < block_count; ++i) {
    dst[i] = static_cast<float>(static_cast<std::int8_t>(src[i]));
  }
}

void dequantize_i16_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  for (std::size_t i = 0; i < block_count; ++i) {
    dst[i] = static_cast<float>(static_cast<std::int16_t>(u16_at(bytes_of(src) + 2 * i)));
  }
}

void dequantize_i32_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  for (std::size_t i = 0; i < block_count; ++i) {
    dst[i] = static_cast<float>(static_cast<std::int32_t>(u32_at(bytes_of(src) + 4 * i)));
  }
}

void dequantize_i64_ref(const std::byte* src, float* dst, std::size_t block_count) noexcept {
  for (std::size_t i = 0; i < block_count; ++i) {
    dst[i] = static_cast<float>(static_cast<std::int64_t>(u64_at(bytes_of(src) + 8 * i)));
  }
}

}  // namespace ingot::codec
