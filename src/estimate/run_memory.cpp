// SPDX-License-Identifier: MIT
#include "estimate/run_memory.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "estimate/graph_builder.hpp"

namespace ingot::estimate {
namespace {

constexpr std::uint64_t state_element_bytes = 4;  // states are always F32

/// The bytes of some elements of a cache. Types whose blocks do not fit were refused before.
CheckedNumber row_bytes(CheckedNumber elements, TensorType type) {
  const TensorTypeInfo& info = *find_type(type);
  if (!elements.value()) return elements;
  return CheckedNumber(*elements.value() / info.block_elements) * info.block_bytes;
}

/// The masks of the kinds of layers that the model has.
CheckedNumber mask_bytes(const detail::ProfileState& profile, const RunPlan& plan) {
  const std::uint64_t element_bytes = plan.uses_flash_attention ? 2 : 4;
  CheckedNumber bytes;
  for (const bool slides : {false, true}) {
    const bool is_there = std::ranges::any_of(profile.layers, [&](const Layer& layer) {
      return layer.is_attention && layer.slides == slides;
    });
    const std::uint64_t cells = profile.encodes() && profile.graph.has_position_bias
                                    ? plan.micro_batch
                                : slides ? plan.sliding_cells
                                         : plan.context_per_sequence;
    if (is_there) bytes += CheckedNumber(plan.micro_batch) * element_bytes * cells;
  }
  return bytes;
}

/// The most cells that a layer scores at once.
std::uint64_t largest_cells(const detail::ProfileState& profile, const RunPlan& plan) {
  if (profile.encodes() && profile.graph.has_position_bias) return plan.micro_batch;
  return std::ranges::all_of(profile.layers, &Layer::slides) ? plan.sliding_cells
                                                             : plan.context_per_sequence;
}

/// The most compressed keys that a layer scores at once.
std::uint64_t compressed_cells(const detail::ProfileState& profile, const RunPlan& plan) {
  std::uint64_t cells = 0;
  for (const Layer& layer : profile.layers) {
    if (layer.compressed == 0) continue;
    cells = std::max(cells, divide_up(plan.context_per_sequence, layer.compressed));
  }
  return cells;
}

/// The floats of a token that scores take: none with flash attention, unless a bias is added to
/// them. Measured: then they are there three times, and the distances beside them.
CheckedNumber score_floats(const detail::ProfileState& profile, const RunPlan& plan) {
  const std::uint64_t cells = largest_cells(profile, plan) + compressed_cells(profile, plan);
  const CheckedNumber scores = CheckedNumber(cells) * profile.graph.heads;
  if (profile.graph.has_position_bias) return scores * 3 + cells + cells / 4;
  return plan.uses_flash_attention ? CheckedNumber(0) : scores;
}

/// What an indexer adds to attention. Measured: with one latent key, a mask of its own, the scores
/// and the numbers of the tokens that it selects; else, where flash attention allows it at all, two
/// tables of scores for each group of queries and one more.
CheckedNumber indexer_bytes(const detail::ProfileState& profile, const RunPlan& plan) {
  const auto indexed = std::ranges::find_if(
      profile.layers, [](const Layer& layer) { return layer.indexer_width > 0; });
  if (indexed == profile.layers.end()) return 0;
  const std::uint64_t cells = plan.context_per_sequence;
  const CheckedNumber tokens = CheckedNumber(plan.micro_batch) * float_bytes;
  if (!profile.is_latent) {
    return plan.uses_flash_attention ? tokens * cells * (CheckedNumber(2) * indexed->kv_heads + 1)
                                     : CheckedNumber(0);
  }
  if (indexed->compressed > 0) {  // the masks are as wide as the compressed keys
    const std::uint64_t keys = compressed_cells(profile, plan);
    return tokens * (keys * 2 + keys / 4 * (plan.uses_flash_attention ? 3 : 7));
  }
  const std::uint64_t scores = plan.uses_flash_attention ? cells : cells + cells / 4 * 3;
  return mask_bytes(profile, plan) +
         tokens * (CheckedNumber(4) * std::min(profile.indexer_top_k, cells) + scores);
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
  const CheckedNumber cells = CheckedNumber(cache.cells) * plan.streams * profile.loops;
  const CheckedNumber heads = layer.kv_heads;
  cache.key_bytes = cells * row_bytes(heads * layer.key_width, options.key_type);
  if (!profile.is_latent) {  // else values are made of the same vector
    // Without flash attention values are stored transposed, all layers as wide as the widest.
    const CheckedNumber values =
        plan.uses_flash_attention ? heads * layer.value_width : CheckedNumber(plan.largest_values);
    cache.value_bytes = cells * row_bytes(values, options.value_type);
  }
  CheckedNumber selected = cells;
  if (layer.compressed > 0) {
    cache.compressed_cells = rounded_cells(divide_up(plan.context_per_sequence, layer.compressed));
    selected = CheckedNumber(cache.compressed_cells) * plan.streams;
    cache.compressed_bytes = selected * row_bytes(heads * layer.key_width, options.key_type);
    cache.compressor_bytes = CheckedNumber(plan.streams) * state_element_bytes * layer.state_floats;
  }
  if (layer.indexer_width > 0) {
    cache.indexer_key_bytes = selected * row_bytes(layer.indexer_width, options.key_type);
    if (!profile.is_latent) {
      cache.indexer_value_bytes = cells * row_bytes(layer.value_width, options.value_type);
    }
  }
  return cache;
}

WorkSpace work_space_of(const detail::ProfileState& profile, const RunPlan& plan) {
  const GraphFloats& graph = profile.graph;
  const CheckedNumber tokens = CheckedNumber(plan.micro_batch) * float_bytes;
  WorkSpace space;
  space.mask = mask_bytes(profile, plan);
  space.embedding = tokens * profile.embedding;
  space.is_gate_fused = graph.is_gate_fused;
  if (!profile.encodes()) {
    space.output =
        tokens * (CheckedNumber(profile.vocabulary) + CheckedNumber(2) * profile.embedding);
  }
  if (graph.has_attention) {
    space.attention = space.mask + tokens * (graph.attention + score_floats(profile, plan));
  }
  if (graph.has_feed_forward) {
    space.feed_forward = space.mask + tokens * graph.feed_forward;
    space.feed_forward_device = space.mask + tokens * graph.feed_forward_device;
  }
  if (graph.has_experts) space.experts = space.mask + tokens * graph.experts;
  if (graph.has_state) {
    const CheckedNumber pairs = CheckedNumber(graph.state_pairs) * plan.micro_batch;
    space.state = tokens * (graph.state + pairs);
    if (graph.state_pairs > 0) space.state += space.mask;
    // One of the three tables is an input, which stays.
    const CheckedNumber pair_table = tokens * (graph.state_pairs / 3) * plan.micro_batch;
    space.attention += pair_table;
    space.experts += pair_table;
  }
  space.output = max(space.output, tokens * graph.whole);
  space.host = follow_graph(profile, plan)
                   .value_or(GraphPhases{space.output, space.attention, space.feed_forward,
                                         space.experts, space.state});
  const CheckedNumber indexer = indexer_bytes(profile, plan);
  space.attention += indexer;
  space.host.attention += indexer;
  return space;
}

CheckedNumber WorkSpace::on_host() const noexcept {
  return max(max(max(host.output, host.attention), max(host.feed_forward, host.experts)),
             host.state);
}

CheckedNumber WorkSpace::layers_on_device() const noexcept {
  return max(max(attention, feed_forward_device), max(experts, state));
}

CheckedNumber WorkSpace::output_on_device() const noexcept {
  return is_gate_fused ? output + mask : output;
}

Result<ComputeTerms> terms_of(const WorkSpace& space) {
  ComputeTerms terms;
  if (!space.on_host().value() || !space.mask.value()) {
    return fail(Errc::size_overflow, "the work space");
  }
  terms.mask = *space.mask.value();
  terms.output = *space.host.output.value();
  terms.attention = *space.host.attention.value();
  terms.feed_forward = *space.host.feed_forward.value();
  terms.experts = *space.host.experts.value();
  terms.state = *space.host.state.value();
  const std::array<std::pair<std::string_view, std::uint64_t>, 5> phases = {{
      {"output", terms.output},
      {"attention", terms.attention},
      {"feed_forward", terms.feed_forward},
      {"experts", terms.experts},
      {"state", terms.state},
  }};
  const auto largest = std::ranges::max_element(
      phases, [](const auto& a, const auto& b) { return a.second < b.second; });
  terms.largest = largest->first;
  return terms;
}

}  // namespace ingot::estimate
