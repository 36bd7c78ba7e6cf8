// SPDX-License-Identifier: MIT
// Runs models through a text, batch by batch.
#pragma once

#include <algorithm>
#include <span>

#include "evaluation/forward.hpp"
#include "ingot/evaluate.hpp"

namespace ingot::evaluation {

/// Tokens that are computed together where chunks are shorter: weights are decoded once for them.
inline constexpr std::size_t batch_tokens = 512;

/// Chunks that are computed together, at most.
[[nodiscard]] inline std::size_t chunks_of_batch(const TextChunks& text) noexcept {
  return std::max<std::size_t>(1, batch_tokens / std::max<std::size_t>(1, text.chunk_tokens));
}

/// Fails with Errc::invalid_argument for chunks of a length that is not supported.
[[nodiscard]] Result<void> check_chunk_tokens(std::size_t chunk_tokens,
                                              std::size_t fewest = min_chunk_tokens);

/// The tokens of the context of a model; 0 if that is unknown.
[[nodiscard]] std::uint64_t context_of(const Model& model);

/// The batches of a text, the progress through them, and the bound of memory.
class ChunkRunner {
 public:
  /// @param model_layers  layers that each chunk passes, of all models together.
  ChunkRunner(const TextChunks& text, const EvaluationOptions& options, std::uint64_t model_layers)
      : text_(text),
        options_(options),
        batch_chunks_(chunks_of_batch(text)),
        total_(model_layers * text.chunk_count()) {}

  /// Fails with Errc::invalid_argument for chunks of a size that is not supported.
  [[nodiscard]] static Result<void> check(const TextChunks& text,
                                          std::size_t fewest_tokens = min_chunk_tokens);

  /// The largest batch.
  [[nodiscard]] Batch largest_batch() const noexcept {
    return {std::min(batch_chunks_, text_.chunk_count()), text_.chunk_tokens};
  }

  /// Fails with Errc::limit_exceeded if `bytes` are more than the options allow.
  [[nodiscard]] Result<void> check_memory(std::uint64_t bytes) const;

  /// Calls use(batch, first chunk) for all batches, up to the first error.
  template <class Use>
  [[nodiscard]] Result<void> for_each_batch(const Use& use) {
    for (std::size_t first = 0; first < text_.chunk_count(); first += batch_chunks_) {
      const Batch batch{std::min(batch_chunks_, text_.chunk_count() - first), text_.chunk_tokens};
      INGOT_TRY_VOID(use(batch, first));
    }
    return {};
  }

  /// The tokens of a batch.
  [[nodiscard]] std::span<const TokenId> ids_of(const Batch& batch,
                                                std::size_t first_chunk) const noexcept {
    return std::span(text_.ids).subspan(first_chunk * text_.chunk_tokens,
                                        batch.chunk_count * text_.chunk_tokens);
  }

  /// Reports a layer that a batch has passed; false: the work ends.
  [[nodiscard]] bool count_layer(const Batch& batch) {
    done_ += batch.chunk_count;
    return !options_.progress || options_.progress({done_, total_});
  }

  /// Runs a model on a batch and reports each layer.
  [[nodiscard]] Result<Panels> run(ForwardPass& pass, const Batch& batch, std::size_t first_chunk);

 private:
  const TextChunks& text_;
  const EvaluationOptions& options_;
  std::size_t batch_chunks_;
  std::uint64_t done_ = 0;
  std::uint64_t total_;
};

}  // namespace ingot::evaluation
