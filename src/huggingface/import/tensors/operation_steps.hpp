// SPDX-License-Identifier: MIT
// The forward step of each operation and, below it, its way back where it has one: `undo`, or the
// shape of the tensor before, from which the import's own arrangement is turned round.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "huggingface/import/tensors/rule_operations.hpp"

namespace ingot::huggingface {

template <class T, class... Other>
concept one_of = (std::same_as<T, Other> || ...);

using Views = Result<std::vector<TensorView>>;
using Shape = std::vector<std::uint64_t>;  ///< Row-major: the outermost dimension first.
using Shapes = std::span<const Shape>;     ///< Those of an operation's results.

/// The most tensors of a stack, and the most heads that are cut apart.
inline constexpr std::uint64_t max_stacked = 65'536;

// head_operations.cpp
Views apply(const RopePairs&, const TransformStep&, TensorView);
Result<void> undo(const RopePairs&, const RuleContext&, ReturningTensor&);
Views apply(const SplitInterleavedQkv&, const TransformStep&, TensorView);
Views apply(const GroupedQkv&, const TransformStep&, TensorView);
Views apply(const FalconQkv&, const TransformStep&, TensorView);
Views apply(const ThreeParts&, const TransformStep&, TensorView);
Views apply(const MlaSplit&, const TransformStep&, TensorView);
Result<Shape> shape_before(const MlaSplit&, const RuleContext&, Shapes);
Views apply(const QkvzSplit&, const TransformStep&, TensorView);
Result<Shape> shape_before(const QkvzSplit&, const RuleContext&, Shapes);
Views apply(const ReorderVHeads&, const TransformStep&, TensorView);
Views apply(const RegroupHeads&, const TransformStep&, TensorView);

/// They reorder rows, so the shape stays.
template <one_of<SplitInterleavedQkv, ReorderVHeads, RegroupHeads> Operation>
Result<Shape> shape_before(const Operation&, const RuleContext&, Shapes shapes) {
  return shapes[0];
}

// shape_operations.cpp
Views apply(const Transpose&, const TransformStep&, TensorView);
Result<Shape> shape_before(const Transpose&, const RuleContext&, Shapes);
Views apply(const SplitRowsHalf&, const TransformStep&, TensorView);
Result<Shape> shape_before(const SplitRowsHalf&, const RuleContext&, Shapes);
Views apply(const SplitRows&, const TransformStep&, TensorView);
Views apply(const SplitLastHalfTransposed&, const TransformStep&, TensorView);
Views apply(const Deinterleave&, const TransformStep&, TensorView);
Result<Shape> shape_before(const Deinterleave&, const RuleContext&, Shapes);
Views apply(const TransposeDeinterleave&, const TransformStep&, TensorView);
Result<Shape> shape_before(const TransposeDeinterleave&, const RuleContext&, Shapes);
Views apply(const ViewExperts&, const TransformStep&, TensorView);
Views apply(const Squeeze&, const TransformStep&, TensorView);
Result<void> undo(const Squeeze&, const RuleContext&, ReturningTensor&);
Views apply(const SqueezeAxis&, const TransformStep&, TensorView);
Result<void> undo(const SqueezeAxis&, const RuleContext&, ReturningTensor&);
Views apply(const AppendAxis&, const TransformStep&, TensorView);
Result<void> undo(const AppendAxis&, const RuleContext&, ReturningTensor&);
Views apply(const Reshape&, const TransformStep&, TensorView);
Result<void> undo(const Reshape&, const RuleContext&, ReturningTensor&);
Views apply(const ReshapeConv&, const TransformStep&, TensorView);
Result<void> undo(const ReshapeConv&, const RuleContext&, ReturningTensor&);

// number_operations.cpp
Views apply(const AddValue&, const TransformStep&, TensorView);
Result<void> undo(const AddValue&, const RuleContext&, ReturningTensor&);
Views apply(const NegExp&, const TransformStep&, TensorView);
Result<void> undo(const NegExp&, const RuleContext&, ReturningTensor&);
Views apply(const Softplus&, const TransformStep&, TensorView);
Views apply(const Multiply&, const TransformStep&, TensorView);
Result<void> undo(const Multiply&, const RuleContext&, ReturningTensor&);
Views apply(const MultiplyRows&, const TransformStep&, TensorView);
Result<void> undo(const MultiplyRows&, const RuleContext&, ReturningTensor&);
Views apply(const NormalizeColumns&, const TransformStep&, TensorView);
Views apply(const SubtractMean&, const TransformStep&, TensorView);
Views apply(const Ternary&, const TransformStep&, TensorView);

// tensor_operations.cpp
Views apply(const RenameTensor&, const TransformStep&, TensorView);
Result<void> undo(const RenameTensor&, const RuleContext&, ReturningTensor&);
Views apply(const ExactName&, const TransformStep&, TensorView);
Views apply(const CutRowsToVocab&, const TransformStep&, TensorView);
Result<void> undo(const CutRowsToVocab&, const RuleContext&, ReturningTensor&);
Views apply(const TakeRows&, const TransformStep&, TensorView);
Views apply(const PadRows&, const TransformStep&, TensorView);
Result<void> undo(const PadRows&, const RuleContext&, ReturningTensor&);
Views apply(const RepeatFirstRow&, const TransformStep&, TensorView);
Views apply(const DropRows&, const TransformStep&, TensorView);
Views apply(const ZeroSlot&, const TransformStep&, TensorView);
Views apply(const DropTensor&, const TransformStep&, const TensorView&);
Result<void> undo(const DropTensor&, const RuleContext&, ReturningTensor&);
Views apply(const DropLayers&, const TransformStep&, TensorView);
Result<void> undo(const DropLayers&, const RuleContext&, ReturningTensor&);
Views apply(const DropZeros&, const TransformStep&, TensorView);
Result<void> undo(const DropZeros&, const RuleContext&, ReturningTensor&);
Views apply(const DropIfEqual&, const TransformStep&, TensorView);
Result<void> undo(const DropIfEqual&, const RuleContext&, ReturningTensor&);
Views apply(const FirstOnly&, const TransformStep&, TensorView);
Views apply(const StackTensors&, const TransformStep&, TensorView);
Views apply(const Mxfp4Blocks&, const TransformStep&, const TensorView&);

// joining_operations.cpp
Views apply(const StackParts&, const TransformStep&, TensorView);
Views apply(const JoinColumns&, const TransformStep&, TensorView);
Views apply(const CopyTensor&, const TransformStep&, TensorView);
Views apply(const AsInt32&, const TransformStep&, TensorView);
Views apply(const FromPositions&, const TransformStep&, TensorView);
Views apply(const Mxfp4Stack&, const TransformStep&, const TensorView&);

// projector_operations.cpp
Views apply(const Renumber&, const TransformStep&, TensorView);
Views apply(const BatchNorm&, const TransformStep&, TensorView);
Views apply(const ResizeGrid&, const TransformStep&, TensorView);

template <class... View>
[[nodiscard]] std::vector<TensorView> list_of(View... view) {
  std::vector<TensorView> views;
  (views.push_back(std::move(view)), ...);
  return views;
}

[[nodiscard]] std::uint64_t element_count(const TensorView& view) noexcept;

/// Makes one part of all, whose axes can be cut anywhere.
[[nodiscard]] Result<void> make_uncut(TensorView& view);

/// The only part of a view, with at least `axis_count` dimensions.
[[nodiscard]] Result<Arrangement*> part_of(TensorView& view, std::size_t axis_count);

/// The position of an axis whose number, if it is below 0, counts from the end.
[[nodiscard]] Result<std::size_t> find_axis(const TensorView& view, std::int64_t number);

[[nodiscard]] Result<void> swap_last_axes(TensorView& view);

/// The block `index` of `count` equal blocks along an axis.
[[nodiscard]] Result<TensorView> block_of(const TensorView& view, std::size_t axis,
                                          std::uint64_t count, std::uint64_t index);

/// The shape of tensors that were cut apart along an axis, which, if below 0, counts from the end.
[[nodiscard]] Result<Shape> joined_shape(Shapes shapes, std::int64_t axis);

/// Sizes that together make `whole`: by their sum, or by their product. One may be unset: it is
/// what is left.
[[nodiscard]] Result<std::vector<std::uint64_t>> settle_sizes(const TransformStep& step,
                                                              std::span<const Expression> sizes,
                                                              std::uint64_t whole, bool by_product);

/// Gives views the names of the results.
[[nodiscard]] Result<void> name_results(const TransformStep& step,
                                        std::span<const std::string> patterns,
                                        std::span<TensorView> views);
[[nodiscard]] Views named_halves(const TransformStep& step, const ResultNames<2>& to,
                                 TensorView first, TensorView second);

}  // namespace ingot::huggingface
