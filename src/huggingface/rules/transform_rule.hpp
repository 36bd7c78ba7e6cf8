// SPDX-License-Identifier: MIT
// The operations that rules apply to tensors, each with the members of its JSON. What they do is in
// import/tensors/operation_steps.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "huggingface/rules/joining_rules.hpp"
#include "huggingface/rules/name_pattern.hpp"
#include "huggingface/rules/operation_member.hpp"
#include "huggingface/rules/rule_expression.hpp"

namespace ingot::huggingface {

/// Rows (heads, 2, r) become (heads, r, 2): from halves to neighbouring pairs.
struct RopePairs {
  Expression heads = {};
  static constexpr std::string_view name = "rope_pairs";
  static constexpr auto members = std::tuple(needed("heads", &RopePairs::heads));
};

/// Swaps the last two axes.
struct Transpose {
  ResultNames<1> to = {};  ///< Empty: the name stays.
  static constexpr std::string_view name = "transpose";
  static constexpr auto members = std::tuple(optional("to", &Transpose::to));
};

/// Adds a number to every element.
struct AddValue {
  double value = 0;
  static constexpr std::string_view name = "add";
  static constexpr auto members = std::tuple(needed("value", &AddValue::value));
};

/// Gives the tensor another name.
struct RenameTensor {
  ResultNames<1> to = {};
  static constexpr std::string_view name = "rename";
  static constexpr auto members = std::tuple(needed("to", &RenameTensor::to));
};

/// The first and the second half along the last axis but one.
struct SplitRowsHalf {
  ResultNames<2> to = {};
  static constexpr std::string_view name = "split_rows_half";
  static constexpr auto members = std::tuple(needed("to", &SplitRowsHalf::to));
};

/// The even and the odd positions of an axis.
struct Deinterleave {
  std::int64_t axis = 0;  ///< Below 0: from the end.
  ResultNames<2> to = {};
  static constexpr std::string_view name = "deinterleave";
  static constexpr auto members =
      std::tuple(needed("axis", &Deinterleave::axis), needed("to", &Deinterleave::to));
};

/// Swaps the last two axes, then takes the even and the odd positions of an axis.
struct TransposeDeinterleave {
  std::int64_t axis = 0;
  ResultNames<2> to = {};
  static constexpr std::string_view name = "transpose_deinterleave";
  static constexpr auto members = std::tuple(needed("axis", &TransposeDeinterleave::axis),
                                             needed("to", &TransposeDeinterleave::to));
};

/// Rows (heads, 3, r) become (3, heads, r).
struct SplitInterleavedQkv {
  Expression heads = {};
  static constexpr std::string_view name = "split_interleaved_qkv";
  static constexpr auto members = std::tuple(needed("heads", &SplitInterleavedQkv::heads));
};

/// Rows (groups, queries of a group + 2, r) become three tensors: queries, keys, values.
struct GroupedQkv {
  Expression heads = {};
  Expression kv_heads = {};
  ResultNames<3> to = {};
  static constexpr std::string_view name = "grouped_qkv";
  static constexpr auto members =
      std::tuple(needed("heads", &GroupedQkv::heads), needed("kv_heads", &GroupedQkv::kv_heads),
                 needed("to", &GroupedQkv::to));
};

/// Splits like grouped_qkv and joins again: all queries, all keys, all values.
struct FalconQkv {
  Expression heads = {};
  Expression kv_heads = {};
  static constexpr std::string_view name = "falcon_qkv";
  static constexpr auto members =
      std::tuple(needed("heads", &FalconQkv::heads), needed("kv_heads", &FalconQkv::kv_heads));
};

/// Cuts the rows into three equal blocks.
struct ThreeParts {
  std::vector<Expression> heads = {};  ///< By block: rope_pairs of so many heads; unset: none.
  ResultNames<3> to = {};
  static constexpr std::string_view name = "three_parts";
  static constexpr auto members =
      std::tuple(optional("heads", &ThreeParts::heads), needed("to", &ThreeParts::to));
};

/// Rows (heads, nope + v) become k_b (heads, columns, nope) and v_b (heads, v, columns).
struct MlaSplit {
  Expression heads = {};
  Expression nope = {};
  Expression v = {};
  ResultNames<2> to = {};
  static constexpr std::string_view name = "mla_split";
  static constexpr auto members =
      std::tuple(needed("heads", &MlaSplit::heads), needed("nope", &MlaSplit::nope),
                 needed("v", &MlaSplit::v), needed("to", &MlaSplit::to));
};

/// Keeps as many rows as the tokenizer has tokens.
struct CutRowsToVocab {
  static constexpr std::string_view name = "cut_rows_to_vocab";
  static constexpr std::tuple<> members = {};
};

/// The rows of some tokens, as a tensor of their own. The whole tensor stays if it has a name.
struct TakeRows {
  std::vector<std::string> tokens = {};  ///< Their texts, in order.
  ResultNames<1> to = {};
  ResultNames<1> whole = {};  ///< The name of the whole tensor; empty: it does not stay.
  static constexpr std::string_view name = "take_rows";
  static constexpr auto members =
      std::tuple(needed("tokens", &TakeRows::tokens), needed("to", &TakeRows::to),
                 optional("whole", &TakeRows::whole));
};

/// Leaves the tensor out.
struct DropTensor {
  static constexpr std::string_view name = "drop";
  static constexpr std::tuple<> members = {};
};

/// Leaves out the tensors of layers from `first` on.
struct DropLayers {
  Expression first = {};
  static constexpr std::string_view name = "drop_layers";
  static constexpr auto members = std::tuple(needed("first", &DropLayers::first));
};

/// Leaves out a tensor of zeros; refuses other values.
struct DropZeros {
  static constexpr std::string_view name = "drop_if_all_zero";
  static constexpr std::tuple<> members = {};
};

/// Tensors become one, with a further axis in front. `{expert}` is the number of each; the values
/// of `{part}` make a stack each, and the stacks of a layer are written together.
struct StackTensors {
  Expression count = {};
  ResultNames<1> to = {};
  static constexpr std::string_view name = "stack";
  static constexpr auto members =
      std::tuple(needed("count", &StackTensors::count), needed("to", &StackTensors::to));
};

/// Blocks of MXFP4 and their scales become one tensor for each name, whose rows take turns.
struct Mxfp4Blocks {
  std::string scales = {};  ///< The name of the scales.
  std::vector<std::string> to = {};
  static constexpr std::string_view name = "mxfp4";
  static constexpr auto members =
      std::tuple(needed("scales", &Mxfp4Blocks::scales), needed("to", &Mxfp4Blocks::to));
};

/// Drops all axes of one position.
struct Squeeze {
  static constexpr std::string_view name = "squeeze";
  static constexpr std::tuple<> members = {};
};

/// Drops an axis of one position.
struct SqueezeAxis {
  std::int64_t axis = 0;  ///< Below 0: from the end.
  static constexpr std::string_view name = "squeeze_axis";
  static constexpr auto members = std::tuple(needed("axis", &SqueezeAxis::axis));
};

/// [n] becomes [n, 1].
struct AppendAxis {
  static constexpr std::string_view name = "append_axis";
  static constexpr std::tuple<> members = {};
};

/// The same numbers in another shape.
struct Reshape {
  std::vector<Expression> shape = {};  ///< One may be null: as long as is left.
  static constexpr std::string_view name = "reshape";
  static constexpr auto members = std::tuple(needed("shape", &Reshape::shape));
};

/// The kernels of a convolution, [rows, 1, k] or [rows, k], become [1, rows, 1, k].
struct ReshapeConv {
  static constexpr std::string_view name = "reshape_conv";
  static constexpr std::tuple<> members = {};
};

/// x becomes -(e^x).
struct NegExp {
  static constexpr std::string_view name = "neg_exp";
  static constexpr std::tuple<> members = {};
};

/// x becomes ln(1 + e^x).
struct Softplus {
  static constexpr std::string_view name = "softplus";
  static constexpr std::tuple<> members = {};
};

/// Multiplies by each number in turn, and rounds each product.
struct Multiply {
  std::vector<Expression> by = {};  ///< A list counts as its numbers.
  static constexpr std::string_view name = "multiply";
  static constexpr auto members = std::tuple(needed("by", &Multiply::by));
};

/// Multiplies blocks of rows by a number each.
struct MultiplyRows {
  std::vector<Expression> by = {};     ///< A list counts as its numbers.
  std::vector<Expression> sizes = {};  ///< The rows of each block; one may be null: the rest.
  static constexpr std::string_view name = "multiply_rows";
  static constexpr auto members =
      std::tuple(needed("by", &MultiplyRows::by), needed("sizes", &MultiplyRows::sizes));
};

/// Cuts an axis into blocks of given sizes, in order.
struct SplitRows {
  std::vector<Expression> sizes = {};  ///< One may be null: the rest.
  std::vector<std::string> to = {};
  std::int64_t axis = 0;  ///< Below 0: from the end.
  static constexpr std::string_view name = "split_rows";
  static constexpr auto members =
      std::tuple(needed("sizes", &SplitRows::sizes), needed("to", &SplitRows::to),
                 optional("axis", &SplitRows::axis));
};

/// Cuts the last axis in halves, and swaps the last two axes of each.
struct SplitLastHalfTransposed {
  ResultNames<2> to = {};
  static constexpr std::string_view name = "split_last_half_transposed";
  static constexpr auto members = std::tuple(needed("to", &SplitLastHalfTransposed::to));
};

/// Rows (heads, q + k + v + z): all of q, all of k and all of v make one tensor, all of z another.
struct QkvzSplit {
  Expression heads = {};
  Expression key_size = {};    ///< The rows of q, and those of k, of a head.
  Expression value_size = {};  ///< The rows of v, and those of z, of a head.
  ResultNames<2> to = {};
  static constexpr std::string_view name = "qkvz_split";
  static constexpr auto members =
      std::tuple(needed("heads", &QkvzSplit::heads), needed("key_size", &QkvzSplit::key_size),
                 needed("value_size", &QkvzSplit::value_size), needed("to", &QkvzSplit::to));
};

/// An axis (key heads, value heads of a key head, d) becomes (value heads of a key head, key heads,
/// d), but for its beginning.
struct ReorderVHeads {
  Expression key_heads = {};
  Expression value_heads = {};  ///< Of all key heads together.
  Expression first = {};        ///< Where they begin, of rows; unset: at 0.
  std::int64_t axis = 0;        ///< Below 0: from the end.
  static constexpr std::string_view name = "reorder_v_heads";
  static constexpr auto members =
      std::tuple(needed("key_heads", &ReorderVHeads::key_heads),
                 needed("value_heads", &ReorderVHeads::value_heads),
                 optional("first", &ReorderVHeads::first), optional("axis", &ReorderVHeads::axis));
};

/// The first `rotary` rows (a, b, r) of each head become (b, a, r): with b = 2 and r = 1 the even
/// ones, then the odd ones.
struct RegroupHeads {
  Expression head_size = {};
  Expression rotary = {};              ///< Unset: all rows.
  std::vector<Expression> sizes = {};  ///< a, b, r, of which one may be unset.
  Expression heads = {};               ///< The heads that change, the first ones; unset: all.
  static constexpr std::string_view name = "regroup_heads";
  static constexpr auto members = std::tuple(
      needed("head_size", &RegroupHeads::head_size), optional("rotary", &RegroupHeads::rotary),
      needed("sizes", &RegroupHeads::sizes), optional("heads", &RegroupHeads::heads));
};

/// Rows (count, r) become two axes.
struct ViewExperts {
  Expression count = {};
  ResultNames<1> to = {};  ///< Empty: the name stays.
  static constexpr std::string_view name = "view_experts";
  static constexpr auto members =
      std::tuple(needed("count", &ViewExperts::count), optional("to", &ViewExperts::to));
};

/// Appends rows of zeros until there are so many.
struct PadRows {
  Expression rows = {};
  static constexpr std::string_view name = "pad_rows";
  static constexpr auto members = std::tuple(needed("rows", &PadRows::rows));
};

/// Puts the first row in the place of each of so many.
struct RepeatFirstRow {
  Expression count = {};
  static constexpr std::string_view name = "repeat_first_row";
  static constexpr auto members = std::tuple(needed("count", &RepeatFirstRow::count));
};

/// Leaves out the first rows.
struct DropRows {
  Expression first = {};  ///< How many.
  static constexpr std::string_view name = "drop_rows";
  static constexpr auto members = std::tuple(needed("first", &DropRows::first));
};

/// Drops the second axis, of one position, and puts zeros before position 0 of the first.
struct ZeroSlot {
  static constexpr std::string_view name = "zero_slot";
  static constexpr std::tuple<> members = {};
};

/// Divides each column of a matrix by its length + 1e-7.
struct NormalizeColumns {
  static constexpr std::string_view name = "normalize_columns";
  static constexpr std::tuple<> members = {};
};

/// Subtracts the mean of all numbers.
struct SubtractMean {
  static constexpr std::string_view name = "subtract_mean";
  static constexpr std::tuple<> members = {};
};

/// Rounds to -1, 0 and 1 times the mean of the absolute values.
struct Ternary {
  static constexpr std::string_view name = "ternary";
  static constexpr std::tuple<> members = {};
};

/// Takes the first of several tensors that mean the same.
struct FirstOnly {
  ResultNames<1> to = {};
  static constexpr std::string_view name = "first_only";
  static constexpr auto members = std::tuple(needed("to", &FirstOnly::to));
};

/// Leaves the tensor out if its numbers are those of another one, which comes before it.
struct DropIfEqual {
  std::string other = {};  ///< Its name before any transform.
  static constexpr std::string_view name = "drop_if_equal";
  static constexpr auto members = std::tuple(needed("other", &DropIfEqual::other));
};

/// Gives the tensor its name in GGUF.
struct ExactName {
  ResultNames<1> to = {};
  static constexpr std::string_view name = "exact";
  static constexpr auto members = std::tuple(needed("to", &ExactName::to));
};

/// Positions of a square, [1, n * n, width], become those of a square of another side: each is
/// mixed of its four neighbours, and corners stay corners.
struct ResizeGrid {
  Expression side = {};
  static constexpr std::string_view name = "resize_grid";
  static constexpr auto members = std::tuple(needed("side", &ResizeGrid::side));
};

using TransformOperation =
    std::variant<RopePairs, Transpose, AddValue, RenameTensor, SplitRowsHalf, Deinterleave,
                 TransposeDeinterleave, SplitInterleavedQkv, GroupedQkv, FalconQkv, ThreeParts,
                 MlaSplit, CutRowsToVocab, TakeRows, DropTensor, DropLayers, DropZeros,
                 StackTensors, Mxfp4Blocks, Squeeze, SqueezeAxis, AppendAxis, Reshape, ReshapeConv,
                 NegExp, Softplus, Multiply, MultiplyRows, SplitRows, SplitLastHalfTransposed,
                 QkvzSplit, ReorderVHeads, RegroupHeads, ViewExperts, PadRows, RepeatFirstRow,
                 DropRows, ZeroSlot, NormalizeColumns, SubtractMean, Ternary, FirstOnly,
                 DropIfEqual, ExactName, StackParts, JoinColumns, CopyTensor, AsInt32,
                 FromPositions, Mxfp4Stack, Renumber, BatchNorm, ResizeGrid>;

/// A transform of the tensors with certain names.
struct TransformRule {
  std::vector<NamePattern> names = {};
  std::vector<std::string> parts = {};  ///< The values of {part}, in order.
  Expression when = {};                 ///< If set, the rule counts only where this is true.
  TransformOperation operation = {};
};

}  // namespace ingot::huggingface
