// SPDX-License-Identifier: MIT
// The operations that rules apply to tensors, each with the members of its JSON. What they do is in
// import/tensors/operations.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "huggingface/rules/name_pattern.hpp"
#include "huggingface/rules/rule_expression.hpp"

namespace ingot::huggingface {

/// A member of an operation's JSON.
template <class Operation, class Value>
struct OperationMember {
  std::string_view name;
  Value Operation::*place;
  bool is_needed;
};

template <class Operation, class Value>
[[nodiscard]] constexpr OperationMember<Operation, Value> needed(std::string_view name,
                                                                 Value Operation::*place) {
  return {name, place, true};
}

template <class Operation, class Value>
[[nodiscard]] constexpr OperationMember<Operation, Value> optional(std::string_view name,
                                                                   Value Operation::*place) {
  return {name, place, false};
}

/// The names of an operation's results: patterns that fill_pattern fills in.
template <std::size_t count>
using ResultNames = std::array<std::string, count>;

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

using TransformOperation =
    std::variant<RopePairs, Transpose, AddValue, RenameTensor, SplitRowsHalf, Deinterleave,
                 TransposeDeinterleave, SplitInterleavedQkv, GroupedQkv, FalconQkv, ThreeParts,
                 MlaSplit, CutRowsToVocab, TakeRows, DropTensor, DropLayers, DropZeros,
                 StackTensors, Mxfp4Blocks>;

/// A transform of the tensors with certain names.
struct TransformRule {
  std::vector<NamePattern> names = {};
  std::vector<std::string> parts = {};  ///< The values of {part}, in order.
  Expression when = {};                 ///< If set, the rule counts only where this is true.
  TransformOperation operation = {};
};

}  // namespace ingot::huggingface
