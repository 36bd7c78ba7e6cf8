// SPDX-License-Identifier: MIT
// The state of a recurrent head: a matrix that each token fades, changes and reads.
#pragma once

#include <functional>
#include <span>

#include "evaluation/layer_work.hpp"

namespace ingot::evaluation {

struct StateShape {
  std::size_t head_count = 0;
  std::size_t key_size = 0;
  std::size_t value_size = 0;
  bool corrects = false;      ///< The state is changed by what it has at a place, too.
  bool reads_before = false;  ///< A token reads the state of the token before it.

  /// Floats of a state and the vectors of a token.
  [[nodiscard]] std::size_t floats() const noexcept {
    return key_size * value_size + 5 * key_size + 3 * value_size;
  }
};

/// The state of one head, and the vectors of one token, which a caller fills.
class HeadState {
 public:
  HeadState(const StateShape& shape, BufferPool& buffers)
      : shape_(shape), floats_(buffers, shape.floats()) {}

  [[nodiscard]] std::span<float> decay() noexcept { return key_vector(0); }
  [[nodiscard]] std::span<float> key() noexcept { return key_vector(1); }
  [[nodiscard]] std::span<float> query() noexcept { return key_vector(2); }
  /// Where the state is looked up before it fades, and where what is found is added.
  [[nodiscard]] std::span<float> seen() noexcept { return key_vector(3); }
  [[nodiscard]] std::span<float> corrected() noexcept { return key_vector(4); }
  [[nodiscard]] std::span<float> value() noexcept { return value_vector(0); }
  /// What the token reads.
  [[nodiscard]] std::span<const float> output() noexcept { return value_vector(1); }

  void clear() noexcept;
  /// state = decay * state + corrected x (seen * state) + key x value; output = query * state
  void step() noexcept;

 private:
  [[nodiscard]] std::span<float> key_vector(std::size_t i) noexcept {
    return {floats_.data() + i * shape_.key_size, shape_.key_size};
  }
  [[nodiscard]] std::span<float> value_vector(std::size_t i) noexcept {
    return {floats_.data() + 5 * shape_.key_size + i * shape_.value_size, shape_.value_size};
  }
  /// Row i of the state is for element i of the keys.
  [[nodiscard]] float* row(std::size_t i) noexcept {
    return floats_.data() + 5 * shape_.key_size + (3 + i) * shape_.value_size;
  }

  const StateShape& shape_;
  BufferPool::Loan floats_;
};

/// Makes vectors of a panel one long.
void make_unit_length(std::size_t count, std::size_t size, float epsilon, float* vectors) noexcept;

/// Copies the features of a token from `first` on.
inline void take_token(const Panels& panels, std::size_t panel, std::size_t first, std::size_t lane,
                       std::span<float> numbers) noexcept {
  const float* from = panels.row(panel, first) + lane;
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = from[i * panel_tokens];
}

/// Fills the vectors of a token of a head.
using FillToken =
    std::function<void(std::size_t head, std::size_t panel, std::size_t lane, HeadState& state)>;

/// Runs the heads of a layer over all chunks, one state a head at a time.
///
/// @param outputs  head_count * value_size features.
[[nodiscard]] Result<void> run_heads(const LayerWork& layer_work, const StateShape& shape,
                                     const FillToken& fill, Panels& outputs);

}  // namespace ingot::evaluation
