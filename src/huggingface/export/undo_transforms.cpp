// SPDX-License-Identifier: MIT
#include "huggingface/export/undo_transforms.hpp"

#include <algorithm>

#include "base/strings.hpp"
#include "huggingface/import/tensors/transforms.hpp"

namespace ingot::huggingface {
namespace {

/// The part `index` of a stack of `count`.
OutputTensor part_of(const OutputTensor& stack, std::uint64_t index, std::uint64_t count) {
  OutputTensor part = stack;
  part.shape.pop_back();
  part.size_bytes = stack.size_bytes / count;
  part.first_row = index * stack.shape[1];
  return part;
}

}  // namespace

Result<std::optional<UndoneStack>> UndoTransforms::unstack(const OutputTensor& tensor) const {
  constexpr std::size_t dimensions = 3;
  const auto layer = parse_layer_name(tensor.source->name);
  if (tensor.shape.size() != dimensions) return std::optional<UndoneStack>();
  for (const TransformRule& rule : facts_.architecture.transforms) {
    const auto* const operation = std::get_if<StackTensors>(&rule.operation);
    if (operation == nullptr) continue;
    for (std::size_t i = 0; i < std::max<std::size_t>(rule.parts.size(), 1); ++i) {
      NameParts parts;
      if (layer) parts.layer = layer->layer;
      if (i < rule.parts.size()) parts.part = rule.parts[i];
      const bool has_layer = operation->to[0].find("{layer}") != std::string::npos;
      if (has_layer != layer.has_value()) continue;
      INGOT_TRY(const std::string stacked, fill_pattern(operation->to[0], parts, {}));
      if (names_.find(stacked) != tensor.source->name) continue;
      UndoneStack undone{
          .group = (layer ? std::to_string(layer->layer) : std::string()) + " " + operation->to[0],
          .tensors = {}};
      const std::uint64_t count = tensor.shape.back();
      if (count == 0) return std::optional<UndoneStack>();
      for (std::uint64_t expert = 0; expert < count; ++expert) {
        FolderTensor& one = undone.tensors.emplace_back();
        one.output = part_of(tensor, expert, count);
        parts.expert = expert;
        INGOT_TRY(one.output.name, fill_pattern(rule.names.at(0).text(), parts, {}));
      }
      return std::optional(std::move(undone));
    }
  }
  return std::optional<UndoneStack>();
}

Result<void> UndoTransforms::undo(FolderTensor& tensor) const {
  const RuleContext context{.config = config_};
  const std::vector<TransformRule>& rules = facts_.architecture.transforms;
  ReturningTensor returning{.name = tensor.output.source->name, .shape = tensor.output.shape};
  for (auto rule = rules.rbegin(); rule != rules.rend(); ++rule) {
    const bool has_name = std::ranges::any_of(rule->names, [&](const NamePattern& pattern) {
      return pattern.match(tensor.output.name, rule->parts).has_value();
    });
    if (!has_name) continue;
    INGOT_TRY(const bool was_applied, applies(*rule, context));
    if (was_applied) INGOT_TRY_VOID(undo_operation(*rule, context, returning));
  }
  tensor.output.shape = std::move(returning.shape);
  tensor.output.interleaved_rows = returning.interleaved_rows;
  tensor.number = std::move(returning.number);
  return {};
}

std::string name_before_renames(std::span<const RenameRule> rules, std::string name,
                                std::uint64_t layers) {
  const auto layer = layer_of(name);
  if (!layer || *layer < layers) return name;
  using Place = RenameRule::Place;
  for (const RenameRule& rule : rules) {
    std::string to = rule.replacement;
    replace_all(to, "{layers}", std::to_string(layers));
    if (rule.place != Place::prefix || to == rule.replacement || !name.starts_with(to)) continue;
    return rule.text + name.substr(to.size());
  }
  for (const RenameRule& rule : rules) {
    if (rule.place != Place::numbered || !name.starts_with(rule.replacement)) continue;
    const std::string rest = name.substr(rule.replacement.size());
    return rule.text + std::to_string(*layer - layers) +
           rest.substr(std::min(rest.find('.'), rest.size()));
  }
  return name;
}

}  // namespace ingot::huggingface
