// SPDX-License-Identifier: MIT
// The transforms of the rules: each makes of one view one or more.
#pragma once

#include <vector>

#include "huggingface/import/tensors/rule_operations.hpp"
#include "huggingface/import/tensors/tensor_view.hpp"
#include "huggingface/rules/architecture_rules.hpp"
#include "ingot/error.hpp"

namespace ingot::huggingface {

/// Whether a transform is to be made, by its "when".
[[nodiscard]] Result<bool> applies(const TransformRule& rule, const RuleContext& context);

/// Applies the transforms of an architecture to its tensors, one after the other.
class Transformer {
 public:
  Transformer(const Architecture& architecture, const TransformContext& context)
      : architecture_(architecture), context_(context) {}

  /// Transforms a tensor. The result is empty if the tensor is dropped, or waits for the others of
  /// its stack.
  [[nodiscard]] Result<std::vector<TensorView>> apply(TensorView view);

  /// Fails with Errc::import_refused if a stack lacks tensors.
  [[nodiscard]] Result<void> finish() const;

 private:
  [[nodiscard]] Result<std::vector<TensorView>> apply_rule(const TransformRule& rule,
                                                           TensorView view);

  const Architecture& architecture_;
  const TransformContext& context_;
  WaitingTensors waiting_;
};

}  // namespace ingot::huggingface
