// SPDX-License-Identifier: MIT
#include "estimate/cache.hpp"

namespace ingot::estimate {
namespace {

constexpr std::uint64_t state_element_bytes = 4;  // states are always F32

/// The bytes of some elements of a cache. Types whose blocks do not fit were refused before.
CheckedNumber row_bytes(CheckedNumber elements, TensorType type) {
  const TensorTypeInfo& info = *find_type(type);
  if (!elements.value()) return elements;
  return CheckedNumber(*elements.value() / info.block_elements) * info.block_bytes;
}

}  // namespace

LayerCache cache_of(const Layer& layer, const detail::ProfileState& profile,
                    const RunOptions& options, const RunPlan& plan) {
  LayerCache cache;
  if (layer.is_recurrent) {
    const CheckedNumber states = CheckedNumber(options.sequences) * state_element_bytes;
    cache.rolling_bytes = states * profile.rolling_elements;
    cache.state_bytes = states * profile.state_elements;
  }
  if (!layer.has_cache) return cache;
  cache.kind = profile.is_latent ? CacheKind::latent
               : layer.slides    ? CacheKind::sliding
                                 : CacheKind::full;
  cache.cells = layer.slides ? plan.sliding_cells : plan.context_per_sequence;
  const CheckedNumber cells = CheckedNumber(cache.cells) * plan.streams;
  const CheckedNumber heads = layer.kv_heads;
  cache.key_bytes = cells * row_bytes(heads * layer.key_width, options.key_type);
  if (!profile.is_latent) {  // else values are made of the same vector
    // Without flash attention values are stored transposed, all layers as wide as the widest.
    const CheckedNumber values =
        plan.uses_flash_attention ? heads * layer.value_width : CheckedNumber(plan.largest_values);
    cache.value_bytes = cells * row_bytes(values, options.value_type);
  }
  return cache;
}

}  // namespace ingot::estimate
