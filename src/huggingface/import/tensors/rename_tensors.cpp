// SPDX-License-Identifier: MIT
// The names of tensors before the rules of the architecture see them.
#include <optional>
#include <utility>

#include "base/strings.hpp"
#include "huggingface/import/tensors/tensor_plan.hpp"

namespace ingot::huggingface {
namespace {

void apply(const RenameRule& rule, std::string& name) {
  switch (rule.place) {
    case RenameRule::Place::prefix:
      if (name.starts_with(rule.text)) name.replace(0, rule.text.size(), rule.replacement);
      break;
    case RenameRule::Place::suffix:
      if (name.ends_with(rule.text)) {
        name.replace(name.size() - rule.text.size(), rule.text.size(), rule.replacement);
      }
      break;
    case RenameRule::Place::anywhere:
      replace_all(name, rule.text, rule.replacement);
      break;
  }
}

/// The new name; nothing if the tensor is left out.
std::optional<std::string> new_name(const RuleTable& table, const Architecture& architecture,
                                    std::string name) {
  static const RenameRule bias{RenameRule::Place::suffix, "e_score_correction_bias",
                               "e_score_correction.bias"};
  static const RenameRule language_model{RenameRule::Place::anywhere, "language_model.", ""};
  for (const RenameRule& rule : architecture.renames) apply(rule, name);
  if (fits_one(table.drops(), name) || fits_one(architecture.drops, name)) return std::nullopt;
  apply(bias, name);
  apply(language_model, name);
  if (fits_one(table.late_drops(), name)) return std::nullopt;
  return name;
}

}  // namespace

Result<std::vector<SourceTensor>> rename_tensors(const RuleTable& table,
                                                 const Architecture& architecture,
                                                 std::vector<SourceTensor> tensors) {
  std::vector<SourceTensor> renamed;
  for (SourceTensor& tensor : tensors) {
    auto name = new_name(table, architecture, tensor.name);
    if (!name) continue;
    tensor.name = *std::move(name);
    renamed.push_back(std::move(tensor));
  }
  return renamed;
}

TensorType guess_type(const std::vector<SourceTensor>& tensors) {
  for (const SourceTensor& tensor : tensors) {
    if (tensor.shape.size() < 2 || tensor.dtype == nullptr) continue;
    if (tensor.dtype->name == "BF16") return TensorType::bf16;
    if (tensor.dtype->name == "F16") return TensorType::f16;
  }
  return TensorType::f16;
}

}  // namespace ingot::huggingface
