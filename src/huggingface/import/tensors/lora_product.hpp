// SPDX-License-Identifier: MIT
// The change that an adapter makes to a matrix: a product of two halves, which is never computed.
// Transforms reorder it as they reorder any tensor; what they did is then done to the halves.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "huggingface/import/tensors/number_source.hpp"
#include "huggingface/import/tensors/tensor_view.hpp"
#include "ingot/error.hpp"

namespace ingot::huggingface {

/// One half of a product: as many numbers as its rank for each row, or each column.
struct LoraHalf {
  std::string name;  ///< The name of its tensor in the folder.
  std::shared_ptr<const NumberSource> numbers;
  std::uint64_t stride = 1;       ///< The distance from one row or column to the next, in numbers.
  std::uint64_t rank_stride = 1;  ///< The distance from one number of a row or column to the next.
};

/// The numbers of a product, row-major: positions alone, for no half is read through it.
class LoraProduct final : public NumberSource {
 public:
  LoraProduct(LoraHalf rows, LoraHalf columns, std::uint64_t column_count, std::uint64_t rank)
      : rows_(std::move(rows)),
        columns_(std::move(columns)),
        column_count_(column_count),
        rank_(rank) {}

  [[nodiscard]] const LoraHalf& half(bool of_rows) const noexcept {
    return of_rows ? rows_ : columns_;
  }
  [[nodiscard]] std::uint64_t column_count() const noexcept { return column_count_; }
  [[nodiscard]] std::uint64_t rank() const noexcept { return rank_; }

  [[nodiscard]] TensorType type() const noexcept override { return TensorType::f32; }
  /// Reads numbers; fails with Errc::import_refused.
  [[nodiscard]] Result<void> read(std::uint64_t first,
                                  std::span<std::byte> destination) const override;

 private:
  LoraHalf rows_;
  LoraHalf columns_;
  std::uint64_t column_count_;
  std::uint64_t rank_;
};

/// The two tensors that a product becomes.
struct LoraHalves {
  TensorView a;  ///< [rank, columns]; for embeddings of tokens [rows, rank].
  TensorView b;  ///< [rows, rank]; for embeddings of tokens [columns, rank].
};

/// Whether a view is that of a product.
[[nodiscard]] bool is_product(const TensorView& view);

/// The halves in the arrangement of the product. They have no names yet.
///
/// @param is_token_embedding  engines look up rows of it, so the half of the rows comes first.
/// @return  Errc::import_refused if the product of no two halves has this arrangement.
[[nodiscard]] Result<LoraHalves> halves_of(const TensorView& view, bool is_token_embedding);

}  // namespace ingot::huggingface
