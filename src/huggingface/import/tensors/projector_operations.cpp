// SPDX-License-Identifier: MIT
// Operations that encoders of images and sound need.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>

#include "huggingface/folder/config.hpp"
#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tensors/changed_numbers.hpp"
#include "huggingface/import/tensors/operation_steps.hpp"

namespace ingot::huggingface {
namespace {

/// What PyTorch adds to a variance.
constexpr float batch_norm_epsilon = 1e-5F;

/// The parts of a batch norm, in the order of a rule's `parts`.
enum BatchNormPart : std::size_t { weight, bias, running_mean, running_var, batch_norm_parts };

using Numbers = std::shared_ptr<const NumberSource>;

/// Changes each number by the one in the same place of `other`.
Numbers combine(Numbers numbers, Numbers other, float (*change)(float number, float other)) {
  return change_numbers(
      std::move(numbers),
      [other = std::move(other), change](std::uint64_t first,
                                         std::span<float> changed) -> Result<void> {
        std::vector<std::byte> scratch;
        std::vector<float> others(changed.size());
        INGOT_TRY_VOID(read_floats(*other, first, scratch, others));
        std::ranges::transform(changed, others, changed.begin(), change);
        return {};
      },
      TensorType::f32);
}

}  // namespace

Views apply(const Renumber& operation, const TransformStep& step, TensorView view) {
  INGOT_TRY(const nlohmann::json value, operation.layer.evaluate(step.context.rules));
  NameParts parts = step.parts;
  INGOT_TRY(parts.layer, count_of(value, "the layer of " + view.name));
  INGOT_TRY(view.name, fill_pattern(operation.to[0], parts, step.name));
  return list_of(std::move(view));
}

Views apply(const BatchNorm& operation, const TransformStep& step, TensorView view) {
  const std::vector<std::string>& names = step.rule.parts;
  const auto part =
      static_cast<std::size_t>(std::ranges::find(names, step.parts.part) - names.begin());
  INGOT_TRY_VOID(make_uncut(view));
  auto& stacks = step.waiting.stacks;
  const std::string layer = std::to_string(step.parts.layer.value_or(0));
  const auto stack = stacks.try_emplace({&step.rule, layer}).first;
  stack->second.wanted = batch_norm_parts;
  stack->second.views.try_emplace({part, 0}, std::move(view));
  if (stack->second.views.size() < batch_norm_parts) return list_of();

  WaitingStack whole = std::move(stacks.extract(stack).mapped());
  const auto of = [&](BatchNormPart wanted) -> TensorView& { return whole.views.at({wanted, 0}); };
  const auto numbers = [&](BatchNormPart wanted) { return of(wanted).parts.front().source; };
  for (const auto& [place, one] : whole.views) {
    if (one.shape != of(weight).shape) {
      return refuse(one.name, "its shape differs from that of the weight");
    }
  }
  const Numbers factor = combine(numbers(weight), numbers(running_var), [](float w, float var) {
    return w / std::sqrt(var + batch_norm_epsilon);
  });
  const Numbers shift =
      combine(numbers(running_mean), factor, [](float mean, float by) { return mean * by; });
  TensorView multiplied = of(weight);
  multiplied.parts.front().source = factor;
  TensorView added = of(bias);
  added.parts.front().source =
      combine(numbers(bias), shift, [](float b, float by) { return b - by; });
  for (const auto& [place, one] : whole.views) {
    if (place.first != weight) multiplied.sources.push_back(one.sources.front());
  }
  added.sources = multiplied.sources;
  return named_halves(step, operation.to, std::move(multiplied), std::move(added));
}

}  // namespace ingot::huggingface
