// SPDX-License-Identifier: MIT
#include "huggingface/import/tensors/transforms.hpp"

#include <algorithm>

#include "base/messages.hpp"
#include "huggingface/folder/refusal.hpp"

namespace ingot::huggingface {

Result<bool> applies(const TransformRule& rule, const RuleContext& context) {
  if (!rule.when.is_set()) return true;
  INGOT_TRY(const nlohmann::json condition, rule.when.evaluate(context));
  return is_truthy(condition);
}

Result<std::vector<TensorView>> Transformer::apply(TensorView view) {
  for (const TransformRule& rule : architecture_.transforms) {
    const auto* const operation = std::get_if<DropIfEqual>(&rule.operation);
    if (operation != nullptr && operation->other == view.name) {
      waiting_.compared.try_emplace(view.name, view);
    }
  }
  std::vector<TensorView> views;
  views.push_back(std::move(view));
  for (const TransformRule& rule : architecture_.transforms) {
    std::vector<TensorView> next;
    for (TensorView& one : views) {
      const std::string name = one.name;
      auto made = with_subject(name, apply_rule(rule, std::move(one)));
      if (!made) return made;
      std::move(made->begin(), made->end(), std::back_inserter(next));
    }
    views = std::move(next);
  }
  return views;
}

Result<std::vector<TensorView>> Transformer::apply_rule(const TransformRule& rule,
                                                        TensorView view) {
  const std::string name = view.name;
  for (const NamePattern& pattern : rule.names) {
    const auto parts = pattern.match(name, rule.parts);
    if (!parts) continue;
    RuleContext rules = context_.rules;
    rules.layer = parts->layer;
    const TransformContext context{.rules = rules, .tokens = context_.tokens};
    INGOT_TRY(const bool is_meant, applies(rule, rules));
    if (!is_meant) break;
    return apply_operation({rule, context, *parts, name, waiting_}, std::move(view));
  }
  std::vector<TensorView> unchanged;
  unchanged.push_back(std::move(view));
  return unchanged;
}

Result<void> Transformer::finish() const {
  if (waiting_.stacks.empty()) return {};
  const WaitingStack& stack = waiting_.stacks.begin()->second;
  return refuse(stack.views.begin()->second.name,
                "its stack has " + std::to_string(stack.views.size()) + " of " +
                    std::to_string(stack.wanted) + " tensors; the others are missing");
}

}  // namespace ingot::huggingface
