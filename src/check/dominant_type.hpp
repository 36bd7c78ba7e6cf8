// SPDX-License-Identifier: MIT
// Which recipe a model was made by, from its tensors and from its label.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "ingot/model.hpp"

namespace ingot::check {

/// How many elements of the matrices that a recipe is about have which type.
struct MatrixTypes {
  std::map<TensorType, std::uint64_t> elements;
  std::uint64_t total = 0;

  MatrixTypes() = default;
  explicit MatrixTypes(const Model& model);
  void add(const TensorInfo& tensor);

  [[nodiscard]] std::uint64_t of(TensorType type) const;
  /// The type of most elements; nothing without elements.
  [[nodiscard]] std::optional<TensorType> most() const;
};

/// The tensor type that most weights of a file type have; nothing if the number is unknown.
[[nodiscard]] std::optional<TensorType> type_of_file_type(std::uint64_t file_type) noexcept;

/// Whether a file type is a lie: there are such matrices, and none has its type.
[[nodiscard]] bool is_wrong_file_type(std::uint64_t file_type, const MatrixTypes& types);

/// The file type that loaders guess from the type that most weights have.
[[nodiscard]] std::optional<std::uint32_t> file_type_of(TensorType type) noexcept;

}  // namespace ingot::check
