// SPDX-License-Identifier: MIT
// Operations on activations that work on each token alone.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "evaluation/network.hpp"
#include "evaluation/panels.hpp"
#include "evaluation/work_room.hpp"

namespace ingot::evaluation {

/// Norm of `count` features of a panel from `x` on, into `y`, which may be `x`. `weight_row` is the
/// row of the weights, for norms that have one for each head.
void normalise(const Norm& norm, const Settings& settings, std::size_t count, const float* x,
               float* y, std::size_t weight_row = 0) noexcept;

/// gate = activation(gate) * up
void apply_gate(Gate gate, std::span<float> gates, std::span<const float> ups) noexcept;

/// logits = cap * tanh(logits / cap); nothing for a cap of 0.
void apply_cap(float cap, std::span<float> logits) noexcept;

/// Cosines and sines for the positions of a chunk: by pair of elements, then position.
class Rotation {
 public:
  /// @param factors  divisors of the frequencies, one a pair, or empty.
  Rotation(const RopeSettings& rope, double base, double scale, std::span<const float> factors,
           const Batch& batch);

  /// Rotates the queries or keys of `head_count` heads of a panel, `head_size` features each.
  void apply(const Settings& settings, std::size_t head_count, std::size_t head_size,
             std::size_t position, float* heads) const noexcept;

 private:
  std::size_t positions_;
  std::vector<float> cosines_;
  std::vector<float> sines_;
};

}  // namespace ingot::evaluation
