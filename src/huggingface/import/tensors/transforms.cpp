// SPDX-License-Identifier: MIT
#include "huggingface/import/tensors/transforms.hpp"

#include <algorithm>
#include <array>

#include "base/messages.hpp"
#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tensors/transform_steps.hpp"

namespace ingot::huggingface {
namespace {

constexpr std::uint64_t max_stacked = 65'536;

struct TransformRow {
  std::string_view name;
  Views (*step)(const TransformStep& step, TensorView view);
  bool is_listed = true;  ///< Whether the result lists the transform.
};

constexpr std::array<TransformRow, 17> transform_rows = {{
    {"rope_pairs", rope_pairs},
    {"transpose", transpose},
    {"add", add},
    {"rename", rename, false},
    {"split_rows_half", split_rows_half},
    {"deinterleave", deinterleave},
    {"transpose_deinterleave", transpose_deinterleave},
    {"split_interleaved_qkv", split_interleaved_qkv},
    {"grouped_qkv", grouped_qkv},
    {"falcon_qkv", falcon_qkv},
    {"three_parts", three_parts},
    {"mla_split", mla_split},
    {"cut_rows_to_vocab", cut_rows_to_vocab},
    {"take_rows", take_rows},
    {"drop", drop, false},
    {"drop_layers", drop_layers, false},
    {"drop_if_all_zero", drop_zeros, false},
}};

}  // namespace

Result<bool> applies(const TransformRule& rule, const RuleContext& context) {
  const auto when = rule.numbers.find("when");
  if (when == rule.numbers.end()) return true;
  INGOT_TRY(const nlohmann::json condition, when->second.evaluate(context));
  return is_truthy(condition);
}

Result<std::vector<TensorView>> Transformer::apply(TensorView view) {
  std::vector<TensorView> views;
  views.push_back(std::move(view));
  for (std::size_t i = 0; i < architecture_.transforms.size(); ++i) {
    std::vector<TensorView> next;
    for (TensorView& one : views) {
      const std::string name = one.name;
      auto made = with_subject(name, apply_rule(architecture_.transforms[i], i, std::move(one)));
      if (!made) return made;
      std::move(made->begin(), made->end(), std::back_inserter(next));
    }
    views = std::move(next);
  }
  return views;
}

Result<std::vector<TensorView>> Transformer::apply_rule(const TransformRule& rule,
                                                        std::size_t position, TensorView view) {
  const std::string name = view.name;
  for (const NamePattern& pattern : rule.names) {
    const auto parts = pattern.match(name, rule.parts);
    if (!parts) continue;
    if (rule.operation == "stack") return add_to_stack(rule, position, *parts, std::move(view));
    const TransformStep step{.rule = rule, .context = context_, .parts = *parts, .name = name};
    const auto row = std::ranges::find(transform_rows, rule.operation, &TransformRow::name);
    if (row == transform_rows.end()) return refuse("rule", "unknown transform " + rule.operation);
    if (row->is_listed) view.applied.push_back(rule.operation);
    return row->step(step, std::move(view));
  }
  std::vector<TensorView> unchanged;
  unchanged.push_back(std::move(view));
  return unchanged;
}

Result<std::vector<TensorView>> Transformer::add_to_stack(const TransformRule& rule,
                                                          std::size_t position,
                                                          const NameParts& parts, TensorView view) {
  const auto count_rule = rule.numbers.find("count");
  if (count_rule == rule.numbers.end()) return refuse("rule", "stack needs a count");
  INGOT_TRY(const std::uint64_t count,
            count_rule->second.evaluate_count(context_.rules, "the number of experts"));
  if (count > max_stacked) {
    return refuse("config.json", std::to_string(count) + " experts; at most " +
                                     std::to_string(max_stacked) + " are supported");
  }
  const auto part = std::ranges::find(rule.parts, parts.part);
  const auto part_number =
      rule.parts.empty() ? std::size_t{0} : static_cast<std::size_t>(part - rule.parts.begin());
  const std::uint64_t number = parts.expert.value_or(0);
  if (number >= count) {
    return refuse(view.name, "config.json counts " + std::to_string(count));
  }
  if (view.parts.size() != 1) return refuse(view.name, "it was joined before");
  const std::string layer = std::to_string(parts.layer.value_or(0));
  Stack& stack = stacks_[{position, layer}];
  const std::size_t part_count = std::max<std::size_t>(rule.parts.size(), 1);
  stack.wanted = static_cast<std::size_t>(count) * part_count;
  const std::string name = view.name;
  if (!stack.views.try_emplace({part_number, number}, std::move(view)).second) {
    return refuse(name, "the tensor is there twice");
  }
  std::vector<TensorView> stacked;
  if (stack.views.size() < stack.wanted) return stacked;
  for (auto& [place, one] : stack.views) {
    if (place.second == 0) {
      NameParts filled{.layer = parts.layer};
      if (!rule.parts.empty()) filled.part = rule.parts[place.first];
      TensorView& result = stacked.emplace_back();
      INGOT_TRY(result.name, fill_pattern(rule.to.at(0), filled, name));
      result.shape = one.shape;
      result.shape.insert(result.shape.begin(), count);
      result.added = one.added;
      result.applied = one.applied;
      result.applied.push_back("stack");
    }
    TensorView& result = stacked.back();
    if (!std::equal(one.shape.begin(), one.shape.end(), result.shape.begin() + 1,
                    result.shape.end())) {
      return refuse(one.name, "its shape differs from that of the first of its stack");
    }
    result.parts.push_back(std::move(one.parts.front()));
    result.sources.push_back(one.sources.front());
  }
  stacks_.erase({position, layer});
  return stacked;
}

Result<void> Transformer::finish() const {
  if (stacks_.empty()) return {};
  const Stack& stack = stacks_.begin()->second;
  return refuse(stack.views.begin()->second.name,
                "its stack has " + std::to_string(stack.views.size()) + " of " +
                    std::to_string(stack.wanted) + " tensors; the others are missing");
}

}  // namespace ingot::huggingface
