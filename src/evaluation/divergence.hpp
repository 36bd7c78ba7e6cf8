// SPDX-License-Identifier: MIT
// Distributions of the next token, compared while their logits are made: no row of the vocabulary
// is ever held.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "evaluation/forward.hpp"

namespace ingot::evaluation {

/// A softmax over the part of the vocabulary that was seen so far.
struct RunningSoftmax {
  float largest = 0.0F;
  std::int32_t top = -1;  ///< The token of `largest`, the first of equals; -1: nothing was seen.
  double sum = 0.0;       ///< The sum of exp(logit - largest).
};

/// The figures of one token.
struct TokenFigures {
  double base_loss = 0.0;
  struct Other {
    double loss = 0.0;
    double divergence = 0.0;
    bool has_same_top = false;
  };
  std::vector<Other> others;
};

/// Tokens whose figures are wanted, within a batch: some lanes of some panels.
struct ScoredToken {
  std::size_t panel = 0;
  std::size_t lane = 0;
  TokenId next = no_token;  ///< The token that follows in the text.
};

/// The tokens of a chunk that count: the second half, but for the last token, whose successor is in
/// no chunk.
[[nodiscard]] constexpr std::size_t scored_of_chunk(std::size_t chunk_tokens) noexcept {
  return chunk_tokens - 1 - chunk_tokens / 2;
}

/// The scored tokens of a batch, chunk by chunk. `ids` are its tokens.
[[nodiscard]] std::vector<ScoredToken> scored_tokens(const Batch& batch,
                                                     std::span<const TokenId> ids);

/// Compares the base, which is passes[0], with the others.
///
/// @param states  of each pass.
/// @param tokens  by ascending panel.
/// @return  figures of each token; Errc::weight_not_finite if one is not a number.
[[nodiscard]] Result<std::vector<TokenFigures>> compare_predictions(
    std::span<ForwardPass> passes, std::span<const Panels> states,
    std::span<const ScoredToken> tokens);

/// Bytes that compare_predictions takes for a number of tokens.
[[nodiscard]] std::uint64_t comparison_memory(std::span<const ForwardPass> passes,
                                              std::uint64_t token_count) noexcept;

}  // namespace ingot::evaluation
