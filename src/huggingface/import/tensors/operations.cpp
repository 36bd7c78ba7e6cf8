// SPDX-License-Identifier: MIT
#include "huggingface/import/tensors/operations.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <utility>

#include "huggingface/folder/refusal.hpp"
#include "ingot/types.hpp"

namespace ingot::huggingface {
namespace {

using Views = Result<std::vector<TensorView>>;

constexpr std::uint64_t max_stacked = 65'536;

template <class T, class... Other>
concept one_of = (std::same_as<T, Other> || ...);

template <class... View>
std::vector<TensorView> list_of(View... view) {
  std::vector<TensorView> views;
  (views.push_back(std::move(view)), ...);
  return views;
}

/// The only part of a view with at least `axis_count` dimensions.
Result<Arrangement*> part_of(TensorView& view, std::size_t axis_count) {
  if (view.parts.size() != 1) return refuse(view.name, "it was joined before");
  Arrangement& part = view.parts.front();
  if (part.axes.size() < axis_count) {
    return refuse(view.name, "at least " + std::to_string(axis_count) + " dimensions are expected");
  }
  return &part;
}

Result<void> swap_last_axes(TensorView& view) {
  INGOT_TRY(Arrangement* const part, part_of(view, 2));
  std::iter_swap(part->axes.rbegin(), std::next(part->axes.rbegin()));
  settle_shape(view);
  return {};
}

Result<void> pair_rows(TensorView& view, std::uint64_t heads) {
  INGOT_TRY(Arrangement* const part, part_of(view, 1));
  INGOT_TRY(const std::vector<Axis> axes, split_axis(part->axes[0], {heads, 2, 0}));
  part->axes[0] = join_axes(std::array{axes[0], axes[2], axes[1]});
  return {};
}

/// Takes one position of the part `cut`, and all of the other part, of an axis that `sizes` cuts in
/// two.
Result<TensorView> slice(const TensorView& view, std::size_t axis,
                         std::array<std::uint64_t, 2> sizes, std::size_t cut, std::uint64_t index) {
  TensorView result = view;
  Arrangement& part = result.parts.front();
  INGOT_TRY(std::vector<Axis> axes, split_axis(part.axes[axis], {sizes[0], sizes[1]}));
  INGOT_TRY_VOID(cut_axis(part, axes[cut], index, 1));
  part.axes[axis] = axes[1 - cut];
  settle_shape(result);
  return result;
}

/// Keeps every `count`-th position of an axis, from `index` on.
Result<TensorView> every(const TensorView& view, std::size_t axis, std::uint64_t count,
                         std::uint64_t index) {
  return slice(view, axis, {0, count}, 1, index);
}

/// The block `index` of `count` equal blocks along an axis.
Result<TensorView> block(const TensorView& view, std::size_t axis, std::uint64_t count,
                         std::uint64_t index) {
  return slice(view, axis, {count, 0}, 0, index);
}

/// Queries, keys and values of rows (groups, queries of a group + 2, r).
Result<std::array<TensorView, 3>> split_groups(TensorView view, std::uint64_t heads,
                                               std::uint64_t groups) {
  INGOT_TRY(Arrangement* const whole, part_of(view, 1));
  if (heads % groups != 0) {
    return refuse(view.name, "the number of heads must be a multiple of that of key heads");
  }
  const std::uint64_t queries = heads / groups;
  INGOT_TRY(const std::vector<Axis> axes, split_axis(whole->axes[0], {groups, queries + 2, 0}));
  const std::array<std::pair<std::uint64_t, std::uint64_t>, 3> ranges = {
      {{0, queries}, {queries, 1}, {queries + 1, 1}}};
  std::array<TensorView, 3> views = {view, view, view};
  for (std::size_t i = 0; i < views.size(); ++i) {
    Arrangement& part = views[i].parts.front();
    Axis within = axes[1];
    INGOT_TRY_VOID(cut_axis(part, within, ranges[i].first, ranges[i].second));
    part.axes[0] = join_axes(std::array{axes[0], within, axes[2]});
    settle_shape(views[i]);
  }
  return views;
}

std::size_t axis_from_end(const TensorView& view, std::int64_t axis) {
  const auto count = static_cast<std::int64_t>(view.shape.size());
  return static_cast<std::size_t>(axis < 0 ? count + axis : axis);
}

Result<void> name_results(const TransformStep& step, std::span<const std::string> patterns,
                          std::span<TensorView> views) {
  for (std::size_t i = 0; i < views.size(); ++i) {
    INGOT_TRY(views[i].name, step.filled(patterns[i]));
  }
  return {};
}

Views named_halves(const TransformStep& step, const ResultNames<2>& to, TensorView first,
                   TensorView second) {
  std::vector<TensorView> views = list_of(std::move(first), std::move(second));
  INGOT_TRY_VOID(name_results(step, to, views));
  return views;
}

Views apply(const RopePairs& operation, const TransformStep& step, TensorView view) {
  INGOT_TRY(const std::uint64_t heads, step.number(operation.heads, "heads"));
  INGOT_TRY_VOID(pair_rows(view, heads));
  return list_of(std::move(view));
}

/// Pairs of neighbouring rows become two halves again, in each head.
Result<void> undo(const RopePairs& operation, const RuleContext& context, ReturningTensor& tensor) {
  const auto heads = operation.heads.evaluate_count(context, "the number of heads");
  if (!heads || tensor.rows == 0 || tensor.rows % *heads != 0 || tensor.rows / *heads % 2 != 0) {
    return fail(Errc::size_mismatch, std::string(tensor.name),
                std::to_string(tensor.rows) + " rows are no pairs of " +
                    (heads ? std::to_string(*heads) : "an unknown number of") + " heads");
  }
  tensor.interleaved_rows = tensor.rows / *heads;
  return {};
}

Views apply(const Transpose& operation, const TransformStep& step, TensorView view) {
  INGOT_TRY_VOID(swap_last_axes(view));
  if (!operation.to[0].empty()) {
    INGOT_TRY(view.name, step.filled(operation.to[0]));
  }
  return list_of(std::move(view));
}

Views apply(const AddValue& operation, const TransformStep&, TensorView view) {
  view.added += operation.value;
  return list_of(std::move(view));
}

Result<void> undo(const AddValue& operation, const RuleContext&, ReturningTensor& tensor) {
  tensor.added -= operation.value;
  return {};
}

Views apply(const RenameTensor& operation, const TransformStep& step, TensorView view) {
  INGOT_TRY(view.name, step.filled(operation.to[0]));
  return list_of(std::move(view));
}

Views apply(const SplitRowsHalf& operation, const TransformStep& step, TensorView view) {
  INGOT_TRY_VOID(part_of(view, 2));
  const std::size_t axis = view.shape.size() - 2;
  INGOT_TRY(TensorView first, block(view, axis, 2, 0));
  INGOT_TRY(TensorView second, block(view, axis, 2, 1));
  return named_halves(step, operation.to, std::move(first), std::move(second));
}

Views deinterleave(const TransformStep& step, TensorView view, std::int64_t axis_number,
                   const ResultNames<2>& to) {
  const std::size_t axis = axis_from_end(view, axis_number);
  INGOT_TRY_VOID(part_of(view, axis + 1));
  INGOT_TRY(TensorView even, every(view, axis, 2, 0));
  INGOT_TRY(TensorView odd, every(view, axis, 2, 1));
  return named_halves(step, to, std::move(even), std::move(odd));
}

Views apply(const Deinterleave& operation, const TransformStep& step, TensorView view) {
  return deinterleave(step, std::move(view), operation.axis, operation.to);
}

Views apply(const TransposeDeinterleave& operation, const TransformStep& step, TensorView view) {
  INGOT_TRY_VOID(swap_last_axes(view));
  return deinterleave(step, std::move(view), operation.axis, operation.to);
}

Views apply(const SplitInterleavedQkv& operation, const TransformStep& step, TensorView view) {
  INGOT_TRY(const std::uint64_t heads, step.number(operation.heads, "heads"));
  INGOT_TRY(Arrangement* const part, part_of(view, 1));
  INGOT_TRY(const std::vector<Axis> axes, split_axis(part->axes[0], {heads, 3, 0}));
  part->axes[0] = join_axes(std::array{axes[1], axes[0], axes[2]});
  return list_of(std::move(view));
}

Views apply(const GroupedQkv& operation, const TransformStep& step, TensorView view) {
  INGOT_TRY(const std::uint64_t heads, step.number(operation.heads, "heads"));
  INGOT_TRY(const std::uint64_t groups, step.number(operation.kv_heads, "kv_heads"));
  INGOT_TRY(auto views, split_groups(std::move(view), heads, groups));
  INGOT_TRY_VOID(pair_rows(views[0], heads));
  INGOT_TRY_VOID(pair_rows(views[1], groups));
  INGOT_TRY_VOID(name_results(step, operation.to, views));
  return list_of(std::move(views[0]), std::move(views[1]), std::move(views[2]));
}

Views apply(const FalconQkv& operation, const TransformStep& step, TensorView view) {
  INGOT_TRY(const std::uint64_t heads, step.number(operation.heads, "heads"));
  INGOT_TRY(const std::uint64_t groups, step.number(operation.kv_heads, "kv_heads"));
  INGOT_TRY(auto views, split_groups(view, heads, groups));
  std::vector<Arrangement> parts;
  for (TensorView& one : views) parts.push_back(std::move(one.parts.front()));
  view.parts = std::move(parts);
  return list_of(std::move(view));
}

Views apply(const ThreeParts& operation, const TransformStep& step, TensorView view) {
  INGOT_TRY_VOID(part_of(view, 1));
  std::vector<TensorView> views;
  for (std::size_t i = 0; i < 3; ++i) {
    INGOT_TRY(TensorView part, block(view, 0, 3, i));
    if (i < operation.heads.size() && operation.heads[i].is_set()) {
      INGOT_TRY(const std::uint64_t heads, step.number(operation.heads[i], "heads"));
      INGOT_TRY_VOID(pair_rows(part, heads));
    }
    views.push_back(std::move(part));
  }
  INGOT_TRY_VOID(name_results(step, operation.to, views));
  return views;
}

Views apply(const MlaSplit& operation, const TransformStep& step, TensorView view) {
  INGOT_TRY(const std::uint64_t heads, step.number(operation.heads, "heads"));
  INGOT_TRY(const std::uint64_t nope, step.number(operation.nope, "nope"));
  INGOT_TRY(const std::uint64_t values, step.number(operation.v, "v"));
  INGOT_TRY(Arrangement* const whole, part_of(view, 2));
  if (nope > whole->axes[0].front().size || values > whole->axes[0].front().size) {
    return refuse(view.name, "it has fewer rows than one head");
  }
  INGOT_TRY(const std::vector<Axis> axes, split_axis(whole->axes[0], {heads, nope + values}));
  const Axis columns = whole->axes[1];
  TensorView k_b = view;
  Arrangement& k_part = k_b.parts.front();
  Axis k_rows = axes[1];
  INGOT_TRY_VOID(cut_axis(k_part, k_rows, 0, nope));
  k_part.axes = {axes[0], columns, k_rows};
  settle_shape(k_b);
  Arrangement& v_part = view.parts.front();
  Axis v_rows = axes[1];
  INGOT_TRY_VOID(cut_axis(v_part, v_rows, nope, values));
  v_part.axes = {axes[0], v_rows, columns};
  settle_shape(view);
  return named_halves(step, operation.to, std::move(k_b), std::move(view));
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
  constexpr std::size_t piece_bytes = 1 << 16;
  INGOT_TRY(const Arrangement* const part, part_of(view, 0));
  const std::uint64_t element_bytes = find_type(part->source->type())->block_bytes;
  std::uint64_t count = 1;
  for (const std::uint64_t size : view.shape) count *= size;
  std::vector<std::byte> bytes;
  for (std::uint64_t first = 0; first < count;) {
    const std::uint64_t taken = std::min(count - first, piece_bytes / element_bytes);
    bytes.resize(static_cast<std::size_t>(taken * element_bytes));
    INGOT_TRY_VOID(part->source->read(first, bytes));
    // -0.0 is zero, too; no float of 0 has other bits than those of the sign.
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const bool is_top = (i + 1) % element_bytes == 0;
      if ((bytes[i] & std::byte(is_top ? 0x7f : 0xff)) != std::byte{0}) {
        return refuse(view.name,
                      "only zeros are expected here; the architecture has no place for it");
      }
    }
    first += taken;
  }
  return list_of();
}

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
      result.added = one.added;
      result.applied = one.applied;
      result.applied.emplace_back(StackTensors::name);
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

/// The operations that no export undoes. Stacks are taken apart by their names.
template <one_of<Transpose, RenameTensor, SplitRowsHalf, Deinterleave, TransposeDeinterleave,
                 SplitInterleavedQkv, GroupedQkv, FalconQkv, ThreeParts, MlaSplit, TakeRows,
                 DropTensor, DropLayers, DropZeros, StackTensors, Mxfp4Blocks>
              Operation>
Result<void> undo(const Operation&, const RuleContext&, const ReturningTensor& tensor) {
  return refuse(std::string(tensor.name),
                "the transform " + std::string(Operation::name) + " has no way back");
}

}  // namespace

Result<std::uint64_t> TransformStep::number(const Expression& expression,
                                            std::string_view which) const {
  return expression.evaluate_count(context.rules, "the number `" + std::string(which) + "`");
}

Result<std::string> TransformStep::filled(const std::string& pattern) const {
  return fill_pattern(pattern, parts, name);
}

Result<std::vector<TensorView>> apply_operation(const TransformStep& step, TensorView view) {
  return std::visit(
      [&]<class Operation>(const Operation& operation) {
        // The others change no numbers, or name themselves.
        constexpr bool is_quiet =
            one_of<Operation, RenameTensor, DropTensor, DropLayers, DropZeros, StackTensors>;
        if (!is_quiet) view.applied.emplace_back(Operation::name);
        return apply(operation, step, std::move(view));
      },
      step.rule.operation);
}

Result<void> undo_operation(const TransformRule& rule, const RuleContext& context,
                            ReturningTensor& tensor) {
  return std::visit([&](const auto& operation) { return undo(operation, context, tensor); },
                    rule.operation);
}

}  // namespace ingot::huggingface
