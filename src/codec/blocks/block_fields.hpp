// SPDX-License-Identifier: MIT
// Which fields of a block have a byte order: what a big-endian machine stores reversed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ingot/types.hpp"

namespace ingot::codec {

/// `count` fields of `bytes` bytes each, from `offset` in the block on.
struct BlockFields {
  std::uint16_t offset;
  std::uint8_t bytes;
  std::uint8_t count;
};

/// The fields of more than one byte of a live type's block; empty if it has none, and for unknown
/// types.
[[nodiscard]] std::span<const BlockFields> swapped_fields(TensorType type) noexcept;

/// Reverses these fields in whole blocks of `block_bytes` each.
void swap_fields(std::span<const BlockFields> fields, std::size_t block_bytes,
                 std::span<std::byte> blocks) noexcept;

}  // namespace ingot::codec
