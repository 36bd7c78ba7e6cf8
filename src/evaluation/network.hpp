// SPDX-License-Identifier: MIT
// The weights of a network: found by name, shapes checked against the keys.
#pragma once

#include <cstddef>
#include <vector>

#include "evaluation/settings.hpp"
#include "ingot/model.hpp"

namespace ingot::evaluation {

/// Rows of a tensor that are one matrix: all of it, a part of a fused one, or one expert.
struct Matrix {
  const TensorInfo* tensor = nullptr;
  std::size_t first_row = 0;
  std::size_t row_count = 0;
  std::size_t columns = 0;
  std::vector<float> bias = {};  ///< A number for each row, or empty.

  [[nodiscard]] bool exists() const noexcept { return tensor != nullptr; }
  /// The rows of one expert, where all of them are `row_count` rows each.
  [[nodiscard]] Matrix of_expert(std::size_t expert) const {
    return {tensor, first_row + expert * row_count, row_count, columns, {}};
  }
};

/// Weights of a norm; without weights there is no norm.
struct Norm {
  std::vector<float> weight;
  std::vector<float> bias;

  [[nodiscard]] bool exists() const noexcept { return !weight.empty(); }
};

/// `down(gate(x) * up(x))`
struct FeedForward {
  Matrix gate;
  Matrix up;
  Matrix down;
};

struct Layer {
  Norm attention_norm;
  Matrix query;
  Matrix key;
  Matrix value;
  Norm query_norm;
  Norm key_norm;
  Matrix output;
  Norm post_attention_norm;
  Norm feed_forward_norm;
  FeedForward feed_forward;
  Matrix router;              ///< Exists where there are experts.
  FeedForward experts;        ///< The matrices of the first expert.
  FeedForward shared_expert;  ///< Optional, with `shared_router`.
  std::vector<float> shared_router;
  Norm post_feed_forward_norm;
};

struct Network {
  Settings settings;
  Matrix embedding;
  std::vector<Layer> layers;
  Norm output_norm;
  Matrix output;
  std::vector<float> rope_factors;  ///< Divisors of the frequencies; empty: 1
  std::vector<float> long_rope_factors;

  [[nodiscard]] std::size_t vocabulary_size() const noexcept { return embedding.row_count; }
};

/// Finds all weights of a model, which must live as long as the network.
/// @return errors that name the key or tensor: the errors of read_settings, a missing tensor, a
///          shape that contradicts the keys, or a tensor that the architecture does not know.
[[nodiscard]] Result<Network> make_network(const Model& model);

}  // namespace ingot::evaluation
