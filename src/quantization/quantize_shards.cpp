// SPDX-License-Identifier: MIT
// Shards of a result that does not exist yet.
#include <utility>

#include "ingot/quantize_model.hpp"
#include "ingot/split.hpp"
#include "quantization/quantize_work.hpp"

namespace ingot {

std::vector<QuantizedShard> kept_shards(const Model& model, const QuantizePlan& plan) {
  const std::size_t count = model.files().size();
  std::vector<QuantizedShard> shards(count);
  if (count == 1) return shards;
  std::size_t next = 0;
  for (std::size_t i = 0; i < count; ++i) {
    shards[i].index = static_cast<std::uint16_t>(i);
    shards[i].count = static_cast<std::uint16_t>(count);
    shards[i].first_tensor = next;
    while (next < plan.tensors.size() && plan.tensors[next].source->shard == i) ++next;
    shards[i].tensor_count = next - shards[i].first_tensor;
  }
  return shards;
}

Result<std::vector<QuantizedShard>> cut_shards(const Model& model, const QuantizePlan& plan,
                                               const QuantizeModelOptions& options,
                                               const SplitLimits& limits) {
  INGOT_TRY(const ModelWriter keys, quantization::make_keys(model, plan, options));
  std::vector<TensorInfo> tensors;
  for (const PlannedTensor& planned : plan.tensors) {
    tensors.push_back(*planned.source);
    tensors.back().type = planned.choice.type;
    tensors.back().size_bytes = planned.size_bytes;
  }
  INGOT_TRY(const SplitPlan split,
            plan_split(keys, tensors, limits, quantization::result_format(model, options)));
  std::vector<QuantizedShard> shards;
  for (const PlannedShard& cut : split.shards) {
    shards.push_back({.first_tensor = cut.first_tensor,
                      .tensor_count = cut.tensor_count,
                      .index = static_cast<std::uint16_t>(shards.size()),
                      .count = static_cast<std::uint16_t>(split.shards.size())});
  }
  return shards;
}

}  // namespace ingot
