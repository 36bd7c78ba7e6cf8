// SPDX-License-Identifier: MIT
#include "codec/blocks/swap_fields.hpp"

#include <cstdint>

#include "base/byte_order.hpp"
#include "codec/blocks/fp4.hpp"
#include "codec/blocks/iq.hpp"
#include "codec/blocks/k.hpp"
#include "codec/blocks/legacy.hpp"
#include "codec/blocks/q8.hpp"
#include "codec/blocks/ternary.hpp"
#include "types/block_layout.hpp"

namespace ingot::codec {
namespace {

// The fields of the block structs lie as in the table.
#define INGOT_BLOCK_FIELD(name, enumerator, field, offset, bytes, count, holds) \
  static_assert(offsetof(Block##name, field) == (offset));                      \
  static_assert(sizeof(Block##name::field) >= (bytes) * (count));
#define INGOT_PLAIN_NUMBER(enumerator, bytes, holds) \
  static_assert(block_bytes_of(TensorType::enumerator) == (bytes));
#include "types/block_layouts.def"
#undef INGOT_BLOCK_FIELD
#undef INGOT_PLAIN_NUMBER

template <class Word>
void swap_words(std::byte* at, std::size_t stride, std::size_t word_count) noexcept {
  for (std::size_t i = 0; i < word_count; ++i, at += stride) {
    store<Word>(at, load<Word>(at, true), false);
  }
}

void swap_words(std::size_t word_bytes, std::byte* at, std::size_t stride,
                std::size_t word_count) noexcept {
  if (word_bytes == 2) swap_words<std::uint16_t>(at, stride, word_count);
  if (word_bytes == 4) swap_words<std::uint32_t>(at, stride, word_count);
  if (word_bytes == 8) swap_words<std::uint64_t>(at, stride, word_count);
}

}  // namespace

void swap_fields(const TensorTypeInfo& type, std::span<std::byte> blocks) noexcept {
  if (blocks.empty()) return;  // an empty span may have no address to count from
  const std::size_t block_count = blocks.size() / type.block_bytes;
  for (const types::BlockField& field : types::fields_of(type.type)) {
    // Either loop may be the long one; usually it is the loop over the blocks.
    for (std::size_t i = 0; i < field.count; ++i) {
      swap_words(field.bytes, blocks.data() + field.offset + i * field.bytes, type.block_bytes,
                 block_count);
    }
  }
}

}  // namespace ingot::codec
