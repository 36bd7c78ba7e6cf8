// SPDX-License-Identifier: MIT
// The transforms of the rules: each makes of one view one or more.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "huggingface/rules/architecture_rules.hpp"
#include "huggingface/import/tensors/tensor_view.hpp"
#include "ingot/error.hpp"
#include "ingot/metadata.hpp"

namespace ingot::huggingface {

struct TransformContext {
  const RuleContext& rules;
  Array tokens = {};  ///< The texts of the tokens, by id; empty: not known.
};

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
  /// The tensors of a stack that were there so far, by part and number.
  struct Stack {
    std::size_t wanted = 0;
    std::map<std::pair<std::size_t, std::uint64_t>, TensorView> views;
  };

  [[nodiscard]] Result<std::vector<TensorView>> apply_rule(const TransformRule& rule,
                                                           std::size_t position, TensorView view);
  [[nodiscard]] Result<std::vector<TensorView>> add_to_stack(const TransformRule& rule,
                                                             std::size_t position,
                                                             const NameParts& parts,
                                                             TensorView view);

  const Architecture& architecture_;
  const TransformContext& context_;
  std::map<std::pair<std::size_t, std::string>, Stack> stacks_;  // stacks by rule and layer
};

}  // namespace ingot::huggingface
