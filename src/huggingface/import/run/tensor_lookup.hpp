// SPDX-License-Identifier: MIT
// What the rules ask of a folder beside config.json: numbers of its tensors, and its tokens.
#pragma once

#include <map>
#include <string>

#include "huggingface/folder/model_folder.hpp"
#include "huggingface/import/tensors/source_tensors.hpp"
#include "huggingface/rules/rule_expression.hpp"

namespace ingot::huggingface {

class TensorLookup final : public FolderLookup {
 public:
  /// The tensors are those of the folder, under its names. The folder is borrowed.
  TensorLookup(const ModelFolder& folder, const std::vector<SourceTensor>& tensors);

  [[nodiscard]] Result<std::optional<double>> first_number(const std::string& name) const override;
  [[nodiscard]] Result<std::vector<std::uint64_t>> zero_rows(const std::string& name,
                                                             std::uint64_t first) const override;
  [[nodiscard]] Result<std::optional<std::uint64_t>> listed_tokens() const override;

 private:
  const ModelFolder& folder_;
  /// Tensors of one axis, and matrices that are of no layer.
  std::map<std::string, SourceTensor, std::less<>> tensors_;
};

}  // namespace ingot::huggingface
