// SPDX-License-Identifier: MIT
// Shared by the scalar quantizers: rounding, and a walk over the blocks of rows.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "codec/blocks/block.hpp"
#include "codec/codec.hpp"

namespace ingot::codec {

/// Rounds to the nearest integer, ties to even, by adding 1.5 * 2^23 as the reference
/// implementation does. It is right for magnitudes below 2^22. For others, and for NaN (0), the
/// result follows from the bits and is the same everywhere.
[[nodiscard]] inline std::int32_t round_even(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value + 12582912.0f);
  return static_cast<std::int32_t>(bits & 0x7FFFFFu) - 0x400000;
}

[[nodiscard]] inline bool all_finite(const float* values, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::isfinite(values[i])) return false;
  }
  return true;
}

/// Calls encode(x, importances, dst) for each block of the rows. `x` is an array of the block's
/// values; all are zero if one of them is NaN or infinite: such a block is encoded as one of zeros.
/// `importances` are those of the block, or null.
template <class Block, std::size_t block_elements, class Encode>
void for_each_block(const FloatRows& rows, const Encode& encode) noexcept {
  std::byte* dst = rows.dst;
  for (std::size_t row = 0; row < rows.row_count; ++row) {
    const float* src = rows.src + row * rows.row_elements;
    for (std::size_t first = 0; first < rows.row_elements; first += block_elements) {
      std::array<float, block_elements> x{};
      if (all_finite(src + first, block_elements)) {
        std::memcpy(x.data(), src + first, sizeof x);
      }
      Block block{};
      encode(x, rows.importances == nullptr ? nullptr : rows.importances + first, block);
      store_block(block, dst, 0);
      dst += sizeof(Block);
    }
  }
}

}  // namespace ingot::codec

/// Defines quantize_<enumerator>_ref by encode(x, importances, block), which fills a Block<name>.
#define INGOT_REFERENCE_ENCODER(name, enumerator)                                        \
  void quantize_##enumerator##_ref(const FloatRows& rows) noexcept {                     \
    for_each_block<Block##name, block_elements_of(TensorType::enumerator)>(              \
        rows, [](const auto& x, const float* importances, Block##name& block) noexcept { \
          encode(x, importances, block);                                                 \
        });                                                                              \
  }
