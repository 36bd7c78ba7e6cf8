// SPDX-License-Identifier: MIT
// Operations that choose tensors or rows, name them or join them.
#include <algorithm>
#include <utility>

#include "base/checked.hpp"
#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tensors/changed_numbers.hpp"
#include "huggingface/import/tensors/lora_product.hpp"
#include "huggingface/import/tensors/operation_steps.hpp"

namespace ingot::huggingface {
namespace {

/// The views of a whole stack, one for each part.
Views join_stack(const TransformStep& step, const StackTensors& operation, std::uint64_t count,
                 WaitingStack stack) {
  std::vector<TensorView> stacked;
  for (auto& [place, one] : stack.views) {
    if (place.second == 0) {
      NameParts filled{.layer = step.parts.layer};
      if (!step.rule.parts.empty()) filled.part = step.rule.parts[place.first];
      TensorView& result = stacked.emplace_back();
      INGOT_TRY(result.name, fill_pattern(operation.to[0], filled, step.name));
      result.shape = one.shape;
      result.shape.insert(result.shape.begin(), count);
      result.applied = one.applied;
      result.applied.emplace_back(StackTensors::name);
      result.type = one.type;
    }
    TensorView& result = stacked.back();
    if (!std::equal(one.shape.begin(), one.shape.end(), result.shape.begin() + 1,
                    result.shape.end())) {
      return refuse(one.name, "its shape differs from that of the first of its stack");
    }
    result.parts.push_back(std::move(one.parts.front()));
    result.sources.push_back(one.sources.front());
  }
  return stacked;
}

/// A part of zeros like `part`, with `count` positions of the first axis.
Arrangement zeros_like(const Arrangement& part, std::uint64_t count) {
  Arrangement zeros{.source = zero_numbers(part.source->type()), .axes = part.axes};
  zeros.axes[0] = {{count, 0}};
  return zeros;
}

/// Whether two tensors have the same numbers.
Result<bool> are_equal(TensorView view, TensorView other) {
  if (view.shape != other.shape) return false;
  INGOT_TRY_VOID(make_uncut(view));
  INGOT_TRY_VOID(make_uncut(other));
  const NumberSource& second = *other.parts.front().source;
  std::vector<std::byte> scratch;
  std::vector<float> others;
  bool is_equal = true;
  const auto compare = [&](std::uint64_t first, std::span<const float> numbers) -> Result<void> {
    if (!is_equal) return {};
    others.resize(numbers.size());
    INGOT_TRY_VOID(read_floats(second, first, scratch, others));
    is_equal = std::ranges::equal(numbers, others);
    return {};
  };
  INGOT_TRY_VOID(for_each_piece(*view.parts.front().source, element_count(view), compare));
  return is_equal;
}

}  // namespace

Views apply(const RenameTensor& operation, const TransformStep& step, TensorView view) {
  INGOT_TRY(view.name, step.filled(operation.to[0]));
  return list_of(std::move(view));
}

Views apply(const CutRowsToVocab&, const TransformStep& step, TensorView view) {
  INGOT_TRY(Arrangement* const part, part_of(view, 1));
  const std::uint64_t tokens = step.context.tokens.size();
  if (tokens == 0) return refuse(view.name, "the number of tokens is not known");
  if (tokens < view.shape[0]) {
    INGOT_TRY_VOID(cut_axis(*part, part->axes[0], 0, tokens));
    settle_shape(view);
  } else {
    view.applied.pop_back();
  }
  return list_of(std::move(view));
}

/// The name of the folder is chosen before.
Result<void> undo(const RenameTensor&, const RuleContext&, ReturningTensor&) { return {}; }

/// The rows that were cut off stand for no token.
Result<void> undo(const CutRowsToVocab&, const RuleContext&, ReturningTensor&) { return {}; }

Views apply(const TakeRows& operation, const TransformStep& step, TensorView view) {
  INGOT_TRY(const Arrangement* const whole, part_of(view, 2));
  const Array& texts = step.context.tokens;
  TensorView rows = view;
  rows.parts.clear();
  rows.shape.front() = operation.tokens.size();
  INGOT_TRY(rows.name, step.filled(operation.to[0]));
  for (const std::string& token : operation.tokens) {
    const auto found = std::ranges::find_if(texts, [&](const Value& text) {
      return text.get<std::string_view>().value_or("") == token;
    });
    if (found == texts.end()) return refuse(view.name, "no token is \"" + token + "\"");
    const auto id = static_cast<std::uint64_t>(std::distance(texts.begin(), found));
    Arrangement& row = rows.parts.emplace_back(*whole);
    INGOT_TRY_VOID(cut_axis(row, row.axes.front(), id, 1));
  }
  if (operation.whole[0].empty()) return list_of(std::move(rows));
  view.applied.pop_back();
  INGOT_TRY(view.name, step.filled(operation.whole[0]));
  return list_of(std::move(rows), std::move(view));
}

Views apply(const DropTensor&, const TransformStep&, const TensorView&) { return list_of(); }

Views apply(const DropLayers& operation, const TransformStep& step, TensorView view) {
  INGOT_TRY(const std::uint64_t first, step.number(operation.first, "first"));
  if (step.parts.layer.value_or(0) >= first) return list_of();
  return list_of(std::move(view));
}

Views apply(const DropZeros&, const TransformStep&, TensorView view) {
  INGOT_TRY_VOID(make_uncut(view));
  const auto is_zero = [](float number) { return number == 0; };
  INGOT_TRY_VOID(for_each_piece(
      *view.parts.front().source, element_count(view),
      [&](std::uint64_t, std::span<const float> numbers) -> Result<void> {
        if (std::ranges::all_of(numbers, is_zero)) return {};
        return refuse(view.name,
                      "only zeros are expected here; the architecture has no place for it");
      }));
  return list_of();
}

Views apply(const StackTensors& operation, const TransformStep& step, TensorView view) {
  INGOT_TRY(const std::uint64_t count, step.number(operation.count, "count"));
  if (count > max_stacked) {
    return refuse("config.json", std::to_string(count) + " experts; at most " +
                                     std::to_string(max_stacked) + " are supported");
  }
  const std::vector<std::string>& parts = step.rule.parts;
  const auto part =
      static_cast<std::size_t>(std::ranges::find(parts, step.parts.part) - parts.begin());
  const std::uint64_t number = step.parts.expert.value_or(0);
  if (number >= count) {
    return refuse(view.name, "config.json counts " + std::to_string(count));
  }
  INGOT_TRY_VOID(part_of(view, 0));
  auto& stacks = step.waiting.stacks;
  const std::string layer = std::to_string(step.parts.layer.value_or(0));
  const auto stack = stacks.try_emplace({&step.rule, layer}).first;
  const std::size_t part_count = std::max<std::size_t>(parts.size(), 1);
  stack->second.wanted = static_cast<std::size_t>(count) * part_count;
  if (!stack->second.views.try_emplace({part, number}, std::move(view)).second) {
    return refuse(step.name, "the tensor is there twice");
  }
  if (stack->second.views.size() < stack->second.wanted) return list_of();
  return join_stack(step, operation, count, std::move(stacks.extract(stack).mapped()));
}

/// The plan takes blocks with their scales before any transform.
Views apply(const Mxfp4Blocks&, const TransformStep& step, const TensorView&) {
  return refuse(step.name, "blocks of MXFP4 with scales beside them are expected");
}

Views apply(const PadRows& operation, const TransformStep& step, TensorView view) {
  INGOT_TRY(const std::uint64_t rows, step.number(operation.rows, "rows"));
  INGOT_TRY(const Arrangement* const whole, part_of(view, 1));
  if (rows <= view.shape[0]) {
    view.applied.pop_back();
    return list_of(std::move(view));
  }
  if (is_product(view)) return refuse(view.name, "an adapter has no rows to append");
  Arrangement zeros = zeros_like(*whole, rows - view.shape[0]);
  view.parts.push_back(std::move(zeros));
  view.shape[0] = rows;
  return list_of(std::move(view));
}

/// Rows that were appended stay: the vocabulary has tokens for them.
Result<void> undo(const PadRows&, const RuleContext&, ReturningTensor&) { return {}; }

Views apply(const RepeatFirstRow& operation, const TransformStep& step, TensorView view) {
  INGOT_TRY(const std::uint64_t count, step.number(operation.count, "count"));
  INGOT_TRY(Arrangement* const part, part_of(view, 1));
  if (is_product(view) || count > max_stacked) {
    return refuse(view.name, "at most " + std::to_string(max_stacked) + " equal rows are made");
  }
  INGOT_TRY_VOID(cut_axis(*part, part->axes[0], 0, 1));
  settle_shape(view);
  view.parts.resize(to_size(count), Arrangement(view.parts.front()));
  view.shape[0] = count;
  return list_of(std::move(view));
}

Views apply(const DropRows& operation, const TransformStep& step, TensorView view) {
  INGOT_TRY(const std::uint64_t first, step.number(operation.first, "first"));
  INGOT_TRY(Arrangement* const part, part_of(view, 1));
  if (first >= view.shape[0]) {
    return refuse(view.name, "all of its " + std::to_string(view.shape[0]) + " rows would go");
  }
  INGOT_TRY_VOID(cut_axis(*part, part->axes[0], first, view.shape[0] - first));
  settle_shape(view);
  return list_of(std::move(view));
}

Views apply(const ZeroSlot&, const TransformStep&, TensorView view) {
  INGOT_TRY(Arrangement* const part, part_of(view, 2));
  if (is_product(view) || view.shape[1] != 1) {
    return refuse(view.name, "a second axis of one position is expected");
  }
  part->axes.erase(part->axes.begin() + 1);
  settle_shape(view);
  Arrangement zeros = zeros_like(*part, 1);
  view.parts.insert(view.parts.begin(), std::move(zeros));
  ++view.shape[0];
  return list_of(std::move(view));
}

Views apply(const DropIfEqual& operation, const TransformStep& step, TensorView view) {
  const auto other = step.waiting.compared.find(operation.other);
  if (other == step.waiting.compared.end()) return list_of(std::move(view));
  INGOT_TRY(const bool is_equal, are_equal(view, other->second));
  return is_equal ? list_of() : list_of(std::move(view));
}

/// What the model has was not left out.
Result<void> undo(const DropTensor&, const RuleContext&, ReturningTensor&) { return {}; }
Result<void> undo(const DropLayers&, const RuleContext&, ReturningTensor&) { return {}; }
Result<void> undo(const DropZeros&, const RuleContext&, ReturningTensor&) { return {}; }
Result<void> undo(const DropIfEqual&, const RuleContext&, ReturningTensor&) { return {}; }

Views apply(const FirstOnly& operation, const TransformStep& step, TensorView view) {
  INGOT_TRY(view.name, step.filled(operation.to[0]));
  if (!step.waiting.taken.insert({&step.rule, view.name}).second) return list_of();
  return list_of(std::move(view));
}

Views apply(const ExactName& operation, const TransformStep& step, TensorView view) {
  INGOT_TRY(view.name, step.filled(operation.to[0]));
  view.has_gguf_name = true;
  return list_of(std::move(view));
}

}  // namespace ingot::huggingface
