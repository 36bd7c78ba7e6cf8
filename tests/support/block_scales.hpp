// SPDX-License-Identifier: MIT
// The scales in blocks, to make random ones harmless.
#pragma once

#include <cstddef>
#include <span>

#include "ingot/types.hpp"
#include "types/block_layout.hpp"

namespace ingot::test {

/// Calls tame(last, holds) for each scale, minimum or number in the blocks, with its last byte, in
/// which a little-endian number has its sign and most of its exponent.
template <class Tame>
void for_each_scale(const TensorTypeInfo& info, std::span<std::byte> blocks, const Tame& tame) {
  for (const types::BlockField& field : types::fields_of(info.type)) {
    if (field.holds == types::Holds::bits) continue;
    // f16_in_nibbles is one number in several words.
    const bool is_one = field.holds == types::Holds::f16_in_nibbles;
    const std::size_t bytes = is_one ? std::size_t{field.bytes} * field.count : field.bytes;
    for (std::size_t block = 0; block < blocks.size(); block += info.block_bytes) {
      for (std::size_t end = field.offset + bytes; end <= field.end(); end += bytes) {
        tame(blocks[block + end - 1], field.holds);
      }
    }
  }
}

}  // namespace ingot::test
