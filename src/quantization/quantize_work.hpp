// SPDX-License-Identifier: MIT
// The tensors of a plan as chunks: what is read, encoded, compared and written at once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ingot/quantize_model.hpp"
#include "quantization/moment_store.hpp"
#include "work/streams/row_pieces.hpp"

namespace ingot::quantization {

/// Elements of a chunk, unless a row is longer and has to be whole. Does not depend on the number
/// of threads: sums over chunks have the same digits always.
inline constexpr std::uint64_t chunk_elements = std::uint64_t{1} << 18;

/// Elements that go through the floats at once, so that these stay in the caches of one core.
inline constexpr std::uint64_t run_elements = std::uint64_t{1} << 14;

/// The number of matrices that dimension 2 counts, each with its own importance.
[[nodiscard]] std::uint64_t matrix_count(const TensorInfo& tensor) noexcept;

/// How the blocks of a tensor on a lattice, or on none, are chosen.
[[nodiscard]] Effort effort_of(const QuantizeModelOptions& options, TensorType type,
                               const std::optional<WeightGrid>& grid) noexcept;

/// The entry for a tensor if it has a value for each column of each of its matrices, else nullptr.
[[nodiscard]] const ImatrixEntry* find_importance(const ImportanceMatrix* matrix,
                                                  const TensorInfo& tensor) noexcept;

/// The form in which a model is written.
[[nodiscard]] WriteFormat result_format(const Model& model,
                                        const QuantizeModelOptions& options) noexcept;

/// A writer with all keys of the result, and no tensors.
[[nodiscard]] Result<ModelWriter> make_keys(const Model& model, const QuantizePlan& plan,
                                            const QuantizeModelOptions& options);

/// A form of a tensor that one or more results have.
struct TensorTarget {
  std::vector<std::size_t> results;  ///< Their places among the results that are made at once.
  const PlannedTensor* planned = nullptr;
  const QuantizeModelOptions* options = nullptr;

  /// Whether another result's form of the same tensor has the same bytes and the same error.
  [[nodiscard]] bool is_alike(const TensorTarget& other) const noexcept;

  /// The importance of its columns; nullptr without.
  [[nodiscard]] const ImatrixEntry* importance() const noexcept;
  /// The key of the second moments of one of its matrices; its entry is null without second
  /// moments.
  [[nodiscard]] MomentStore::Key moments(std::uint64_t matrix) const noexcept;
};

/// The chunks of a tensor, the same for all of its targets.
class ChunkedTensor {
 public:
  /// Takes the targets of one tensor, of which equal ones become one: mixtures have most of their
  /// tensors in common. Without targets there are no chunks.
  explicit ChunkedTensor(std::span<const TensorTarget> targets);

  [[nodiscard]] std::span<const TensorTarget> targets() const noexcept { return targets_; }
  [[nodiscard]] const TensorInfo& source() const noexcept { return *targets_[0].planned->source; }
  [[nodiscard]] std::uint64_t chunk_count() const noexcept { return chunks_.count(); }
  [[nodiscard]] std::uint64_t chunks_per_matrix() const noexcept { return chunks_.per_matrix(); }
  /// Its `matrix` is that of dimension 2, one per expert.
  [[nodiscard]] RowPiece chunk(std::uint64_t index) const noexcept;
  /// Elements of a chunk that go through the floats at once: whole rows, where rows are not cut.
  [[nodiscard]] std::uint64_t run_length(const RowPiece& chunk) const noexcept;

 private:
  std::vector<TensorTarget> targets_;
  RowPieces chunks_;
};

/// Memory of one thread.
struct QuantizeScratch {
  std::vector<std::byte> stored;
  std::vector<float> source;
  std::vector<float> decoded;
  std::vector<std::vector<float>> weights;    ///< The weights for each target; empty without
                                              ///< importance.
  std::vector<MomentStore::Moments> moments;  ///< The moments for each target; null if there are
                                              ///< none.
};

/// A chunk of one result.
struct QuantizedPart {
  std::vector<std::byte> bytes;
  TensorError error;
};

/// A chunk, done for each target of its tensor.
struct QuantizedChunk {
  std::vector<QuantizedPart> parts;
  std::optional<Error> failure;
};

/// Reads and decodes one chunk, then encodes and compares it for each target. Thread-safe.
class ChunkQuantizer {
 public:
  ChunkQuantizer(const Model& model, Endian byte_order) : model_(model), byte_order_(byte_order) {}

  [[nodiscard]] Result<void> run(const ChunkedTensor& tensor, const RowPiece& chunk,
                                 QuantizedChunk& result, QuantizeScratch& scratch) const;

 private:
  /// Some rows of a chunk, or a part of one, as floats.
  struct Run {
    const RowPiece& chunk;
    std::uint64_t first;  ///< Element of the chunk.
    std::span<const float> floats;
  };
  /// The known facts about the inputs of a tensor.
  struct Inputs {
    std::span<const float> weights;
    const InputMoments* moments;
  };

  [[nodiscard]] Result<void> read(const ChunkedTensor& tensor, const RowPiece& chunk,
                                  QuantizeScratch& scratch) const;
  [[nodiscard]] Result<void> read_inputs(const ChunkedTensor& tensor, const RowPiece& chunk,
                                         QuantizeScratch& scratch) const;
  [[nodiscard]] Result<void> encode_all(const ChunkedTensor& tensor, const RowPiece& chunk,
                                        QuantizedChunk& result, QuantizeScratch& scratch) const;
  [[nodiscard]] Result<void> encode(const TensorTarget& target, const Run& run,
                                    const Inputs& inputs, QuantizedPart& part,
                                    std::vector<float>& decoded) const;
  [[nodiscard]] Result<void> encode_blocks(const TensorTarget& target, const Run& run,
                                           const Inputs& inputs, std::span<std::byte> blocks,
                                           TensorError& error) const;
  [[nodiscard]] Result<void> copy(const ChunkedTensor& tensor, const QuantizeScratch& scratch,
                                  QuantizedPart& part) const;
  [[nodiscard]] static Failure not_finite(const TensorTarget& target, const Run& run,
                                          std::uint64_t position, bool is_result);

  const Model& model_;
  Endian byte_order_;            // byte order of the result
  mutable MomentStore moments_;  // thread-safe
};

}  // namespace ingot::quantization
