// SPDX-License-Identifier: MIT
// The offsets of the numbers in a block: block_layouts.def, looked up by type.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ingot/types.hpp"

namespace ingot::types {

/// The content of a field: a float of some format, or bits.
enum class Holds : std::uint8_t { f16, bf16, f32, f64, e8m0, ue4m3, f16_in_nibbles, bits };

/// `count` numbers of `bytes` bytes each, back to back from `offset` in the block on.
struct BlockField {
  TensorType type;
  std::uint16_t offset;
  std::uint8_t bytes;
  std::uint8_t count;
  Holds holds;

  [[nodiscard]] constexpr std::size_t end() const noexcept {
    return std::size_t{offset} + std::size_t{bytes} * count;
  }
};

inline constexpr std::array block_fields = {
#define INGOT_BLOCK_FIELD(name, enumerator, field, offset, bytes, count, holds) \
  BlockField{TensorType::enumerator, offset, bytes, count, Holds::holds},
#define INGOT_PLAIN_NUMBER(enumerator, bytes, holds) \
  BlockField{TensorType::enumerator, 0, bytes, 1, Holds::holds},
#include "types/block_layouts.def"
#undef INGOT_BLOCK_FIELD
#undef INGOT_PLAIN_NUMBER
};
static_assert(std::ranges::is_sorted(block_fields, {}, &BlockField::type));

/// The fields of a type's block; empty for I8 and for types that are not live. O(log).
[[nodiscard]] constexpr std::span<const BlockField> fields_of(TensorType type) noexcept {
  const auto first = std::ranges::lower_bound(block_fields, type, {}, &BlockField::type);
  const auto last = std::ranges::upper_bound(block_fields, type, {}, &BlockField::type);
  return {first, last};
}

}  // namespace ingot::types
