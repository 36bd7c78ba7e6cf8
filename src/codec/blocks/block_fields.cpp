// SPDX-License-Identifier: MIT
#include "codec/blocks/block_fields.hpp"

#include <algorithm>

#include "base/byte_order.hpp"

namespace ingot::codec {
namespace {

struct TypeFields {
  TensorType type;
  std::uint8_t group_count;
  std::array<BlockFields, 2> groups;
};

// By ascending type. Types that are not here are made of single bytes.
constexpr std::array type_fields = {
    TypeFields{TensorType::f32, 1, {{{0, 4, 1}}}},
    TypeFields{TensorType::f16, 1, {{{0, 2, 1}}}},
    TypeFields{TensorType::q4_0, 1, {{{0, 2, 1}}}},
    TypeFields{TensorType::q4_1, 1, {{{0, 2, 2}}}},
    TypeFields{TensorType::q5_0, 2, {{{0, 2, 1}, {2, 4, 1}}}},
    TypeFields{TensorType::q5_1, 2, {{{0, 2, 2}, {4, 4, 1}}}},
    TypeFields{TensorType::q8_0, 1, {{{0, 2, 1}}}},
    TypeFields{TensorType::q8_1, 1, {{{0, 2, 2}}}},
    TypeFields{TensorType::q2_k, 1, {{{80, 2, 2}}}},
    TypeFields{TensorType::q3_k, 1, {{{108, 2, 1}}}},
    TypeFields{TensorType::q4_k, 1, {{{0, 2, 2}}}},
    TypeFields{TensorType::q5_k, 1, {{{0, 2, 2}}}},
    TypeFields{TensorType::q6_k, 1, {{{208, 2, 1}}}},
    TypeFields{TensorType::q8_k, 2, {{{0, 4, 1}, {260, 2, 16}}}},
    TypeFields{TensorType::iq2_xxs, 2, {{{0, 2, 1}, {2, 4, 16}}}},
    TypeFields{TensorType::iq2_xs, 2, {{{0, 2, 1}, {2, 2, 32}}}},
    TypeFields{TensorType::iq3_xxs, 2, {{{0, 2, 1}, {66, 4, 8}}}},
    TypeFields{TensorType::iq1_s, 2, {{{0, 2, 1}, {34, 2, 8}}}},
    TypeFields{TensorType::iq4_nl, 1, {{{0, 2, 1}}}},
    TypeFields{TensorType::iq3_s, 1, {{{0, 2, 1}}}},
    TypeFields{TensorType::iq2_s, 1, {{{0, 2, 1}}}},
    TypeFields{TensorType::iq4_xs, 2, {{{0, 2, 1}, {2, 2, 1}}}},
    TypeFields{TensorType::i16, 1, {{{0, 2, 1}}}},
    TypeFields{TensorType::i32, 1, {{{0, 4, 1}}}},
    TypeFields{TensorType::i64, 1, {{{0, 8, 1}}}},
    TypeFields{TensorType::f64, 1, {{{0, 8, 1}}}},
    TypeFields{TensorType::iq1_m, 1, {{{48, 2, 4}}}},
    TypeFields{TensorType::bf16, 1, {{{0, 2, 1}}}},
    TypeFields{TensorType::tq1_0, 1, {{{52, 2, 1}}}},
    TypeFields{TensorType::tq2_0, 1, {{{64, 2, 1}}}},
    TypeFields{TensorType::q1_0, 1, {{{0, 2, 1}}}},
    TypeFields{TensorType::q2_0, 1, {{{0, 2, 1}}}},
};
static_assert(std::ranges::is_sorted(type_fields, {}, &TypeFields::type));

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

std::span<const BlockFields> swapped_fields(TensorType type) noexcept {
  const auto found = std::ranges::lower_bound(type_fields, type, {}, &TypeFields::type);
  if (found == type_fields.end() || found->type != type) return {};
  return std::span(found->groups).first(found->group_count);
}

void swap_fields(std::span<const BlockFields> fields, std::size_t block_bytes,
                 std::span<std::byte> blocks) noexcept {
  if (blocks.empty()) return;  // and may have no address to count from
  const std::size_t block_count = blocks.size() / block_bytes;
  for (const BlockFields& field : fields) {
    // Either loop may be the long one; the block's is, as a rule.
    for (std::size_t i = 0; i < field.count; ++i) {
      swap_words(field.bytes, blocks.data() + field.offset + i * field.bytes, block_bytes,
                 block_count);
    }
  }
}

}  // namespace ingot::codec
