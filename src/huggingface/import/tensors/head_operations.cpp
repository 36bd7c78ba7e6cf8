// SPDX-License-Identifier: MIT
// Operations that cut or reorder the rows of attention heads.
#include <algorithm>
#include <array>
#include <utility>

#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tensors/operation_steps.hpp"

namespace ingot::huggingface {
namespace {

Result<void> pair_rows(TensorView& view, std::uint64_t heads) {
  INGOT_TRY(Arrangement* const part, part_of(view, 1));
  INGOT_TRY(const std::vector<Axis> axes, split_axis(part->axes[0], {heads, 2, 0}));
  part->axes[0] = join_axes(std::array{axes[0], axes[2], axes[1]});
  return {};
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

}  // namespace

Views apply(const RopePairs& operation, const TransformStep& step, TensorView view) {
  INGOT_TRY(const std::uint64_t heads, step.number(operation.heads, "heads"));
  INGOT_TRY_VOID(pair_rows(view, heads));
  return list_of(std::move(view));
}

/// Pairs of neighbouring rows become two halves again, in each head.
Result<void> undo(const RopePairs& operation, const RuleContext& context, ReturningTensor& tensor) {
  const auto heads = operation.heads.evaluate_count(context, "the number of heads");
  // The rows of a vector are its elements.
  const std::uint64_t rows = tensor.shape.empty() ? 0 : tensor.shape.back();
  if (!heads || rows == 0 || rows % *heads != 0 || rows / *heads % 2 != 0) {
    return fail(Errc::size_mismatch, std::string(tensor.name),
                std::to_string(rows) + " rows are no pairs of " +
                    (heads ? std::to_string(*heads) : "an unknown number of") + " heads");
  }
  tensor.interleaved_rows = rows / *heads;
  return {};
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
    INGOT_TRY(TensorView part, block_of(view, 0, 3, i));
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

Result<Shape> shape_before(const MlaSplit&, const RuleContext&, Shapes shapes) {
  const Shape& keys = shapes[0];
  const Shape& values = shapes[1];
  std::uint64_t rows = 0;
  if (keys.size() != 3 || values.size() != 3 || keys[0] != values[0] || keys[1] != values[2] ||
      __builtin_add_overflow(keys[2], values[1], &rows) ||
      __builtin_mul_overflow(keys[0], rows, &rows)) {
    return refuse("tensors", "keys and values of latent attention have different heads");
  }
  return Shape{rows, keys[1]};
}

Views apply(const QkvzSplit& operation, const TransformStep& step, TensorView view) {
  INGOT_TRY(const std::uint64_t heads, step.number(operation.heads, "heads"));
  INGOT_TRY(const std::uint64_t keys, step.number(operation.key_size, "key_size"));
  INGOT_TRY(const std::uint64_t values, step.number(operation.value_size, "value_size"));
  INGOT_TRY(Arrangement* const whole, part_of(view, 1));
  const std::uint64_t rows = size_of(whole->axes[0]);
  if (keys > rows || values > rows) return refuse(view.name, "it has fewer rows than one head");
  INGOT_TRY(const std::vector<Axis> axes, split_axis(whole->axes[0], {heads, 2 * (keys + values)}));
  const std::uint64_t begins[] = {0, keys, 2 * keys, 2 * keys + values};
  std::vector<Arrangement> parts;
  for (std::size_t i = 0; i < std::size(begins); ++i) {
    Arrangement& part = parts.emplace_back(*whole);
    Axis within = axes[1];
    INGOT_TRY_VOID(cut_axis(part, within, begins[i], i < 2 ? keys : values));
    part.axes[0] = join_axes(std::array{axes[0], within});
  }
  TensorView z = view;
  z.parts = {std::move(parts.back())};
  settle_shape(z);
  parts.pop_back();
  view.parts = std::move(parts);
  view.shape[0] = heads * (2 * keys + values);
  return named_halves(step, operation.to, std::move(view), std::move(z));
}

Result<Shape> shape_before(const QkvzSplit&, const RuleContext&, Shapes shapes) {
  return joined_shape(shapes, 0);
}

Views apply(const ReorderVHeads& operation, const TransformStep& step, TensorView view) {
  INGOT_TRY(const std::uint64_t keys, step.number(operation.key_heads, "key_heads"));
  INGOT_TRY(const std::uint64_t values, step.number(operation.value_heads, "value_heads"));
  std::uint64_t first = 0;
  if (operation.first.is_set()) {
    INGOT_TRY(first, step.number(operation.first, "first"));
  }
  if (values % keys != 0) {
    return refuse("config.json", "the value heads are no multiple of the key heads");
  }
  INGOT_TRY(Arrangement* const whole, part_of(view, 1));
  INGOT_TRY(const std::size_t axis, find_axis(view, operation.axis));
  if (first != 0 && axis != 0) return refuse("rule", "`first` of reorder_v_heads counts rows");
  Arrangement rest = *whole;
  if (first != 0) {
    if (first >= view.shape[0]) return refuse(view.name, "it has no rows of value heads");
    INGOT_TRY_VOID(cut_axis(rest, rest.axes[0], first, view.shape[0] - first));
    INGOT_TRY_VOID(cut_axis(*whole, whole->axes[0], 0, first));
  }
  INGOT_TRY(const std::vector<Axis> axes, split_axis(rest.axes[axis], {keys, values / keys, 0}));
  rest.axes[axis] = join_axes(std::array{axes[1], axes[0], axes[2]});
  if (first == 0) view.parts.clear();
  view.parts.push_back(std::move(rest));
  return list_of(std::move(view));
}

Views apply(const RegroupHeads& operation, const TransformStep& step, TensorView view) {
  INGOT_TRY(const std::uint64_t head_size, step.number(operation.head_size, "head_size"));
  INGOT_TRY(const Arrangement* const whole, part_of(view, 1));
  const std::uint64_t rows = view.shape[0];
  std::uint64_t rotary = head_size;
  if (operation.rotary.is_set()) {
    INGOT_TRY(rotary, step.number(operation.rotary, "rotary"));
  }
  if (rows % head_size != 0 || rotary > head_size || rows / head_size > max_stacked) {
    return refuse(view.name, std::to_string(rows) + " rows are no heads of " +
                                 std::to_string(head_size) + " with " + std::to_string(rotary) +
                                 " rotary ones");
  }
  std::uint64_t heads = rows / head_size;
  if (operation.heads.is_set()) {
    INGOT_TRY(const std::uint64_t first, step.number(operation.heads, "heads"));
    heads = std::min(heads, first);
  }
  INGOT_TRY(const auto sizes, settle_sizes(step, operation.sizes, rotary, true));
  std::vector<Arrangement> parts;
  const auto cut = [&](std::uint64_t row, std::uint64_t count) -> Result<void> {
    if (count == 0) return {};
    Arrangement& part = parts.emplace_back(*whole);
    return cut_axis(part, part.axes[0], row, count);
  };
  for (std::uint64_t row = 0; row < heads * head_size; row += head_size) {
    INGOT_TRY_VOID(cut(row, rotary));
    Axis& axis = parts.back().axes[0];
    INGOT_TRY(std::vector<Axis> axes, split_axis(axis, sizes));
    std::swap(axes[0], axes[1]);
    axis = join_axes(axes);
    INGOT_TRY_VOID(cut(row + rotary, head_size - rotary));
  }
  INGOT_TRY_VOID(cut(heads * head_size, rows - heads * head_size));
  view.parts = std::move(parts);
  return list_of(std::move(view));
}

}  // namespace ingot::huggingface
