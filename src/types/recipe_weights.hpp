// SPDX-License-Identifier: MIT
// The types of a model's weights, and whether they fit its label, `general.file_type`. Everything
// is inline: other libraries use it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>

#include "ingot/tensor.hpp"

namespace ingot {

/// The types of the weights that a recipe is about: all matrices but the embeddings and the output,
/// which have types of their own and may be most of a small model. A model without such matrices
/// counts by its other weights.
class RecipeWeights {
 public:
  RecipeWeights() = default;
  explicit RecipeWeights(std::span<const TensorInfo> tensors) {
    for (const TensorInfo& tensor : tensors) add(tensor, tensor.type);
  }

  /// A tensor as it is, or as it would be in another type.
  void add(const TensorInfo& tensor, TensorType type) {
    if (tensor.element_count == 0 || (!is_float(type) && !is_quantized(type))) return;
    const bool is_apart = tensor.name == "token_embd.weight" || tensor.name == "output.weight";
    const bool is_matrix = tensor.shape.size() >= 2 && tensor.name.ends_with("weight");
    Groups& groups = is_matrix && !is_apart ? matrices_ : others_;
    groups[{type, widest_block_of(tensor), tensor.shape.size() > 2, is_apart}] +=
        tensor.element_count;
  }

  /// Elements of that type.
  [[nodiscard]] std::uint64_t of(TensorType type) const {
    std::uint64_t elements = 0;
    for (const auto& [group, count] : groups()) elements += group.type == type ? count : 0;
    return elements;
  }

  /// The type of most elements; nothing without elements.
  [[nodiscard]] std::optional<TensorType> most() const {
    std::optional<TensorType> found;
    for (const auto& [group, count] : groups()) {
      if (!found || of(group.type) > of(*found)) found = group.type;
    }
    return found;
  }

  /// Whether a file type contradicts the weights: it promises quantized weights, and no matrix has
  /// its type or one that a quantizer takes where rows are too narrow for it; or it promises
  /// floats, and there are none of that type, or most weights are quantized. False for unknown
  /// numbers and without weights.
  [[nodiscard]] bool contradict(std::uint64_t file_type) const {
    const FileTypeInfo* info = find_file_type(file_type);
    if (info == nullptr || groups().empty()) return false;
    if (is_quantized(info->weights)) {
      if (!has_quantized(matrices_) && !has_quantized(others_)) return true;
      return std::none_of(groups().begin(), groups().end(),
                          [&](const auto& entry) { return fits(*info, entry.first); });
    }
    std::uint64_t all = 0;
    std::uint64_t quantized = 0;
    for (const auto& [group, count] : groups()) {
      all += count;
      quantized += is_quantized(group.type) ? count : 0;
    }
    return of(info->weights) == 0 || quantized > all / 2;
  }

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

  /// The largest power of two that divides the rows, at most 256: blocks of all types have a power
  /// of two of elements, and no more.
  static std::uint32_t widest_block_of(const TensorInfo& tensor) noexcept {
    const std::uint64_t row = tensor.row_elements();
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(row & (~row + 1), 256));
  }

  [[nodiscard]] const Groups& groups() const noexcept {
    return matrices_.empty() ? others_ : matrices_;
  }

  [[nodiscard]] static bool has_quantized(const Groups& groups) {
    return std::any_of(groups.begin(), groups.end(),
                       [](const auto& entry) { return is_quantized(entry.first.type); });
  }

  /// Whether matrices are as the file type promises.
  [[nodiscard]] static bool fits(const FileTypeInfo& file_type, const Group& group) {
    if (group.type == file_type.weights) return true;
    // Quantizers take another type where rows are too narrow for the type.
    const bool is_narrow = group.widest_block < find_type(file_type.weights)->block_elements;
    if (is_narrow && group.type == fallback_type(file_type.weights, group.widest_block)) {
      return true;
    }
    if (!is_quantized(group.type)) return is_narrow && group.type == TensorType::f16;
    // In a mixture named after its experts, other matrices have other types; so have embeddings.
    return group.is_apart || (file_type.name.ends_with("_MOE") && !group.is_stacked);
  }

  Groups matrices_;
  Groups others_;
};

}  // namespace ingot
