// SPDX-License-Identifier: MIT
#include "huggingface/import/tensors/quantized/packed_numbers.hpp"

#include <algorithm>
#include <cstring>

#include "base/byte_order.hpp"
#include "ingot/half.hpp"
#include "ingot/quantize.hpp"

namespace ingot::huggingface {
namespace {

constexpr std::uint64_t packed_word_bytes = bits_of_packed_word / 8;

Result<std::vector<std::byte>> read_bytes(const SourceTensor& tensor, std::uint64_t first,
                                          std::uint64_t count) {
  // A byte more, so that a code may be read with the byte behind it.
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) + 1);
  INGOT_TRY_VOID(tensor.file->read(tensor.file_offset + first,
                                   std::span(bytes).first(static_cast<std::size_t>(count))));
  return bytes;
}

Result<std::vector<float>> read_numbers(const SourceTensor& tensor, std::uint64_t first,
                                        std::uint64_t count) {
  INGOT_TRY(const auto source, tensor.numbers());
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) *
                               find_type(source->type())->block_bytes);
  std::vector<float> numbers(static_cast<std::size_t>(count));
  INGOT_TRY_VOID(source->read(first, bytes));
  INGOT_TRY_VOID(dequantize(source->type(), bytes, numbers));
  return numbers;
}

/// A code that begins at a bit, in words from the lowest byte on.
std::int32_t code_at(std::span<const std::byte> bytes, std::uint64_t bit,
                     std::uint64_t bits) noexcept {
  const auto two = load_little<std::uint16_t>(&bytes[static_cast<std::size_t>(bit / 8)]);
  return two >> (bit % 8) & ((1 << bits) - 1);
}

}  // namespace

PackedNumbers::PackedNumbers(const Parts& parts, const PackedLayout& layout)
    : codes_(parts.codes),
      scales_(parts.scales),
      has_zeros_(parts.zeros != nullptr),
      has_biases_(parts.biases != nullptr),
      layout_(layout),
      row_bytes_(parts.codes.shape.back() * packed_word_bytes),
      row_scales_(parts.scales.shape.back()) {
  if (has_zeros_) zeros_ = *parts.zeros;
  if (has_biases_) biases_ = *parts.biases;
}

Result<PackedNumbers::Zeros> PackedNumbers::read_zeros(std::uint64_t row,
                                                       std::uint64_t row_count) const {
  if (!has_zeros_) return Zeros{};
  const std::uint64_t shared = layout_.zeros_follow_groups ? 1 : bits_of_packed_word / layout_.bits;
  const std::uint64_t first = row / shared;
  const std::uint64_t count = (row + row_count - 1) / shared - first + 1;
  const std::uint64_t bytes = zeros_.shape.back() * packed_word_bytes;
  Zeros zeros{.first_row = first * shared, .words = {}};
  INGOT_TRY(zeros.words, read_bytes(zeros_, first * bytes, count * bytes));
  return zeros;
}

std::int32_t PackedNumbers::zero_at(const Zeros& zeros, std::uint64_t row,
                                    std::uint64_t group) const noexcept {
  const std::uint64_t bits = layout_.bits;
  if (!has_zeros_) return has_biases_ ? 0 : std::int32_t{1} << (bits - 1);
  const std::uint64_t at = row - zeros.first_row;
  const std::uint64_t row_bits = zeros_.shape.back() * bits_of_packed_word;
  if (layout_.zeros_follow_groups) {
    return code_at(zeros.words, at * row_bits + group * bits, bits);
  }
  const std::uint64_t per_word = bits_of_packed_word / bits;
  return code_at(zeros.words,
                 at / per_word * row_bits + group * bits_of_packed_word + at % per_word * bits,
                 bits);
}

Result<void> PackedNumbers::read(std::uint64_t first, std::span<std::byte> destination) const {
  const std::uint64_t count = destination.size() / sizeof(float);
  if (count == 0) return {};
  const std::uint64_t columns = layout_.columns;
  const std::uint64_t row = first / columns;
  const std::uint64_t row_count = (first + count - 1) / columns - row + 1;
  INGOT_TRY(const auto codes, read_bytes(codes_, row * row_bytes_, row_count * row_bytes_));
  INGOT_TRY(const auto scales, read_numbers(scales_, row * row_scales_, row_count * row_scales_));
  INGOT_TRY(const Zeros zeros, read_zeros(row, row_count));
  std::vector<float> biases;
  if (has_biases_) {
    INGOT_TRY(biases, read_numbers(biases_, row * row_scales_, row_count * row_scales_));
  }
  for (std::uint64_t i = 0; i < count;) {
    const std::uint64_t at = (first + i) / columns - row;
    const std::uint64_t column = (first + i) % columns;
    const std::uint64_t group = column / layout_.group;
    const std::uint64_t end =
        std::min({i + columns - column, i + (group + 1) * layout_.group - column, count});
    const auto place = static_cast<std::size_t>(at * row_scales_ + group);
    const std::int32_t zero = zero_at(zeros, row + at, group);
    std::uint64_t bit = at * row_bytes_ * 8 + column * layout_.bits;
    for (; i < end; ++i, bit += layout_.bits) {
      const std::int32_t code = code_at(codes, bit, layout_.bits);
      const float value = layout_.values.empty()
                              ? static_cast<float>(code - zero)
                              : f32_from_bf16(layout_.values[static_cast<std::size_t>(code)]);
      float number = value * scales[place];
      if (has_biases_) number += biases[place];
      std::memcpy(&destination[static_cast<std::size_t>(i) * sizeof number], &number,
                  sizeof number);
    }
  }
  return {};
}

}  // namespace ingot::huggingface
