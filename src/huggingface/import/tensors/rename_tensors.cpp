// SPDX-License-Identifier: MIT
// The names of tensors before the rules of the architecture see them.
#include <optional>
#include <utility>

#include "base/strings.hpp"
#include "huggingface/import/tensors/tensor_plan.hpp"

namespace ingot::huggingface {
namespace {

/// @param layers  The number of layers that config.json counts.
void apply(const RenameRule& rule, std::uint64_t layers, std::string& name) {
  std::string replacement = rule.replacement;
  replace_all(replacement, "{layers}", std::to_string(layers));
  switch (rule.place) {
    case RenameRule::Place::prefix:
      if (name.starts_with(rule.text)) name.replace(0, rule.text.size(), replacement);
      break;
    case RenameRule::Place::suffix:
      if (name.ends_with(rule.text)) {
        name.replace(name.size() - rule.text.size(), rule.text.size(), replacement);
      }
      break;
    case RenameRule::Place::anywhere:
      replace_all(name, rule.text, replacement);
      break;
    case RenameRule::Place::numbered: {
      if (!name.starts_with(rule.text)) break;
      const std::string_view rest = std::string_view(name).substr(rule.text.size());
      const std::string_view digits = rest.substr(0, rest.find('.'));
      const auto number = number_of(digits);
      if (!number) break;
      replacement += std::to_string(layers + *number);
      name.replace(0, rule.text.size() + digits.size(), replacement);
      break;
    }
  }
}

/// The new name; nothing if the tensor is left out.
std::optional<std::string> new_name(const RuleTable& table, const Architecture& architecture,
                                    std::uint64_t layers, std::string name) {
  static const RenameRule bias{RenameRule::Place::suffix, "e_score_correction_bias",
                               "e_score_correction.bias"};
  static const RenameRule language_model{RenameRule::Place::anywhere, "language_model.", ""};
  for (const RenameRule& rule : architecture.renames) apply(rule, layers, name);
  if (!architecture.keeps.empty()) {
    const bool is_kept = fits_one(architecture.keeps, name) && !fits_one(architecture.drops, name);
    return is_kept ? std::optional(std::move(name)) : std::nullopt;
  }
  if (fits_one(table.drops(), name) || fits_one(architecture.drops, name)) return std::nullopt;
  apply(bias, layers, name);
  apply(language_model, layers, name);
  if (fits_one(table.late_drops(), name)) return std::nullopt;
  return name;
}

}  // namespace

Result<std::vector<SourceTensor>> rename_tensors(const RuleTable& table,
                                                 const Architecture& architecture,
                                                 const Config& config,
                                                 std::vector<SourceTensor> tensors,
                                                 std::vector<std::string>& left_out) {
  INGOT_TRY(const std::uint64_t all_layers, config.layer_count());
  const std::uint64_t layers = all_layers - config.extra_layers();
  std::vector<SourceTensor> renamed;
  for (SourceTensor& tensor : tensors) {
    auto name = new_name(table, architecture, layers, tensor.name);
    if (!name) {
      left_out.push_back(std::move(tensor.name));
      continue;
    }
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
