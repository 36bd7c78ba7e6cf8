// SPDX-License-Identifier: MIT
// The matrix product that all of the forward pass runs on.
#pragma once

#include <cstddef>

namespace ingot::evaluation {

/// Weights of a product: rows of floats, `stride` floats apart.
struct WeightRows {
  const float* data = nullptr;
  std::size_t stride = 0;
  std::size_t row_count = 0;
};

/// y[row][token] = sum over k < columns of weights[row][k] * x[k][token], for the tokens of a
/// panel; with `adds`, the sum is added to y. Sums run in the order of k; the rounding differs
/// between CPUs that fuse multiply and add and those that do not.
///
/// @param weights  readable up to a multiple of group_rows rows.
/// @param x, y     rows of panel_tokens floats; aligned to 64 bytes.
void multiply_panel(const WeightRows& weights, std::size_t columns, const float* x, float* y,
                    bool adds) noexcept;

}  // namespace ingot::evaluation
