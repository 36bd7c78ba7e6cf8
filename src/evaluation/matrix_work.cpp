// SPDX-License-Identifier: MIT
#include "evaluation/matrix_work.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "ingot/parallel.hpp"
#include "ingot/quantize.hpp"

namespace ingot::evaluation {
namespace {

/// Floats of a tile: it stays in the second cache of a core while all panels pass by.
constexpr std::size_t tile_size = std::size_t{1} << 18;

/// Columns that are multiplied at a time: their part of a panel stays in the first cache.
constexpr std::size_t columns_at_a_time = 256;

/// A product has so many pieces for each thread, so that all end at about the same time, and a
/// piece so many rows, so that the tokens of a panel are read for some work.
constexpr std::size_t pieces_of_thread = 3;
constexpr std::size_t least_rows = 4 * group_rows;

/// Rows of a tile begin in different sets of the caches.
constexpr std::size_t row_gap = 16;

}  // namespace

std::size_t MatrixWork::tile_rows(const Matrix& matrix) noexcept {
  const std::size_t fitting = tile_size / (matrix.columns + row_gap) / group_rows * group_rows;
  return std::clamp(fitting, group_rows, rounded_up(matrix.row_count, group_rows));
}

std::size_t MatrixWork::tile_floats(const Matrix& matrix) noexcept {
  return tile_rows(matrix) * (matrix.columns + row_gap);
}

Result<WeightRows> MatrixWork::decode_tile(const Matrix& matrix, std::size_t first_row,
                                           std::size_t row_count, float* buffer) const {
  const std::size_t stride = matrix.columns + row_gap;
  const bool is_replaced = matrix.tensor == substitute_.tensor;
  const std::size_t row_bytes =
      is_replaced ? static_cast<std::size_t>(find_type(substitute_.type)->bytes_of(matrix.columns))
                  : 0;
  for (std::size_t i = 0; i < row_count; ++i) {
    const std::size_t row = matrix.first_row + first_row + i;
    const std::span floats(buffer + i * stride, matrix.columns);
    INGOT_TRY_VOID(
        is_replaced ? dequantize(substitute_.type,
                                 std::span(substitute_.blocks).subspan(row * row_bytes, row_bytes),
                                 floats, {.stores = OutputStores::cached})
                    : model_.dequantize_rows(*matrix.tensor, row, 1, floats));
  }
  return WeightRows{buffer, stride, row_count};
}

void MatrixWork::multiply_tile(const Matrix& matrix, const WeightRows& rows, std::size_t first_row,
                               const float* x, float* y) noexcept {
  for (std::size_t column = 0; column < matrix.columns; column += columns_at_a_time) {
    multiply_panel({rows.data + column, rows.stride, rows.row_count},
                   std::min(columns_at_a_time, matrix.columns - column), x + column * panel_tokens,
                   y, column > 0);
  }
  if (matrix.scale != 1.0F) {
    for (std::size_t i = 0; i < rows.row_count * panel_tokens; ++i) y[i] *= matrix.scale;
  }
  if (matrix.bias.empty()) return;
  for (std::size_t i = 0; i < rows.row_count; ++i) {
    for (std::size_t token = 0; token < panel_tokens; ++token) {
      y[i * panel_tokens + token] += matrix.bias[first_row + i];
    }
  }
}

Result<void> MatrixWork::multiply(const Matrix& matrix, const Panels& inputs, Panels& outputs) {
  // A small matrix would be one tile, and one thread's work. Each row is a sum of its own, so that
  // the size of a piece changes no result.
  const std::size_t share = matrix.row_count / (pieces_of_thread * team_.thread_count());
  const std::size_t piece_rows = std::clamp(rounded_up(share, group_rows), least_rows,
                                            std::max(least_rows, tile_rows(matrix)));
  return team_.spread(
      matrix.row_count, std::min(piece_rows, tile_rows(matrix)),
      [&](std::uint64_t begin, std::uint64_t count) -> Result<void> {
        const std::size_t first = to_size(begin);
        BufferPool::Loan tile(buffers_, tile_floats(matrix));
        INGOT_TRY(const WeightRows rows, decode_tile(matrix, first, to_size(count), tile.data()));
        for (std::size_t panel = 0; panel < inputs.panel_count(); ++panel) {
          multiply_tile(matrix, rows, first, inputs.row(panel, 0), outputs.row(panel, first));
        }
        return {};
      });
}

Result<Panels> MatrixWork::project(const Matrix& matrix, const Panels& inputs,
                                   std::span<const std::uint8_t> tokens, std::size_t expert) {
  observe(matrix, expert, inputs, tokens);
  Panels outputs(matrix.row_count, inputs.panel_count());
  INGOT_TRY_VOID(multiply(matrix, inputs, outputs));
  return outputs;
}

}  // namespace ingot::evaluation
