// SPDX-License-Identifier: MIT
// Model::dequantize_rows and dequantize: from a tensor's place in a file to floats.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/checked.hpp"
#include "ingot/model.hpp"
#include "ingot/quantize.hpp"

namespace ingot {
namespace {

/// Bytes that are read at once if the file is not in memory; room for the largest block many times
/// over.
constexpr std::size_t buffer_bytes = std::size_t{32} << 10;

/// Rows of a tensor as runs of blocks.
struct BlockRange {
  std::uint64_t first_block;
  std::uint64_t block_count;
};

Result<BlockRange> find_blocks(const TensorInfo& tensor, const TensorTypeInfo& info,
                               std::uint64_t first_row, std::uint64_t row_count,
                               std::size_t dst_elements) {
  const std::uint64_t row_elements = tensor.row_elements();
  const std::uint64_t rows = tensor.row_count();
  if (first_row > rows || row_count > rows - first_row) {
    return fail(Errc::index_out_of_range, std::string(tensor.name),
                std::to_string(row_count) + " rows from " + std::to_string(first_row) +
                    " on were asked for, it has " + std::to_string(rows));
  }
  // The product cannot overflow, as the rows are within the tensor, whose elements were counted.
  if (row_count * row_elements != dst_elements) {
    return fail(Errc::size_mismatch, std::string(tensor.name),
                std::to_string(dst_elements) + " floats for " + std::to_string(row_count) +
                    " rows of " + std::to_string(row_elements));
  }
  const std::uint64_t row_blocks = row_elements / info.block_elements;
  return BlockRange{first_row * row_blocks, row_count * row_blocks};
}

Result<void> named(Result<void> result, const TensorInfo& tensor) {
  if (!result) result.error().subject = std::string(tensor.name);
  return result;
}

}  // namespace

Result<void> Model::dequantize_rows(const TensorInfo& tensor, std::uint64_t first_row,
                                    std::uint64_t row_count, std::span<float> dst) const {
  const TensorTypeInfo* info = find_type(tensor.type);
  if (info == nullptr) return named(ingot::dequantize(tensor.type, {}, {}), tensor);
  INGOT_TRY(const BlockRange range, find_blocks(tensor, *info, first_row, row_count, dst.size()));
  DequantizeOptions options = {.byte_order = files()[tensor.shard].byte_order};
  const std::uint64_t first_byte = range.first_block * info->block_bytes;
  const std::span<const std::byte> bytes = data(tensor);
  if (!bytes.empty()) {
    return named(ingot::dequantize(tensor.type,
                                   bytes.subspan(to_size(first_byte),
                                                 to_size(range.block_count * info->block_bytes)),
                                   dst, options),
                 tensor);
  }
  std::array<std::byte, buffer_bytes> buffer;
  const std::uint64_t buffer_blocks = buffer_bytes / info->block_bytes;
  for (std::uint64_t done = 0; done < range.block_count;) {
    const std::uint64_t count = std::min(buffer_blocks, range.block_count - done);
    const auto blocks = std::span(buffer).first(to_size(count * info->block_bytes));
    INGOT_TRY_VOID(read(tensor, first_byte + done * info->block_bytes, blocks));
    INGOT_TRY_VOID(named(ingot::dequantize(tensor.type, blocks,
                                           dst.subspan(to_size(done * info->block_elements),
                                                       to_size(count * info->block_elements)),
                                           options),
                         tensor));
    done += count;
  }
  return {};
}

Result<std::vector<float>> Model::dequantize(const TensorInfo& tensor) const {
  // A tensor of an unknown type has no size that was checked.
  INGOT_TRY_VOID(dequantize_rows(tensor, 0, 0, {}));
  if (tensor.element_count > std::vector<float>().max_size()) {
    return fail(Errc::out_of_memory, std::string(tensor.name),
                "its weights are more than programs of this system can hold; read rows of it");
  }
  std::vector<float> floats(to_size(tensor.element_count));
  INGOT_TRY_VOID(dequantize_rows(tensor, 0, tensor.row_count(), floats));
  return floats;
}

}  // namespace ingot
