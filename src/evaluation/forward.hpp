// SPDX-License-Identifier: MIT
// The forward pass: token ids to the states that the output matrix turns into logits.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "evaluation/matrix_work.hpp"
#include "ingot/evaluate.hpp"

namespace ingot::evaluation {

/// Called after each layer; false ends the pass with Errc::interrupted.
using LayerDone = std::function<bool()>;

/// One model, ready to run. Not thread-safe; it uses many threads by itself.
class ForwardPass {
 public:
  /// `model` must outlive the ForwardPass. @return the errors of make_network.
  [[nodiscard]] static Result<ForwardPass> make(const Model& model,
                                                const EvaluationOptions& options,
                                                InputObserver observer = {});

  [[nodiscard]] const Network& network() const noexcept { return *network_; }
  [[nodiscard]] const MatrixWork& work() const noexcept { return *work_; }
  [[nodiscard]] MatrixWork& work() noexcept { return *work_; }

  /// Bytes that a batch takes, at most: activations, and the tiles of all threads.
  [[nodiscard]] std::uint64_t memory_for(const Batch& batch) const noexcept;

  /// The states behind the last norm.
  ///
  /// @param ids  chunk_count * chunk_tokens of them. Errc::index_out_of_range if one is not in the
  ///             vocabulary.
  [[nodiscard]] Result<Panels> run(const Batch& batch, std::span<const TokenId> ids,
                                   const LayerDone& layer_done = {});

  /// The pass in steps: embeddings, layers from `first` up to `end` (exclusive), the last norm.
  [[nodiscard]] Result<Panels> embed(const Batch& batch, std::span<const TokenId> ids);
  [[nodiscard]] Result<void> run_layers(const Batch& batch, std::size_t first, std::size_t end,
                                        Panels& states, const LayerDone& layer_done = {});
  [[nodiscard]] Result<void> finish(Panels& states);

  /// Logits from the rows of a decoded tile of the output matrix: as MatrixWork::multiply_tile,
  /// with the scales and caps of the model.
  void make_logits(const WeightRows& rows, std::size_t first_row, const float* x,
                   float* y) const noexcept;

 private:
  class Layers;
  ForwardPass(std::unique_ptr<Network> network, std::unique_ptr<MatrixWork> work)
      : network_(std::move(network)), work_(std::move(work)) {}

  /// @param row     room for a decoded row.
  /// @param column  of the token in its panel.
  [[nodiscard]] Result<void> embed_token(TokenId id, float* row, float* column) const;
  std::unique_ptr<Network> network_;
  std::unique_ptr<MatrixWork> work_;
};

}  // namespace ingot::evaluation
