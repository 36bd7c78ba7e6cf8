// SPDX-License-Identifier: MIT
// Encode a matrix so that its outputs change little, from the second moments of its inputs.
//
// ```cpp
// const std::size_t columns = 32;
// std::vector<float> means(columns * columns, 0.5f);  // of a a^T over the inputs a
// for (std::size_t i = 0; i < columns; ++i) means[i * columns + i] = 1.0f;
// ingot::InputMoments moments(columns, columns, true);  // one block: all columns go together
// if (!moments.set_block(0, means)) throw std::runtime_error("these are no means of a a^T");
// const std::vector<float> rows(4 * columns, 0.3f);
// std::vector<std::byte> q4(ingot::find_type(ingot::TensorType::q4_0)->bytes_of(rows.size()));
// const auto outputs = ingot::quantize_with_feedback(ingot::TensorType::q4_0, rows, q4, moments);
// if (!outputs) throw std::runtime_error(outputs.error().message());
// std::printf("error %g of the energy %g\n", outputs->error, outputs->signal);
// ```
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/types.hpp"

namespace ingot {

/// The effect of errors in the rows of a matrix on its outputs, as sums over rows.
struct OutputEnergy {
  double error = 0.0;   ///< (x - y) H (x - y)^T of source rows x and decoded rows y.
  double signal = 0.0;  ///< x H x^T

  void add(const OutputEnergy& other) noexcept {
    error += other.error;
    signal += other.signal;
  }
};

/// Second moments of the inputs of a matrix: H, the mean of a a^T over its inputs a. Blocks on the
/// diagonal of H are known, all of the same size except the last one; other elements count as 0.
/// The mean square of an output, a row x of the matrix times a, is x H x^T.
///
/// Feedback corrects an error in one column by the columns to the right of it in its block: with H
/// of the block, plus a hundredth of its mean diagonal on the diagonal, inverted and taken apart
/// into U^T U with U upper triangular, x[k] falls by error * U[j][k] / U[j][j].
///
/// All numbers are the same on every CPU. Const members are thread-safe.
class INGOT_EXPORT InputMoments {
 public:
  /// Takes half of columns * block_columns numbers of 4 bytes, twice that with feedback.
  InputMoments(std::size_t columns, std::size_t block_columns, bool has_feedback);

  [[nodiscard]] std::size_t column_count() const noexcept { return columns_; }
  [[nodiscard]] std::size_t block_count() const noexcept;
  /// Columns of a block.
  [[nodiscard]] std::size_t columns_of(std::size_t block) const noexcept;

  /// Sets a block of H, row by row; only numbers on and above the diagonal count. Threads may set
  /// different blocks at the same time. With feedback it takes time as the cube of the block's
  /// columns, and temporary memory of 4 bytes times their square.
  ///
  /// @return  false if there is no feedback because the numbers cannot be means of a a^T: not
  ///          positive semidefinite, or not finite.
  [[nodiscard]] bool set_block(std::size_t block, std::span<const float> moments);

  /// The cost of an error in each column that no column to the right can correct: 1/U[j][j]^2.
  [[nodiscard]] std::span<const float> residual_weights() const noexcept { return weights_; }

  /// Changes the columns to the right so that they make good an error in `column`.
  void feed_back(std::size_t column, float error, float* row) const noexcept {
    const Place place = place_of(column);
    const float* factors = feedback_.data() + place.first;
    float* rest = row + column + 1;
    for (std::size_t k = 0; k < place.count; ++k) rest[k] -= error * factors[k];
  }

  /// Feeds back the errors of neighbouring columns whose codes are chosen together.
  void feed_back(std::size_t first_column, std::span<const float> decoded,
                 float* row) const noexcept {
    for (std::size_t i = 0; i < decoded.size(); ++i) {
      feed_back(first_column + i, row[first_column + i] - decoded[i], row);
    }
  }

  /// Computes for each column j the sum of H[j][k] * x[k] over the columns k > j of its block.
  void multiply_upper(const float* x, float* sums) const noexcept;

  /// x H y^T, from the rows and their sums by multiply_upper.
  [[nodiscard]] double product(const float* x, const float* sums_of_x, const float* y,
                               const float* sums_of_y) const noexcept;

 private:
  /// The position of a column's numbers, one for each column to the right in its block.
  struct Place {
    std::size_t first;
    std::size_t count;
  };
  [[nodiscard]] Place place_of(std::size_t column) const noexcept {
    const std::size_t block = column / block_columns_;
    const std::size_t j = column % block_columns_;
    const std::size_t size = columns_of(block);
    return {block * (block_columns_ * (block_columns_ - 1) / 2) + j * (2 * size - j - 1) / 2,
            size - j - 1};
  }
  [[nodiscard]] bool set_feedback(std::size_t block, std::span<const float> moments);

  std::size_t columns_;
  std::size_t block_columns_;
  std::vector<float> diagonal_;  ///< The diagonal of H.
  std::vector<float> upper_;     ///< H[j][k] for k > j, by block and row.
  std::vector<float> feedback_;  ///< U[j][k] / U[j][j], likewise.
  std::vector<float> weights_;   ///< 1/U[j][j]^2
};

/// Whether quantize_with_feedback encodes a type. O(types), thread-safe.
[[nodiscard]] INGOT_EXPORT bool has_feedback(TensorType type) noexcept;

/// Encodes each row twice: as quantize() does with Effort::best, and with feedback and a scale that
/// keeps its outputs from getting shorter. Keeps the one with the lower output error.
///
/// @param src         whole rows of moments.column_count() finite numbers.
/// @param dst         receives their blocks, little-endian, exactly.
/// @param moments     made with feedback, with all blocks set.
/// @param importance of the columns, for encoding without feedback; or empty.
/// @return the output error of the kept rows; Errc::unsupported_type for a type without feedback;
///          Errc::size_mismatch if the sizes do not fit one another. Allocates some times the
///          memory of the rows. Thread-safe.
[[nodiscard]] INGOT_EXPORT Result<OutputEnergy> quantize_with_feedback(
    TensorType type, std::span<const float> src, std::span<std::byte> dst,
    const InputMoments& moments, std::span<const float> importance = {});

/// The output error of decoded rows, as many as there are of `source`.
///
/// @param source   whole rows of moments.column_count() numbers.
/// @param decoded  as many numbers.
/// @return         Errc::size_mismatch if the sizes do not fit one another. Thread-safe.
[[nodiscard]] INGOT_EXPORT Result<OutputEnergy> measure_outputs(std::span<const float> source,
                                                                std::span<const float> decoded,
                                                                const InputMoments& moments);

}  // namespace ingot
