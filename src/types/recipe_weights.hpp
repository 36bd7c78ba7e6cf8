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

/// Counts the types of the weights that a recipe is about: all matrices except the embeddings, also
/// those of images, and the output, which have their own types and may be most of a small model.
/// For a model without such matrices its other weights count.
class RecipeWeights {
 public:
  RecipeWeights() = default;
  explicit RecipeWeights(std::span<const TensorInfo> tensors) {
    for (const TensorInfo& tensor : tensors) add(tensor, tensor.type);
  }

  /// Adds a tensor with its own type, or with the type that it would get.
  void add(const TensorInfo& tensor, TensorType type) {
    if (tensor.element_count == 0 || (!is_float(type) && !is_quantized(type))) return;
    const bool is_apart = tensor.name == "token_embd.weight" || tensor.name == "output.weight" ||
                          tensor.name == "v.patch_embd.weight";
    const bool is_matrix = tensor.shape.size() >= 2 && tensor.name.ends_with("weight");
    Groups& groups = is_matrix && !is_apart ? matrices_ : others_;
    groups[{type, widest_block_of(tensor), tensor.shape.size() > 2, is_apart}] +=
        tensor.element_count;
  }

  /// The number of elements of a type.
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

  /// Whether a file type contradicts the weights. A quantized file type does if no matrix has its
  /// type, or the type that a quantizer uses for rows too narrow for it. A float file type does if
  /// no weights have that type, or if most weights are quantized. False for unknown file types and
  /// without weights.
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
  /// Matrices for which a file type promises the same.
  struct Group {
    TensorType type;
    std::uint32_t widest_block = 0;  ///< The largest block, in elements, that fits the rows.
    bool is_stacked = false;         ///< There is one matrix for each expert.
    bool is_apart = false;           ///< These are the embeddings or the output.

    [[nodiscard]] friend bool operator<(const Group& a, const Group& b) noexcept {
      return std::tie(a.type, a.widest_block, a.is_stacked, a.is_apart) <
             std::tie(b.type, b.widest_block, b.is_stacked, b.is_apart);
    }
  };
  using Groups = std::map<Group, std::uint64_t>;  // groups with their number of elements

  /// The largest power of two that divides the rows, at most 256: blocks of all types have a power
  /// of two elements, and not more.
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

  /// Whether matrices have a type that the file type allows.
  [[nodiscard]] static bool fits(const FileTypeInfo& file_type, const Group& group) {
    if (group.type == file_type.weights) return true;
    // For rows too narrow for the type, quantizers take another type.
    const bool is_narrow = group.widest_block < find_type(file_type.weights)->block_elements;
    if (is_narrow && group.type == fallback_type(file_type.weights, group.widest_block)) {
      return true;
    }
    if (!is_quantized(group.type)) return is_narrow && group.type == TensorType::f16;
    // In a mixture named after its experts, other matrices and the embeddings have other types.
    return group.is_apart || (file_type.name.ends_with("_MOE") && !group.is_stacked);
  }

  Groups matrices_;
  Groups others_;
};

}  // namespace ingot
