// SPDX-License-Identifier: MIT
// The changed tensors of a plan as pieces: what is decoded, changed and encoded at once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ingot/lora.hpp"

namespace ingot {

/// Elements of a piece, and of the rank rows that one piece needs of a half.
inline constexpr std::uint64_t lora_piece_elements = std::uint64_t{1} << 18;

/// Rows of one matrix, or a part of one row.
struct LoraPiece {
  std::uint64_t matrix = 0;     ///< Which of the matrices that further dimensions count.
  std::uint64_t first_row = 0;  ///< Of the matrix.
  std::uint64_t row_count = 0;
  std::uint64_t first_column = 0;
  std::uint64_t column_count = 0;
};

/// How a changed tensor is cut into pieces, the same for any number of threads.
class LoraPieces {
 public:
  explicit LoraPieces(const MergedTensor& tensor);

  [[nodiscard]] const MergedTensor& tensor() const noexcept { return *tensor_; }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] LoraPiece piece(std::uint64_t index) const noexcept;

 private:
  const MergedTensor* tensor_;
  std::uint64_t matrix_rows_ = 1;
  std::uint64_t row_elements_ = 1;
  std::uint64_t part_elements_ = 1;  // of a row
  std::uint64_t parts_per_row_ = 1;
  std::uint64_t rows_per_piece_ = 1;
  std::uint64_t pieces_per_matrix_ = 1;
  std::uint64_t count_ = 0;
};

/// Memory of one thread.
struct LoraScratch {
  std::vector<std::byte> stored;
  std::vector<float> weights;
  std::vector<float> delta;
  std::vector<float> rows;     ///< Of the half that has the rows of the piece.
  std::vector<float> columns;  ///< Some ranks of the other half.
};

/// A piece of the result.
struct LoraResult {
  std::vector<std::byte> bytes;
  std::optional<Error> error;
};

/// Makes one piece: decodes, adds the terms, encodes in the byte order of the result. Thread-safe.
[[nodiscard]] Result<void> make_lora_piece(const Model& model, const LoraPieces& pieces,
                                           const LoraPiece& piece, LoraScratch& scratch,
                                           std::vector<std::byte>& bytes);

}  // namespace ingot
