// SPDX-License-Identifier: MIT
// Run embedding models on a text and compare the vectors that they make (target ingot::evaluate).
//
//   const auto text = ingot::embedding_chunks_of(*base, content);
//   const ingot::Model* others[] = {&*small};
//   const auto found = ingot::compare_embeddings(*base, others, *text);
//   std::printf("1 - cosine: %g\n", found->others[0].distance.mean);
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/evaluate.hpp"

namespace ingot {

/// What a model can be asked for.
struct ModelUses {
  bool predicts = true;        ///< The next token.
  bool makes_vectors = false;  ///< Vectors of texts: an encoder, or a model with `pooling_type`.
};

/// By the keys alone; a model that `evaluate` does not know predicts.
[[nodiscard]] INGOT_EXPORT ModelUses uses_of(const Model& model);

/// Encodes a text for a model that makes vectors, with the tokens that its tokenizer adds to every
/// text. A text that fits is one chunk; of a longer one each chunk gets these tokens, and the rest
/// that fills no chunk is dropped.
///
/// @param chunk_tokens  that a chunk has at most; 0: the context of the model, and for a longer
///                      text the smaller of 512 and that.
/// @param max_chunks    0: all
/// @return  Errc::invalid_argument for an empty text, or chunks that are too short or too long;
///          errors of the tokenizer.
[[nodiscard]] INGOT_EXPORT Result<TextChunks> embedding_chunks_of(const Model& model,
                                                                  std::string_view text,
                                                                  std::size_t chunk_tokens = 0,
                                                                  std::size_t max_chunks = 0);

struct Embeddings {
  std::vector<float> values;  ///< One vector after the other, as they are: not normalised.
  std::size_t size = 0;       ///< Elements of a vector.
  std::string pooling;        ///< "none", "mean", "first", "last" or "rank".

  [[nodiscard]] std::size_t count() const noexcept { return size == 0 ? 0 : values.size() / size; }
  [[nodiscard]] std::span<const float> vector(std::size_t i) const noexcept {
    return std::span(values).subspan(i * size, size);
  }
};

/// The vector of each chunk, made of the states of its tokens as the key `pooling_type` says; of
/// each token where that is "none". Of a classifier, what its head reads.
/// @return  errors as of `evaluate`.
[[nodiscard]] INGOT_EXPORT Result<Embeddings> compute_embeddings(
    const Model& model, const TextChunks& text, const EvaluationOptions& options = {});

/// The vectors of a model beside those of the base.
struct EmbeddingComparison {
  MeanEstimate distance;  ///< 1 less the cosine of the two vectors of a chunk.
  std::vector<double> chunk_distances;
  /// Of the first 1,000 chunks; nothing for fewer than 3.
  std::optional<double> same_neighbour = {};
  std::optional<double> neighbour_order = {};
};

template <class Visitor>
void describe(Visitor& visit, const EmbeddingComparison& other) {
  describe_estimate(visit, "cosine_distance", other.distance, "",
                    "1 less the cosine of its vector and that of the base, of a chunk");
  visit("chunk_cosine_distances", other.chunk_distances, "", "of each chunk");
  visit("same_neighbour", other.same_neighbour, "",
        "share of chunks whose nearest other chunk is the same; null for fewer than 3 chunks");
  visit("neighbour_order", other.neighbour_order, "",
        "rank correlation of the cosines with the other chunks, its mean over chunks; null for "
        "fewer than 3");
}

struct EmbeddingEvaluation {
  std::size_t chunk_count = 0;
  std::size_t chunk_tokens = 0;
  std::size_t vector_size = 0;
  std::string pooling;
  std::vector<EmbeddingComparison> others;

  /// The distance of the model `a` less that of `b`, chunk by chunk.
  [[nodiscard]] INGOT_EXPORT MeanEstimate difference(std::size_t a, std::size_t b) const;
};

template <class Visitor>
void describe_counts(Visitor& visit, const EmbeddingEvaluation& found) {
  visit("chunk_count", found.chunk_count, "chunks", "of the text that were used");
  visit("chunk_tokens", found.chunk_tokens, "tokens", "of a chunk");
  visit("vector_size", found.vector_size, "elements", "of a vector");
  visit("pooling", found.pooling, "",
        "how the states of tokens become one vector: mean, first, last, rank or none");
}

template <class Visitor>
void describe(Visitor& visit, const EmbeddingEvaluation& found) {
  describe_counts(visit, found);
  visit("others", found.others, "", "the vectors of each other model, beside those of the base");
}

/// Runs `base` and `others` on a text and compares the vectors of its chunks.
///
/// @param others  their vocabularies and vectors are as large as those of `base`.
/// @return  errors as of `evaluate`.
[[nodiscard]] INGOT_EXPORT Result<EmbeddingEvaluation> compare_embeddings(
    const Model& base, std::span<const Model* const> others, const TextChunks& text,
    const EvaluationOptions& options = {});

/// The same of vectors that are there, such as those of parts of a text, one behind the other.
///
/// @param models  the base first; the vectors of each are of the same chunks.
/// @return        Errc::invalid_argument if they are not of one size and number.
[[nodiscard]] INGOT_EXPORT Result<EmbeddingEvaluation> compare_embeddings(
    std::span<const Embeddings> models, std::size_t chunk_count, std::size_t chunk_tokens);

}  // namespace ingot
