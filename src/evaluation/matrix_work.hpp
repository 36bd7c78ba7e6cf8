// SPDX-License-Identifier: MIT
// Products of a model's matrices with activations, on all cores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "evaluation/kernels/product.hpp"
#include "evaluation/network.hpp"
#include "evaluation/panels.hpp"
#include "evaluation/work_room.hpp"
#include "ingot/parallel.hpp"

namespace ingot::evaluation {

/// Looks at the inputs of a matrix before they are multiplied. `tokens` holds how many of the first
/// tokens of each panel are real ones; `expert` is 0 where there are none.
using InputObserver =
    std::function<void(const TensorInfo& tensor, std::size_t expert, const Panels& inputs,
                       std::span<const std::uint8_t> tokens)>;

/// A tensor in another type than in the file.
struct Substitute {
  const TensorInfo* tensor = nullptr;
  TensorType type = TensorType::f32;
  std::vector<std::byte> blocks = {};  ///< The blocks of all rows, little-endian.
};

/// Decodes matrices tile by tile and multiplies. Memory: a tile for each thread.
class MatrixWork {
 public:
  /// `model` must outlive this.
  MatrixWork(const Model& model, unsigned thread_count, InputObserver observer)
      : model_(model), observer_(std::move(observer)), team_(thread_count) {}

  /// Reads `substitute` in place of the tensor of the file from now on.
  void replace(Substitute substitute) noexcept { substitute_ = std::move(substitute); }

  /// The threads of all work of the pass.
  [[nodiscard]] ThreadTeam& team() const noexcept { return team_; }
  [[nodiscard]] BufferPool& buffers() noexcept { return buffers_; }

  /// Shows the inputs of a matrix to the observer, if there is one. Of a fused
  /// tensor only the first part counts.
  void observe(const Matrix& matrix, std::size_t expert, const Panels& inputs,
               std::span<const std::uint8_t> tokens) const {
    if (observer_ && !matrix.is_later_part) observer_(*matrix.tensor, expert, inputs, tokens);
  }

  /// outputs = scale * matrix * inputs + bias; `outputs` has matrix.row_count features.
  [[nodiscard]] Result<void> multiply(const Matrix& matrix, const Panels& inputs, Panels& outputs);

  /// Shows the inputs and multiplies them.
  [[nodiscard]] Result<Panels> project(const Matrix& matrix, const Panels& inputs,
                                       std::span<const std::uint8_t> tokens,
                                       std::size_t expert = 0);

  /// Rows of a matrix that fit one tile, a multiple of group_rows.
  [[nodiscard]] static std::size_t tile_rows(const Matrix& matrix) noexcept;
  /// Floats of a buffer for a tile.
  [[nodiscard]] static std::size_t tile_floats(const Matrix& matrix) noexcept;

  /// Decodes rows of a matrix into a buffer of tile_floats.
  [[nodiscard]] Result<WeightRows> decode_tile(const Matrix& matrix, std::size_t first_row,
                                               std::size_t row_count, float* buffer) const;

  /// y[row][token] of a panel, bias included, for decoded rows from `first_row` on.
  static void multiply_tile(const Matrix& matrix, const WeightRows& rows, std::size_t first_row,
                            const float* x, float* y) noexcept;

 private:
  const Model& model_;
  InputObserver observer_;
  Substitute substitute_;
  BufferPool buffers_;
  mutable ThreadTeam team_;
};

}  // namespace ingot::evaluation
