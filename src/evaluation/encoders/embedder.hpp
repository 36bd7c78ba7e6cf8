// SPDX-License-Identifier: MIT
// One model that makes vectors of texts.
#pragma once

#include <string>
#include <vector>

#include "evaluation/chunk_runner.hpp"

namespace ingot::evaluation {

/// The name of a way of pooling.
[[nodiscard]] std::string_view name_of(Pooling pooling) noexcept;

class Embedder {
 public:
  [[nodiscard]] static Result<Embedder> make(const Model& model, const EvaluationOptions& options);

  [[nodiscard]] ForwardPass& pass() noexcept { return pass_; }
  [[nodiscard]] const Network& network() const noexcept { return pass_.network(); }
  [[nodiscard]] Pooling pooling() const noexcept { return network().settings.pooling; }
  [[nodiscard]] std::uint64_t memory_for(const Batch& batch) const noexcept {
    return pass_.memory_for(batch);
  }
  /// Elements of a vector.
  [[nodiscard]] std::size_t vector_size() const noexcept;
  /// Vectors of a chunk.
  [[nodiscard]] std::size_t vectors_of(std::size_t chunk_tokens) const noexcept {
    return pooling() == Pooling::none ? chunk_tokens : 1;
  }

  /// Appends the vectors of a batch.
  [[nodiscard]] Result<void> add_vectors(ChunkRunner& runner, const Batch& batch,
                                         std::size_t first_chunk, std::vector<float>& vectors);

 private:
  explicit Embedder(ForwardPass pass) : pass_(std::move(pass)) {}

  /// One vector for each chunk, or token.
  [[nodiscard]] Panels pool(const Batch& batch, const Panels& states) const;

  ForwardPass pass_;
};

}  // namespace ingot::evaluation
