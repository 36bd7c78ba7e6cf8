// SPDX-License-Identifier: MIT
#include "huggingface/export/undo_transforms.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "huggingface/folder/refusal.hpp"

namespace ingot::huggingface {
namespace {

using Undo = Result<void> (*)(const TransformRule& rule, const RuleContext& rules,
                              FolderTensor& tensor);

/// Pairs of neighbouring rows become two halves again, in each head.
Result<void> undo_rope_pairs(const TransformRule& rule, const RuleContext& rules,
                             FolderTensor& tensor) {
  const auto found = rule.numbers.find("heads");
  if (found == rule.numbers.end()) return refuse("rule", "rope_pairs needs heads");
  const auto heads = found->second.evaluate_count(rules, "the number of heads");
  // The rows of a bias are its elements.
  const std::uint64_t rows = tensor.output.shape.empty() ? 0 : tensor.output.shape.back();
  if (!heads || rows == 0 || rows % *heads != 0 || rows / *heads % 2 != 0) {
    return fail(Errc::size_mismatch, std::string(tensor.output.source->name),
                std::to_string(rows) + " rows are no pairs of " +
                    (heads ? std::to_string(*heads) : "an unknown number of") + " heads");
  }
  tensor.output.interleaved_rows = rows / *heads;
  return {};
}

Result<void> undo_add(const TransformRule& rule, const RuleContext&, FolderTensor& tensor) {
  tensor.added -= rule.value;
  return {};
}

Result<void> undo_nothing(const TransformRule&, const RuleContext&, FolderTensor&) { return {}; }

struct Row {
  std::string_view operation;
  Undo undo;
};

/// The transforms that have a way back; stacks have one of their own.
constexpr std::array<Row, 3> rows = {{
    {"rope_pairs", undo_rope_pairs},
    {"add", undo_add},
    {"cut_rows_to_vocab", undo_nothing},
}};

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
  if (!layer || tensor.shape.size() != dimensions) return std::optional<UndoneStack>();
  for (const TransformRule& rule : facts_.architecture.transforms) {
    if (rule.operation != "stack") continue;
    for (const std::string& part : rule.parts) {
      NameParts parts{.layer = layer->layer, .part = part};
      INGOT_TRY(const std::string stacked, fill_pattern(rule.to.at(0), parts, {}));
      if (names_.find(stacked) != tensor.source->name) continue;
      UndoneStack undone{.group = std::to_string(layer->layer) + " " + rule.to[0], .tensors = {}};
      const std::uint64_t count = tensor.shape.back();
      for (std::uint64_t i = 0; i < count; ++i) {
        FolderTensor& one = undone.tensors.emplace_back();
        one.output = part_of(tensor, i, count);
        parts.expert = i;
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
  for (auto rule = rules.rbegin(); rule != rules.rend(); ++rule) {
    const bool applies = std::ranges::any_of(rule->names, [&](const NamePattern& pattern) {
      return pattern.match(tensor.output.name, rule->parts).has_value();
    });
    if (!applies) continue;
    const auto row = std::ranges::find(rows, rule->operation, &Row::operation);
    if (row == rows.end()) {
      return refuse(std::string(tensor.output.source->name),
                    "the transform " + rule->operation + " has no way back");
    }
    INGOT_TRY_VOID(row->undo(*rule, context, tensor));
  }
  return {};
}

}  // namespace ingot::huggingface
