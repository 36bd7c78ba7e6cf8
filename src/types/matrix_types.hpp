// SPDX-License-Identifier: MIT
// Which types the matrices of a model have. Everything is inline: other libraries use it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "ingot/tensor.hpp"

namespace ingot {

/// How many elements of the matrices that a recipe is about have which type. Embeddings and the
/// output have types of their own and may be most of a small model, so they do not count.
struct MatrixTypes {
  std::map<TensorType, std::uint64_t> elements;
  std::uint64_t total = 0;

  MatrixTypes() = default;
  explicit MatrixTypes(std::span<const TensorInfo> tensors) {
    for (const TensorInfo& tensor : tensors) add(tensor, tensor.type);
  }

  /// A tensor as it is, or as it would be in another type.
  void add(const TensorInfo& tensor, TensorType type) {
    const bool is_counted = tensor.shape.size() >= 2 && tensor.element_count != 0 &&
                            tensor.name.ends_with("weight") && tensor.name != "token_embd.weight" &&
                            tensor.name != "output.weight" && find_type(type) != nullptr;
    if (!is_counted) return;
    elements[type] += tensor.element_count;
    total += tensor.element_count;
  }

  [[nodiscard]] std::uint64_t of(TensorType type) const {
    const auto found = elements.find(type);
    return found == elements.end() ? 0 : found->second;
  }

  /// The type of most elements; nothing without elements.
  [[nodiscard]] std::optional<TensorType> most() const {
    const auto found =
        std::max_element(elements.begin(), elements.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return found == elements.end() ? std::nullopt : std::optional(found->first);
  }

  /// Whether a `general.file_type` is a lie: there are such matrices, and none has its type.
  [[nodiscard]] bool is_wrong_file_type(std::uint64_t file_type) const {
    const std::optional<TensorType> type = type_of_file_type(file_type);
    return type && total != 0 && of(*type) == 0;
  }
};

}  // namespace ingot
