// SPDX-License-Identifier: MIT
#include "work/streams/piece_decoder.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "ingot/quantize.hpp"

namespace ingot::work {

std::uint64_t bytes_of(const TensorInfo& tensor, std::uint64_t element_count) noexcept {
  return find_type(tensor.type)->bytes_of(element_count);
}

PieceDecoder::PieceDecoder(const Model& model, const TensorInfo& tensor, std::uint64_t end_element)
    : model_(model),
      tensor_(tensor),
      end_element_(end_element),
      byte_order_(model.files()[tensor.shard].byte_order) {}

Result<std::span<const std::byte>> PieceDecoder::read(std::uint64_t first_element,
                                                      std::size_t count) {
  if (first_element >= end_of_read_) INGOT_TRY_VOID(read_from(first_element));
  const std::uint64_t first_byte = bytes_of(tensor_, first_element) - read_offset_;
  return read_.subspan(to_size(first_byte), to_size(bytes_of(tensor_, count)));
}

Result<Statistics> PieceDecoder::statistics(std::uint64_t first_element, std::size_t count) {
  INGOT_TRY(const auto blocks, read(first_element, count));
  return compute_statistics(tensor_.type, blocks, byte_order_);
}

Result<std::span<const float>> PieceDecoder::decode(std::uint64_t first_element,
                                                    std::size_t count) {
  INGOT_TRY(const auto blocks, read(first_element, count));
  const std::span<float> floats = std::span(floats_).first(count);
  INGOT_TRY_VOID(dequantize(tensor_.type, blocks, floats,
                            {.byte_order = byte_order_, .stores = OutputStores::cached}));
  return floats;
}

Result<void> PieceDecoder::read_from(std::uint64_t first_element) {
  const std::uint64_t count = std::min(read_elements, end_element_ - first_element);
  const auto size_bytes = to_size(bytes_of(tensor_, count));
  if (size_bytes > buffer_bytes_) {
    buffer_ = std::make_unique_for_overwrite<std::byte[]>(size_bytes);
    buffer_bytes_ = size_bytes;
  }
  read_offset_ = bytes_of(tensor_, first_element);
  INGOT_TRY(read_, model_.fetch(tensor_, read_offset_, {buffer_.get(), size_bytes}));
  end_of_read_ = first_element + count;
  return {};
}

}  // namespace ingot::work
