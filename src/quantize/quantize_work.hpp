// SPDX-License-Identifier: MIT
// The tensors of a plan as chunks: what is read, encoded, compared and written at once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ingot/quantize_model.hpp"

namespace ingot::convert {

/// Elements of a chunk, unless a row is longer and has to be whole. Does not depend on the number
/// of threads: sums over chunks have the same digits always.
inline constexpr std::uint64_t chunk_elements = std::uint64_t{1} << 18;

/// Elements that go through the floats at once, so that these stay in the caches of one core.
inline constexpr std::uint64_t run_elements = std::uint64_t{1} << 14;

/// How many matrices dimension 2 counts, each with importance of its own.
[[nodiscard]] std::uint64_t matrix_count(const TensorInfo& tensor) noexcept;

/// The entry for a tensor if it has a value for each column of each of its matrices, else nullptr.
[[nodiscard]] const ImatrixEntry* find_importance(const ImportanceMatrix* matrix,
                                                  const TensorInfo& tensor) noexcept;

/// The form in which a model is written.
[[nodiscard]] WriteFormat result_format(const Model& model) noexcept;

/// A writer with all keys of the result, and no tensors.
[[nodiscard]] Result<ModelWriter> make_keys(const Model& model, const QuantizePlan& plan,
                                            const QuantizeModelOptions& options);

/// A part of one tensor: rows of one matrix, or a part of one row.
struct Chunk {
  std::uint64_t first_element = 0;
  std::uint64_t row_elements = 0;  ///< Of the part of the row.
  std::uint64_t row_count = 0;
  std::uint64_t first_column = 0;
  std::uint64_t matrix = 0;  ///< Which of the matrices that dimension 2 counts, one per expert.
};

/// How a tensor is cut into chunks.
class ChunkedTensor {
 public:
  ChunkedTensor(const PlannedTensor& planned, const ImportanceMatrix* importance);

  [[nodiscard]] const PlannedTensor& planned() const noexcept { return *planned_; }
  [[nodiscard]] const TensorInfo& source() const noexcept { return *planned_->source; }
  [[nodiscard]] const ImatrixEntry* importance() const noexcept { return importance_; }
  [[nodiscard]] std::uint64_t chunk_count() const noexcept { return chunk_count_; }
  [[nodiscard]] Chunk chunk(std::uint64_t index) const noexcept;

 private:
  const PlannedTensor* planned_;
  const ImatrixEntry* importance_ = nullptr;
  std::uint64_t row_elements_ = 1;
  std::uint64_t matrix_rows_ = 1;
  std::uint64_t part_elements_ = 1;  // of a row
  std::uint64_t parts_per_row_ = 1;
  std::uint64_t rows_per_chunk_ = 1;
  std::uint64_t chunks_per_matrix_ = 0;
  std::uint64_t chunk_count_ = 0;
};

/// Memory of one thread.
struct QuantizeScratch {
  std::vector<std::byte> stored;
  std::vector<float> source;
  std::vector<float> decoded;
  std::vector<float> weights;
};

/// A chunk, done.
struct QuantizedChunk {
  std::vector<std::byte> bytes;
  TensorError error;
  std::optional<Error> failure;
};

/// Reads, encodes and compares one chunk. Thread-safe.
class ChunkQuantizer {
 public:
  ChunkQuantizer(const Model& model, const QuantizeModelOptions& options, Endian byte_order)
      : model_(model), options_(options), byte_order_(byte_order) {}

  [[nodiscard]] Result<void> run(const ChunkedTensor& tensor, const Chunk& chunk,
                                 QuantizedChunk& result, QuantizeScratch& scratch) const;

 private:
  [[nodiscard]] Result<void> read(const ChunkedTensor& tensor, const Chunk& chunk,
                                  std::vector<std::byte>& stored) const;
  [[nodiscard]] Result<void> copy(const ChunkedTensor& tensor, const Chunk& chunk,
                                  QuantizedChunk& result, QuantizeScratch& scratch) const;
  [[nodiscard]] Result<void> encode(const ChunkedTensor& tensor, const Chunk& chunk,
                                    QuantizedChunk& result, QuantizeScratch& scratch) const;
  [[nodiscard]] Failure not_finite(const ChunkedTensor& tensor, std::uint64_t element, float value,
                                   bool is_result) const;

  const Model& model_;
  const QuantizeModelOptions& options_;
  Endian byte_order_;  // of the result
};

}  // namespace ingot::convert
