// SPDX-License-Identifier: MIT
// Tensors of a folder whose numbers the import puts into another order, or into several tensors:
// its own arrangement, turned round.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "huggingface/export/config_members.hpp"
#include "huggingface/export/folder_output.hpp"
#include "huggingface/import/tensors/rule_operations.hpp"
#include "huggingface/import/tensors/tensor_name_map.hpp"

namespace ingot::huggingface {

/// A tensor of a folder, and how it is made of tensors of the model.
struct ReturnedTensor {
  std::vector<std::uint64_t> shape;  ///< Dimension 0, the fastest-varying, first.
  std::vector<const TensorInfo*> from;
  /// Makes its bytes in a type, as PieceStream does.
  std::function<MakeTensor(TensorType type)> make;
};

class ArrangedReturn {
 public:
  ArrangedReturn(const FolderFacts& facts, const Config& config, const TensorNameMap& names)
      : facts_(facts), config_(config), names_(names) {}

  /// The tensor of a name in the folder; nothing if no rule arranges its numbers.
  /// Errc::import_refused if the model lacks a tensor that the import makes of it, or if these are
  /// not as the import makes them.
  [[nodiscard]] Result<std::optional<ReturnedTensor>> find(const std::string& name) const;

 private:
  struct Trace;
  [[nodiscard]] Result<std::vector<std::uint64_t>> shape_before(const std::string& name,
                                                                std::size_t rule,
                                                                Trace& trace) const;
  [[nodiscard]] Result<std::vector<std::uint64_t>> shape_in_model(const std::string& name,
                                                                  Trace& trace) const;

  const FolderFacts& facts_;
  const Config& config_;
  const TensorNameMap& names_;
};

}  // namespace ingot::huggingface
