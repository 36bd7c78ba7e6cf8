// SPDX-License-Identifier: MIT
// The functions of every tensor type: decode blocks to floats, encode floats to blocks; for each a
// scalar reference, which is the definition, and a kernel for every CPU, which equals it to the
// bit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ingot/types.hpp"

namespace ingot::codec {

/// The way in which a decoder writes. Streamed stores bypass the caches: faster for outputs that
/// are larger than these. They need a destination aligned to 64 bytes; elsewhere they silently
/// become cached ones.
enum class Stores : std::uint8_t { cached, streamed };

/// Rows of floats to encode. No pointer needs any alignment.
struct FloatRows {
  const float* src = nullptr;    ///< row_count * row_elements values
  std::byte* dst = nullptr;      ///< Receives the blocks of all rows, back to back.
  std::size_t row_elements = 0;  ///< A multiple of the type's block.
  std::size_t row_count = 0;
  /// The weight of an error in each column: row_elements numbers, the same for every row; or null.
  const float* importances = nullptr;
};

using DequantizeReference = void (*)(const std::byte* src, float* dst,
                                     std::size_t block_count) noexcept;
using Dequantize = void (*)(const std::byte* src, float* dst, std::size_t block_count,
                            Stores stores) noexcept;
using Quantize = void (*)(const FloatRows& rows) noexcept;

struct Codec {
  TensorType type;
  DequantizeReference dequantize_ref;
  Dequantize dequantize;
  Quantize quantize_ref;
  Quantize quantize;
};

/// The codec of a live type; nullptr for removed and unknown ids. O(1), thread-safe.
[[nodiscard]] const Codec* find_codec(TensorType type) noexcept;

// The functions of each type: references in <family>_ref.cpp and <family>_quantize_ref.cpp, kernels
// in <family>_simd.cpp and <family>_quantize_simd.cpp. All are thread-safe and do not allocate.
#define INGOT_TENSOR_TYPE(id, enumerator, label, elements, bytes, weights)                \
  void dequantize_##enumerator##_ref(const std::byte* src, float* dst,                    \
                                     std::size_t block_count) noexcept;                   \
  void dequantize_##enumerator(const std::byte* src, float* dst, std::size_t block_count, \
                               Stores stores) noexcept;                                   \
  void quantize_##enumerator##_ref(const FloatRows& rows) noexcept;                       \
  void quantize_##enumerator(const FloatRows& rows) noexcept;
#define INGOT_REMOVED_TYPE(id, label)
#include "ingot/tensor_types.def"

}  // namespace ingot::codec
