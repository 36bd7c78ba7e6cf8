// SPDX-License-Identifier: MIT
// The transforms of one tensor.
#pragma once

#include <string>
#include <vector>

#include "huggingface/import/tensors/transforms.hpp"

namespace ingot::huggingface {

struct TransformStep {
  const TransformRule& rule;
  const TransformContext& context;
  const NameParts& parts;   ///< The parts of `name`.
  const std::string& name;  ///< The name before the transform.

  /// A number of the rule, above 0.
  [[nodiscard]] Result<std::uint64_t> number(std::string_view which) const;
  /// The name of a result.
  [[nodiscard]] Result<std::string> result_name(std::size_t index) const;
};

using Views = Result<std::vector<TensorView>>;

/// Rows (heads, 2, r) become (heads, r, 2): from halves to neighbouring pairs.
[[nodiscard]] Views rope_pairs(const TransformStep& step, TensorView view);
/// Swaps the last two axes.
[[nodiscard]] Views transpose(const TransformStep& step, TensorView view);
/// Adds a number.
[[nodiscard]] Views add(const TransformStep& step, TensorView view);
/// Gives it another name, with "when" only if that is true.
[[nodiscard]] Views rename(const TransformStep& step, TensorView view);
/// The first and the second half along the last axis but one.
[[nodiscard]] Views split_rows_half(const TransformStep& step, TensorView view);
/// The even and the odd positions of an axis.
[[nodiscard]] Views deinterleave(const TransformStep& step, TensorView view);
[[nodiscard]] Views transpose_deinterleave(const TransformStep& step, TensorView view);
/// Rows (heads, 3, r) become (3, heads, r).
[[nodiscard]] Views split_interleaved_qkv(const TransformStep& step, TensorView view);
/// Rows (groups, queries of a group + 2, r) become three tensors: queries, keys, values.
[[nodiscard]] Views grouped_qkv(const TransformStep& step, TensorView view);
/// Splits and joins again: all queries, all keys, all values.
[[nodiscard]] Views falcon_qkv(const TransformStep& step, TensorView view);
/// Cuts the rows into three equal blocks.
[[nodiscard]] Views three_parts(const TransformStep& step, TensorView view);
/// Rows (heads, nope + v) become k_b (heads, columns, nope) and v_b (heads, v, columns).
[[nodiscard]] Views mla_split(const TransformStep& step, TensorView view);
/// Keeps as many rows as the tokenizer has tokens.
[[nodiscard]] Views cut_rows_to_vocab(const TransformStep& step, TensorView view);
/// The rows of "tokens", as a tensor of their own; the whole tensor stays if it has a name, too.
/// With "when" only if that is true.
[[nodiscard]] Views take_rows(const TransformStep& step, TensorView view);
/// Drops the tensor, with "when" only if that is true.
[[nodiscard]] Views drop(const TransformStep& step, TensorView view);
/// Drops the tensors of layers from "first" on.
[[nodiscard]] Views drop_layers(const TransformStep& step, TensorView view);
/// Drops a tensor of zeros; refuses other values.
[[nodiscard]] Views drop_zeros(const TransformStep& step, TensorView view);

}  // namespace ingot::huggingface
