// SPDX-License-Identifier: MIT
// Cuts a tensor into pieces that are decoded, changed and encoded at once.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/checked.hpp"
#include "ingot/tensor.hpp"

namespace ingot {

/// Rows of one matrix, or a part of one row.
struct RowPiece {
  std::uint64_t matrix = 0;     ///< The index of the matrix; dimensions beyond the second count
                                ///< matrices.
  std::uint64_t first_row = 0;  ///< Its index in the matrix.
  std::uint64_t row_count = 0;
  std::uint64_t first_column = 0;
  std::uint64_t column_count = 0;
  std::uint64_t first_element = 0;  ///< Its index in the tensor.

  [[nodiscard]] std::uint64_t element_count() const noexcept { return row_count * column_count; }
};

/// The pieces of a tensor, the same for any number of threads.
class RowPieces {
 public:
  /// Makes an empty list.
  RowPieces() = default;

  /// Cuts a tensor of one element or more into parts of a row. `part_elements` is a multiple of
  /// every block. If it is the length of a row, each piece has up to `most_rows` whole rows.
  RowPieces(const TensorInfo& tensor, std::uint64_t part_elements, std::uint64_t most_rows) noexcept
      : row_elements_(tensor.row_elements()),
        matrix_rows_(tensor.shape.size() > 1 ? tensor.shape[1] : 1),
        part_elements_(part_elements),
        parts_per_row_(divide_up(row_elements_, part_elements)),
        rows_per_piece_(parts_per_row_ > 1 ? 1
                                           : std::clamp<std::uint64_t>(most_rows, 1, matrix_rows_)),
        pieces_per_matrix_(divide_up(matrix_rows_, rows_per_piece_) * parts_per_row_),
        count_(tensor.element_count / row_elements_ / matrix_rows_ * pieces_per_matrix_) {}

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::uint64_t per_matrix() const noexcept { return pieces_per_matrix_; }

  /// The piece at `index`, which is less than `count()`.
  [[nodiscard]] RowPiece piece(std::uint64_t index) const noexcept {
    const std::uint64_t within = index % pieces_per_matrix_;
    RowPiece piece{.matrix = index / pieces_per_matrix_};
    piece.first_row = within / parts_per_row_ * rows_per_piece_;
    piece.row_count = std::min(rows_per_piece_, matrix_rows_ - piece.first_row);
    piece.first_column = within % parts_per_row_ * part_elements_;
    piece.column_count = std::min(part_elements_, row_elements_ - piece.first_column);
    piece.first_element =
        (piece.matrix * matrix_rows_ + piece.first_row) * row_elements_ + piece.first_column;
    return piece;
  }

 private:
  std::uint64_t row_elements_ = 1;
  std::uint64_t matrix_rows_ = 1;
  std::uint64_t part_elements_ = 1;  // elements of a row in one piece
  std::uint64_t parts_per_row_ = 1;
  std::uint64_t rows_per_piece_ = 1;
  std::uint64_t pieces_per_matrix_ = 1;
  std::uint64_t count_ = 0;
};

}  // namespace ingot
