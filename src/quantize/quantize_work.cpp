// SPDX-License-Identifier: MIT
#include "quantize/quantize_work.hpp"

#include <algorithm>
#include <string>

#include "ingot/quantize.hpp"
#include "ingot/text.hpp"
#include "quantize/error_sums.hpp"

namespace ingot::convert {
namespace {

std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) noexcept {
  return a / b + (a % b != 0 ? 1 : 0);
}

/// Types whose weighted quantizers look at the whole row.
bool needs_whole_rows(TensorType type) noexcept {
  return type == TensorType::q4_0 || type == TensorType::q4_1 || type == TensorType::q5_0 ||
         type == TensorType::q5_1;
}

}  // namespace

std::uint64_t matrix_count(const TensorInfo& tensor) noexcept {
  return tensor.shape.size() > 2 ? tensor.shape[2] : 1;
}

const ImatrixEntry* find_importance(const ImportanceMatrix* matrix,
                                    const TensorInfo& tensor) noexcept {
  const ImatrixEntry* entry = matrix == nullptr ? nullptr : matrix->find(tensor.name);
  if (entry == nullptr) return nullptr;
  return entry->value_count == tensor.row_elements() * matrix_count(tensor) ? entry : nullptr;
}

ChunkedTensor::ChunkedTensor(const PlannedTensor& planned, const ImportanceMatrix* importance)
    : planned_(&planned) {
  const TensorInfo& tensor = *planned.source;
  if (planned.has_importance) importance_ = importance->find(tensor.name);
  if (tensor.element_count == 0) return;
  row_elements_ = tensor.row_elements();
  matrix_rows_ = tensor.shape.size() > 1 ? tensor.shape[1] : 1;
  const bool is_whole =
      importance_ != nullptr && needs_whole_rows(planned.choice.type) && !planned.is_copied();
  if (row_elements_ <= chunk_elements || is_whole) {
    part_elements_ = row_elements_;
    rows_per_chunk_ = std::clamp<std::uint64_t>(chunk_elements / row_elements_, 1, matrix_rows_);
  } else {
    part_elements_ = chunk_elements;
    parts_per_row_ = divide_up(row_elements_, part_elements_);
  }
  chunks_per_matrix_ = divide_up(matrix_rows_, rows_per_chunk_) * parts_per_row_;
  const std::uint64_t matrices = tensor.element_count / row_elements_ / matrix_rows_;
  chunk_count_ = matrices * chunks_per_matrix_;
}

Chunk ChunkedTensor::chunk(std::uint64_t index) const noexcept {
  const std::uint64_t matrix = index / chunks_per_matrix_;
  const std::uint64_t within = index % chunks_per_matrix_;
  const std::uint64_t first_row = within / parts_per_row_ * rows_per_chunk_;
  Chunk chunk;
  chunk.first_column = within % parts_per_row_ * part_elements_;
  chunk.first_element = (matrix * matrix_rows_ + first_row) * row_elements_ + chunk.first_column;
  chunk.row_elements = std::min(part_elements_, row_elements_ - chunk.first_column);
  chunk.row_count = std::min(rows_per_chunk_, matrix_rows_ - first_row);
  chunk.matrix = matrix % std::max<std::uint64_t>(1, matrix_count(source()));
  return chunk;
}

Result<void> ChunkQuantizer::run(const ChunkedTensor& tensor, const Chunk& chunk,
                                 QuantizedChunk& result, QuantizeScratch& scratch) const {
  result.error = {};
  return tensor.planned().is_copied() ? copy(tensor, chunk, result, scratch)
                                      : encode(tensor, chunk, result, scratch);
}

Result<void> ChunkQuantizer::read(const ChunkedTensor& tensor, const Chunk& chunk,
                                  std::vector<std::byte>& stored) const {
  const TensorTypeInfo& type = *find_type(tensor.source().type);
  stored.resize(type.bytes_of(chunk.row_count * chunk.row_elements));
  return model_.read(tensor.source(), type.bytes_of(chunk.first_element), stored);
}

Result<void> ChunkQuantizer::copy(const ChunkedTensor& tensor, const Chunk& chunk,
                                  QuantizedChunk& result, QuantizeScratch& scratch) const {
  INGOT_TRY_VOID(read(tensor, chunk, result.bytes));
  const TensorTypeInfo& type = *find_type(tensor.source().type);
  const Endian stored_order = model_.files()[tensor.source().shard].byte_order;
  const std::uint64_t total = chunk.row_count * chunk.row_elements;
  scratch.source.resize(std::min(run_elements, total));
  for (std::uint64_t done = 0; done < total && !options_.allows_nan;) {
    const std::uint64_t count = std::min(run_elements, total - done);
    const std::span floats = std::span(scratch.source).first(count);
    const auto blocks = std::span(result.bytes).subspan(type.bytes_of(done), type.bytes_of(count));
    INGOT_TRY_VOID(dequantize(type.type, blocks, floats,
                              {.byte_order = stored_order, .stores = OutputStores::cached}));
    if (const auto position = find_not_finite(floats)) {
      return not_finite(tensor, chunk.first_element + done + *position, floats[*position], false);
    }
    done += count;
  }
  if (stored_order != byte_order_) return swap_byte_order(type.type, result.bytes);
  return {};
}

Result<void> ChunkQuantizer::encode(const ChunkedTensor& tensor, const Chunk& chunk,
                                    QuantizedChunk& result, QuantizeScratch& scratch) const {
  INGOT_TRY_VOID(read(tensor, chunk, scratch.stored));
  const TensorTypeInfo& from = *find_type(tensor.source().type);
  const TensorTypeInfo& to = *find_type(tensor.planned().choice.type);
  const Endian stored_order = model_.files()[tensor.source().shard].byte_order;
  scratch.weights.clear();
  if (const ImatrixEntry* entry = tensor.importance()) {
    const std::uint64_t columns = tensor.source().row_elements();
    scratch.weights.resize(chunk.row_elements);
    INGOT_TRY_VOID(options_.importance->read_weights(
        *entry, chunk.matrix * columns + chunk.first_column, scratch.weights));
  }
  const std::uint64_t total = chunk.row_count * chunk.row_elements;
  result.bytes.resize(to.bytes_of(total));
  const std::uint64_t run_rows = std::max<std::uint64_t>(1, run_elements / chunk.row_elements);
  const std::uint64_t run = std::min(total, run_rows * chunk.row_elements);
  scratch.source.resize(run);
  scratch.decoded.resize(run);
  for (std::uint64_t done = 0; done < total; done += run) {
    const std::uint64_t count = std::min(run, total - done);
    const std::span source = std::span(scratch.source).first(count);
    const std::span decoded = std::span(scratch.decoded).first(count);
    INGOT_TRY_VOID(dequantize(
        from.type, std::span(scratch.stored).subspan(from.bytes_of(done), from.bytes_of(count)),
        source, {.byte_order = stored_order, .stores = OutputStores::cached}));
    const auto blocks = std::span(result.bytes).subspan(to.bytes_of(done), to.bytes_of(count));
    INGOT_TRY_VOID(quantize(to.type, source, chunk.row_elements, blocks,
                            {.importance = scratch.weights, .byte_order = byte_order_}));
    INGOT_TRY_VOID(dequantize(to.type, blocks, decoded,
                              {.byte_order = byte_order_, .stores = OutputStores::cached}));
    TensorError error{.plain = measure_error(source, decoded)};
    if (error.plain.count != count && !options_.allows_nan) {
      const auto in_source = find_not_finite(source);
      const auto position = in_source ? in_source : find_not_finite(decoded);
      return not_finite(tensor, chunk.first_element + done + *position, source[*position],
                        !in_source.has_value());
    }
    if (!scratch.weights.empty()) add_weighted(source, decoded, scratch.weights, error);
    result.error.add(error);
  }
  return {};
}

Failure ChunkQuantizer::not_finite(const ChunkedTensor& tensor, std::uint64_t element, float value,
                                   bool is_result) const {
  const std::uint64_t columns = tensor.source().row_elements();
  std::string detail = "element " + std::to_string(element) + " (row " +
                       std::to_string(element / columns) + ", column " +
                       std::to_string(element % columns) + ") is " + format_float(value);
  if (is_result) {
    detail += ", too large for " + std::string(find_type(tensor.planned().choice.type)->name);
  }
  return fail(Errc::weight_not_finite, std::string(tensor.source().name), std::move(detail));
}

}  // namespace ingot::convert
