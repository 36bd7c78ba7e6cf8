// SPDX-License-Identifier: MIT
// How attention knows the distance of tokens: by rotation, or by biases of its scores.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "evaluation/network.hpp"
#include "evaluation/work_room.hpp"

namespace ingot::evaluation {

/// Cosines and sines for the positions of a chunk: by pair of elements, then position.
class Rotation {
 public:
  /// @param factors  divisors of the frequencies, one a pair, or empty.
  /// @param in_window  whether it is that of layers with a window.
  Rotation(const RopeSettings& rope, Pairing pairing, bool in_window,
           std::span<const float> factors, const Batch& batch);

  /// Rotates `head_count` heads of a panel; a head has `head_size` features, of which those from
  /// `first` on rotate.
  void apply(std::size_t head_count, std::size_t head_size, std::size_t first, std::size_t position,
             float* heads) const noexcept;

 private:
  Pairing pairing_;
  std::size_t positions_;
  std::vector<float> cosines_;
  std::vector<float> sines_;
};

/// The slopes of ALiBi, one a head: what a token of distance causes to its score.
[[nodiscard]] std::vector<float> bias_slopes(std::size_t head_count, float largest_bias);

}  // namespace ingot::evaluation
