// SPDX-License-Identifier: MIT
// What an operation does to a tensor, and how an export undoes it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "huggingface/import/tensors/tensor_view.hpp"
#include "huggingface/rules/transform_rule.hpp"
#include "ingot/error.hpp"
#include "ingot/metadata.hpp"

namespace ingot::huggingface {

struct TransformContext {
  const RuleContext& rules;
  Array tokens = {};  ///< The texts of the tokens, by id; empty: not known.
};

/// The tensors of a stack that were there so far, by part and number.
struct WaitingStack {
  std::size_t wanted = 0;
  std::map<std::pair<std::size_t, std::uint64_t>, TensorView> views = {};
};

/// What rules remember until other tensors come.
struct WaitingTensors {
  std::map<std::pair<const TransformRule*, std::string>, WaitingStack> stacks = {};  // by layer
  std::set<std::pair<const TransformRule*, std::string>> taken = {};  // results of first_only
  std::map<std::string, TensorView, std::less<>> compared = {};       // those of drop_if_equal
};

/// One rule meeting one tensor.
struct TransformStep {
  const TransformRule& rule;
  const TransformContext& context;
  const NameParts& parts;   ///< The parts of `name`.
  const std::string& name;  ///< The name before the transform.
  WaitingTensors& waiting;

  /// A number of the rule, above 0.
  [[nodiscard]] Result<std::uint64_t> number(const Expression& expression,
                                             std::string_view which) const;
  [[nodiscard]] std::string_view operation_name() const;
  /// The name of a result.
  [[nodiscard]] Result<std::string> filled(const std::string& pattern) const;
};

/// Applies the operation of the step's rule. The result is empty if the tensor is left out, or
/// waits for others.
[[nodiscard]] Result<std::vector<TensorView>> apply_operation(const TransformStep& step,
                                                              TensorView view);

/// Gives a number from before an import.
using ReturnedNumber = std::function<float(float number)>;

/// A tensor on its way back to the folder, and what is to be done to its numbers.
struct ReturningTensor {
  std::string_view name;
  std::vector<std::uint64_t> shape;    ///< Dimension 0, the fastest-varying, first.
  std::uint64_t interleaved_rows = 0;  ///< As in OutputTensor.
  ReturnedNumber number = {};          ///< Unset: all stay what they are.
};

/// Undoes the operation of a rule. Errc::import_refused if it has no way back, or arranges.
[[nodiscard]] Result<void> undo_operation(const TransformRule& rule, const RuleContext& context,
                                          ReturningTensor& tensor);

/// Whether a rule puts numbers into another order, or cuts tensors apart, so that its way back is
/// its own arrangement turned round.
[[nodiscard]] bool arranges(const TransformRule& rule);

/// The names of what a rule makes of a tensor.
[[nodiscard]] Result<std::vector<std::string>> result_names(const TransformRule& rule,
                                                            const NameParts& parts,
                                                            const std::string& name);

/// The shape, row-major, of the tensor of which a rule that arranges made tensors of these shapes.
[[nodiscard]] Result<std::vector<std::uint64_t>> shape_before_operation(
    const TransformRule& rule, const RuleContext& context,
    std::span<const std::vector<std::uint64_t>> shapes);

}  // namespace ingot::huggingface
