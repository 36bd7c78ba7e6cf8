// SPDX-License-Identifier: MIT
// Operations that change the axes of a tensor.
#include <algorithm>
#include <array>
#include <utility>

#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tensors/operation_steps.hpp"

namespace ingot::huggingface {
namespace {

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

/// The even and the odd positions of an axis.
Views deinterleave(const TransformStep& step, TensorView view, std::int64_t axis_number,
                   const ResultNames<2>& to) {
  INGOT_TRY(const std::size_t axis, find_axis(view, axis_number));
  INGOT_TRY_VOID(part_of(view, 1));
  INGOT_TRY(TensorView even, slice(view, axis, {0, 2}, 1, 0));
  INGOT_TRY(TensorView odd, slice(view, axis, {0, 2}, 1, 1));
  return named_halves(step, to, std::move(even), std::move(odd));
}

Result<void> set_shape(TensorView& view, std::vector<std::uint64_t> shape) {
  INGOT_TRY_VOID(make_uncut(view));
  TensorView shaped = view_of({}, std::move(shape), view.parts.front().source);
  view.parts = std::move(shaped.parts);
  view.shape = std::move(shaped.shape);
  return {};
}

Result<Shape> swapped(Shape shape) {
  if (shape.size() < 2) return refuse("tensors", "at least 2 dimensions are expected");
  std::iter_swap(shape.rbegin(), std::next(shape.rbegin()));
  return shape;
}

}  // namespace

Result<TensorView> block_of(const TensorView& view, std::size_t axis, std::uint64_t count,
                            std::uint64_t index) {
  return slice(view, axis, {count, 0}, 0, index);
}

Result<Shape> joined_shape(Shapes shapes, std::int64_t axis) {
  Shape joined = shapes[0];
  const auto count = static_cast<std::int64_t>(joined.size());
  const std::int64_t place = axis < 0 ? count + axis : axis;
  if (place < 0 || place >= count) return refuse("rule", "the tensors have too few dimensions");
  std::uint64_t& size = joined[static_cast<std::size_t>(place)];
  for (Shape other : shapes.subspan(1)) {
    const bool has_place = other.size() == joined.size();
    const std::uint64_t more =
        has_place ? std::exchange(other[static_cast<std::size_t>(place)], size) : 0;
    if (other != joined || __builtin_add_overflow(size, more, &size)) {
      return refuse("tensors", "parts of one tensor have different shapes");
    }
  }
  return joined;
}

Views apply(const Transpose& operation, const TransformStep& step, TensorView view) {
  INGOT_TRY_VOID(swap_last_axes(view));
  if (!operation.to[0].empty()) {
    INGOT_TRY(view.name, step.filled(operation.to[0]));
  }
  return list_of(std::move(view));
}

Result<Shape> shape_before(const Transpose&, const RuleContext&, Shapes shapes) {
  return swapped(shapes[0]);
}

Views apply(const SplitRowsHalf& operation, const TransformStep& step, TensorView view) {
  INGOT_TRY_VOID(part_of(view, 2));
  const std::size_t axis = view.shape.size() - 2;
  INGOT_TRY(TensorView first, block_of(view, axis, 2, 0));
  INGOT_TRY(TensorView second, block_of(view, axis, 2, 1));
  return named_halves(step, operation.to, std::move(first), std::move(second));
}

Result<Shape> shape_before(const SplitRowsHalf&, const RuleContext&, Shapes shapes) {
  return joined_shape(shapes, -2);
}

Views apply(const Deinterleave& operation, const TransformStep& step, TensorView view) {
  return deinterleave(step, std::move(view), operation.axis, operation.to);
}

Result<Shape> shape_before(const Deinterleave& operation, const RuleContext&, Shapes shapes) {
  return joined_shape(shapes, operation.axis);
}

Views apply(const TransposeDeinterleave& operation, const TransformStep& step, TensorView view) {
  INGOT_TRY_VOID(swap_last_axes(view));
  return deinterleave(step, std::move(view), operation.axis, operation.to);
}

Result<Shape> shape_before(const TransposeDeinterleave& operation, const RuleContext&,
                           Shapes shapes) {
  INGOT_TRY(Shape shape, joined_shape(shapes, operation.axis));
  return swapped(std::move(shape));
}

Views apply(const SplitRows& operation, const TransformStep& step, TensorView view) {
  INGOT_TRY(const std::size_t axis, find_axis(view, operation.axis));
  INGOT_TRY(const auto sizes, settle_sizes(step, operation.sizes, view.shape[axis], false));
  INGOT_TRY(const Arrangement* const whole, part_of(view, 1));
  if (whole->axes[axis].size() > 1) INGOT_TRY_VOID(make_uncut(view));
  std::vector<TensorView> views(sizes.size(), view);
  std::uint64_t begin = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Arrangement& part = views[i].parts.front();
    INGOT_TRY_VOID(cut_axis(part, part.axes[axis], begin, sizes[i]));
    settle_shape(views[i]);
    begin += sizes[i];
  }
  INGOT_TRY_VOID(name_results(step, operation.to, views));
  return views;
}

Views apply(const SplitLastHalfTransposed& operation, const TransformStep& step, TensorView view) {
  INGOT_TRY_VOID(part_of(view, 2));
  INGOT_TRY(TensorView first, block_of(view, view.shape.size() - 1, 2, 0));
  INGOT_TRY(TensorView second, block_of(view, view.shape.size() - 1, 2, 1));
  INGOT_TRY_VOID(swap_last_axes(first));
  INGOT_TRY_VOID(swap_last_axes(second));
  return named_halves(step, operation.to, std::move(first), std::move(second));
}

Views apply(const ViewExperts& operation, const TransformStep& step, TensorView view) {
  INGOT_TRY(const std::uint64_t count, step.number(operation.count, "count"));
  INGOT_TRY(Arrangement* const part, part_of(view, 1));
  INGOT_TRY(const std::vector<Axis> axes, split_axis(part->axes[0], {count, 0}));
  part->axes[0] = axes[1];
  part->axes.insert(part->axes.begin(), axes[0]);
  settle_shape(view);
  if (!operation.to[0].empty()) {
    INGOT_TRY(view.name, step.filled(operation.to[0]));
  }
  return list_of(std::move(view));
}

Views apply(const Squeeze&, const TransformStep&, TensorView view) {
  const auto is_one = [](const Axis& axis) { return size_of(axis) == 1; };
  for (Arrangement& part : view.parts) std::erase_if(part.axes, is_one);
  if (std::erase(view.shape, 1u) == 0) view.applied.pop_back();
  return list_of(std::move(view));
}

/// Kernels of one channel, [rows, 1, size]: no other tensor has an axis of one position.
Result<void> undo(const Squeeze&, const RuleContext&, ReturningTensor& tensor) {
  if (tensor.shape.size() == 2) tensor.shape.insert(tensor.shape.begin() + 1, 1);
  return {};
}

Views apply(const SqueezeAxis& operation, const TransformStep&, TensorView view) {
  INGOT_TRY(Arrangement* const part, part_of(view, 1));
  INGOT_TRY(const std::size_t axis, find_axis(view, operation.axis));
  if (view.shape[axis] != 1) return refuse(view.name, "an axis of one position is expected");
  part->axes.erase(part->axes.begin() + static_cast<std::ptrdiff_t>(axis));
  settle_shape(view);
  return list_of(std::move(view));
}

Result<void> undo(const SqueezeAxis& operation, const RuleContext&, ReturningTensor& tensor) {
  const auto count = static_cast<std::int64_t>(tensor.shape.size()) + 1;
  const std::int64_t axis = operation.axis < 0 ? count + operation.axis : operation.axis;
  if (axis < 0 || axis >= count) {
    return fail(Errc::size_mismatch, std::string(tensor.name), "it has too few dimensions");
  }
  tensor.shape.insert(tensor.shape.end() - static_cast<std::ptrdiff_t>(axis), 1);
  return {};
}

Views apply(const AppendAxis&, const TransformStep&, TensorView view) {
  INGOT_TRY(Arrangement* const part, part_of(view, 0));
  part->axes.emplace_back();
  settle_shape(view);
  return list_of(std::move(view));
}

Result<void> undo(const AppendAxis&, const RuleContext&, ReturningTensor& tensor) {
  if (tensor.shape.size() < 2 || tensor.shape.front() != 1) {
    return fail(Errc::size_mismatch, std::string(tensor.name), "rows of one element are expected");
  }
  tensor.shape.erase(tensor.shape.begin());
  return {};
}

Views apply(const Reshape& operation, const TransformStep& step, TensorView view) {
  INGOT_TRY(auto shape, settle_sizes(step, operation.shape, element_count(view), true));
  INGOT_TRY_VOID(set_shape(view, std::move(shape)));
  return list_of(std::move(view));
}

/// Folders have the numbers in one axis.
Result<void> undo(const Reshape&, const RuleContext&, ReturningTensor& tensor) {
  std::uint64_t count = 1;
  for (const std::uint64_t size : tensor.shape) count *= size;  // a tensor, whose size was checked
  tensor.shape = {count};
  return {};
}

Views apply(const ReshapeConv&, const TransformStep&, TensorView view) {
  const std::vector<std::uint64_t>& shape = view.shape;
  if (shape.size() != 2 && (shape.size() != 3 || shape[1] != 1)) {
    return refuse(view.name, "[rows, 1, kernel] or [rows, kernel] is expected");
  }
  INGOT_TRY_VOID(set_shape(view, {1, shape.front(), 1, shape.back()}));
  return list_of(std::move(view));
}

/// Gives the shape of three dimensions, which folders have.
Result<void> undo(const ReshapeConv&, const RuleContext&, ReturningTensor& tensor) {
  if (tensor.shape.size() != 4 || tensor.shape.back() != 1) {
    return fail(Errc::size_mismatch, std::string(tensor.name),
                "one position of four dimensions is expected");
  }
  tensor.shape.pop_back();
  return {};
}

}  // namespace ingot::huggingface
