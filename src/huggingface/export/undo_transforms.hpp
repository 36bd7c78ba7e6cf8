// SPDX-License-Identifier: MIT
// The transforms of the import, each undone by the rule that it is applied by.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "huggingface/export/folder_tensors.hpp"
#include "huggingface/import/tensors/tensor_name_map.hpp"

namespace ingot::huggingface {

/// The place of a tensor in a folder before transforms: one for each part of a stack.
struct UndoneStack {
  std::string group;  ///< Tensors of one group appear together in the import.
  std::vector<FolderTensor> tensors;
};

class UndoTransforms {
 public:
  UndoTransforms(const FolderFacts& facts, const Config& config, const TensorNameMap& names)
      : facts_(facts), config_(config), names_(names) {}

  /// Takes a stack apart; nothing if no rule makes a tensor of this name by stacking.
  [[nodiscard]] Result<std::optional<UndoneStack>> unstack(const OutputTensor& tensor) const;

  /// Undoes the import's changes to a tensor, which already has its name in folders.
  [[nodiscard]] Result<void> undo(FolderTensor& tensor) const;

 private:
  const FolderFacts& facts_;
  const Config& config_;
  const TensorNameMap& names_;
};

/// The name that a tensor of the layers behind those of config.json has in folders, by the renames
/// of the import; other names stay.
[[nodiscard]] std::string name_before_renames(std::span<const RenameRule> rules, std::string name,
                                              std::uint64_t layers);

}  // namespace ingot::huggingface
