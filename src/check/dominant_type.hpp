// SPDX-License-Identifier: MIT
// Which recipe a model was made by, from its tensors and from its label, `general.file_type`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "ingot/model.hpp"

namespace ingot::check {

/// The types of the weights that a recipe is about: all matrices but the embeddings and the output,
/// which have types of their own and may be most of a small model. A model without such matrices
/// counts by its other weights.
class RecipeWeights {
 public:
  RecipeWeights() = default;
  explicit RecipeWeights(const Model& model);
  void add(const TensorInfo& tensor);

  /// Elements of that type.
  [[nodiscard]] std::uint64_t of(TensorType type) const;
  /// The type of most elements; nothing without elements.
  [[nodiscard]] std::optional<TensorType> most() const;

  /// Whether a file type contradicts the weights: it promises quantized weights, and no matrix has
  /// its type or one that a quantizer takes where rows are too narrow for it; or it promises
  /// floats, and there are none of that type, or most weights are quantized. False for unknown
  /// numbers and without weights.
  [[nodiscard]] bool contradict(std::uint64_t file_type) const;

 private:
  /// Matrices that a file type promises the same of.
  struct Group {
    TensorType type;
    std::uint32_t widest_block = 0;  ///< The most elements of a block that its rows can hold.
    bool is_stacked = false;         ///< One matrix for each expert.
    bool is_apart = false;           ///< The embeddings or the output.

    [[nodiscard]] friend bool operator<(const Group& a, const Group& b) noexcept {
      return std::tie(a.type, a.widest_block, a.is_stacked, a.is_apart) <
             std::tie(b.type, b.widest_block, b.is_stacked, b.is_apart);
    }
  };
  using Groups = std::map<Group, std::uint64_t>;  // with their elements

  [[nodiscard]] const Groups& groups() const noexcept {
    return matrices_.empty() ? others_ : matrices_;
  }
  [[nodiscard]] static bool has_quantized(const Groups& groups);
  /// Whether matrices are as the file type promises.
  [[nodiscard]] static bool bear(const FileTypeInfo& file_type, const Group& group);

  Groups matrices_;
  Groups others_;
};

}  // namespace ingot::check
