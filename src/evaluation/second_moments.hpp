// SPDX-License-Identifier: MIT
// How the inputs of a matrix go together: blocks on the diagonal of the sum of a a^T over inputs a.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "evaluation/panels.hpp"
#include "evaluation/work_room.hpp"
#include "ingot/error.hpp"
#include "ingot/parallel.hpp"

namespace ingot::evaluation {

/// The sums of one matrix. They run in float32, over 256 tokens at a time.
class SecondMoments {
 public:
  /// @param block_columns  of a block, at least 1; the last one may be smaller.
  SecondMoments(std::size_t columns, std::size_t block_columns);

  /// Bytes that such sums take.
  [[nodiscard]] static std::uint64_t memory_for(std::uint64_t columns,
                                                std::uint64_t block_columns) noexcept;

  /// Adds inputs. `tokens` holds how many of the first tokens of each panel are real ones.
  void add(const Panels& inputs, std::span<const std::uint8_t> tokens, BufferPool& buffers,
           ThreadTeam& team);

  /// Row `column` of its block, divided by `count`; numbers beyond the block are 0.
  void read_means(std::size_t column, float count, std::span<float> row) const noexcept;

 private:
  [[nodiscard]] std::size_t columns_of(std::size_t block) const noexcept;
  /// The offset of the sums of a block's rows with panel_tokens of its columns.
  [[nodiscard]] std::size_t offset_of(std::size_t block, std::size_t panel) const noexcept;
  void add_product(std::size_t block, std::size_t panel, const Panels& inputs,
                   std::span<const std::uint8_t> tokens, BufferPool& buffers);

  std::size_t columns_;
  std::size_t block_columns_;
  std::size_t panels_of_block_;
  AlignedFloats sums_;  ///< The sums by block, panel of columns, row, column of the panel.
};

}  // namespace ingot::evaluation
