// SPDX-License-Identifier: MIT
// Attention, as llama.cpp 0.5.0 builds it.
#include <algorithm>

#include "estimate/graph_builder.hpp"

namespace ingot::estimate {

using Tensor = Graph::Tensor;

namespace {
constexpr std::uint64_t half_bytes = 2;  // of an element in flash attention
}

bool GraphBuilder::rotates(const Layer& layer) const noexcept {
  switch (facts_.rotates) {
    case Rotates::all:
      return !profile_.has_position_table;
    case Rotates::none:
      return false;
    case Rotates::in_windows:
      return layer.slides;
    case Rotates::if_finetuned:
      return profile_.is_rope_finetuned;
    case Rotates::if_32_layers:
      return profile_.layers.size() == 32;
  }
  return true;
}

/// The output of attention, for all tokens.
Tensor GraphBuilder::attend(const Layer& layer, Tensor input) {
  Heads heads =
      layer.tensors.compressed_rows > 0 ? latent_heads_of(layer, input) : heads_of(layer, input);
  if (profile_.has_cache()) store_heads(layer, heads);
  const CheckedNumber width = CheckedNumber(layer.heads) * layer.value_width;
  Tensor made = profile_.has_cache() ? score(layer, heads) : score_encoder(layer, heads);
  graph_.expand(made);
  if (profile_.has_cache() && plan_.value_rotation > 0 && !profile_.is_latent) {
    made = turn(made, width, inputs_of(layer).value_rotation);
  }
  if (heads.gate_source.exists()) {
    made = add(width, made, graph_.make(rows(width), {heads.gate_source}));
  }
  return multiply(width_, made);
}

GraphBuilder::Heads GraphBuilder::heads_of(const Layer& layer, Tensor input) {
  const LayerTensors& tensors = layer.tensors;
  const CheckedNumber queries = CheckedNumber(layer.heads) * layer.key_width;
  const CheckedNumber keys = CheckedNumber(layer.kv_heads) * layer.key_width;
  const CheckedNumber values = CheckedNumber(layer.kv_heads) * layer.value_width;
  // What is normed or rotated is read in another shape first, so it takes a place of its own.
  const bool copies = rotates(layer) || tensors.has_query_norm;
  Heads heads;
  if (tensors.has_fused_queries) {
    const Tensor all = multiply(queries + keys + values, input);
    heads = {all.view(), all.view(), all.view(), {}};
  } else {
    const bool has_gate =
        tensors.query_rows > 0 && tensors.query_rows == 2 * layer.heads * layer.key_width;
    heads.query = multiply(has_gate ? CheckedNumber(2) * queries : queries, input);
    if (has_gate) heads.gate_source = heads.query;
    if (layer.has_cache || !profile_.has_cache()) {
      heads.key = multiply(keys, input).view();
      heads.value = multiply(values, input).view();
    }
  }
  const Tensor positions = rotates(layer) ? positions_ : Tensor();
  if (copies || facts_.scales_queries) {
    heads.query = graph_.make(rows(queries), {heads.query, positions});
  }
  if (copies && heads.key.exists()) heads.key = graph_.make(rows(keys), {heads.key, positions});
  return heads;
}

/// MLA: keys and values of all heads come from one narrow vector.
GraphBuilder::Heads GraphBuilder::latent_heads_of(const Layer& layer, Tensor input) {
  const LayerTensors& tensors = layer.tensors;
  const CheckedNumber heads = layer.heads;
  const std::uint64_t rank = tensors.compressed_width;
  const std::uint64_t rope = tensors.compressed_rows - std::min(rank, tensors.compressed_rows);
  const std::uint64_t whole = profile_.is_latent ? profile_.head_key_width : layer.key_width;
  Tensor query_input = input;
  if (tensors.query_rank > 0) {
    query_input = norm(tensors.query_rank, multiply(tensors.query_rank, input));
  }
  const Tensor query = multiply(heads * whole, query_input);
  const Tensor narrow = multiply(tensors.compressed_rows, input);
  const Tensor normed = graph_.make(rows(rank), {narrow});
  const Tensor position = graph_.make(rows(rope), {narrow, positions_});
  if (profile_.is_latent) {
    const Tensor absorbed = graph_.make(rows(heads * rank), {query});
    const Tensor turned = graph_.make(rows(heads * rope), {query, positions_});
    return {graph_.make(rows(heads * tensors.compressed_rows), {absorbed, turned}),
            graph_.make(rows(tensors.compressed_rows), {normed, position}),
            normed.view(),
            {}};
  }
  const CheckedNumber unturned = whole - std::min(rope, whole);
  const Tensor wide = multiply(heads * (unturned + layer.value_width), normed);
  const Tensor value = graph_.make(rows(heads * layer.value_width), {wide});
  const Tensor repeated = graph_.make(rows(heads * rope), {position});
  return {graph_.make(rows(heads * whole), {query, positions_}),
          graph_.make(rows(heads * whole), {wide, repeated}),
          value,
          {}};
}

/// Heads multiplied by a matrix that spreads outliers, before they are quantized.
Tensor GraphBuilder::turn(Tensor heads, CheckedNumber width, Tensor rotation) {
  return graph_.make(rows(width), {rotation, heads}).view();
}

void GraphBuilder::store_heads(const Layer& layer, Heads& heads) {
  const CacheInputs& inputs = inputs_of(layer);
  const bool is_fused = layer.tensors.has_fused_queries;
  const CheckedNumber queries = CheckedNumber(layer.heads) * layer.key_width;
  const CheckedNumber keys = CheckedNumber(layer.kv_heads) * layer.key_width;
  const CheckedNumber values = CheckedNumber(layer.kv_heads) * layer.value_width;
  // Parts of a fused matrix are copied out of it first.
  const auto whole = [&](Tensor part, CheckedNumber width, bool is_part) {
    return is_part ? graph_.make(rows(width), {part}) : part;
  };
  const bool is_part = is_fused && !rotates(layer) && !layer.tensors.has_query_norm;
  if (plan_.key_rotation > 0 && !profile_.is_latent) {
    heads.query = turn(whole(heads.query, queries, is_part), queries, inputs.key_rotation);
    if (heads.key.exists()) {
      heads.key = turn(whole(heads.key, keys, is_part), keys, inputs.key_rotation);
    }
  }
  if (plan_.value_rotation > 0 && !profile_.is_latent && heads.value.exists()) {
    heads.value = turn(whole(heads.value, values, is_fused), values, inputs.value_rotation);
  }
  graph_.expand(heads.query);
  const bool keys_first = profile_.has_windows();
  graph_.expand(keys_first ? heads.key : heads.value);
  graph_.expand(keys_first ? heads.value : heads.key);
  if (!heads.key.exists()) return;
  graph_.store({heads.key, inputs.key_places});
  if (profile_.is_latent) return;
  if (!plan_.uses_flash_attention && is_fused && plan_.value_rotation == 0) {
    heads.value = graph_.make(rows(values), {heads.value});
  }
  graph_.store({heads.value, inputs.value_places});
}

/// The values of all heads that the queries look at, from a cache.
Tensor GraphBuilder::score(const Layer& layer, const Heads& heads) {
  const CacheInputs& inputs = inputs_of(layer);
  const std::uint64_t cells = layer.slides ? plan_.sliding_cells : plan_.context_per_sequence;
  const CheckedNumber made = CheckedNumber(layer.heads) * layer.value_width;
  const CheckedNumber own = CheckedNumber(layer.heads) * profile_.head_value_width;
  const CheckedNumber all_cells = CheckedNumber(cells) * plan_.streams;
  if (plan_.uses_flash_attention) {
    const auto halves = [&](bool is_cast, std::uint64_t width) {
      return is_cast ? graph_.make(all_cells * layer.kv_heads * width * half_bytes, {}) : Tensor();
    };
    Tensor result =
        graph_.make(rows(made), {heads.query.view(), halves(plan_.casts_keys, layer.key_width),
                                 halves(plan_.casts_values, layer.value_width), inputs.mask});
    if (!profile_.is_latent) return result.view();
    return graph_.make(rows(own), {graph_.make(rows(own), {result})});
  }
  const CheckedNumber score_width = CheckedNumber(layer.heads) * cells;
  Tensor copied;
  if (profile_.is_latent) {
    // The values are copied out of the cache, turned round.
    copied = graph_.make(all_cells * layer.value_width * plan_.value_bytes, {});
    graph_.expand(copied);
  }
  const Tensor scores = graph_.make(rows(score_width), {heads.query.view()});
  const Tensor shares = graph_.change(rows(score_width), {scores, inputs.mask});
  Tensor result = graph_.make(rows(made), {copied, shares});
  if (profile_.is_latent) result = graph_.make(rows(own), {result});
  return graph_.make(rows(profile_.is_latent ? own : made), {result});
}

/// The same without a cache.
Tensor GraphBuilder::score_encoder(const Layer& layer, const Heads& heads) {
  const CacheInputs& inputs = inputs_of(layer);
  const CheckedNumber keys = CheckedNumber(layer.kv_heads) * layer.key_width;
  const CheckedNumber values = CheckedNumber(layer.kv_heads) * layer.value_width;
  const CheckedNumber made = CheckedNumber(layer.heads) * layer.value_width;
  for (const Tensor part : {heads.query, heads.key, heads.value}) graph_.expand(part);
  if (plan_.uses_flash_attention) {
    const Tensor key = graph_.make(tokens_ * keys * half_bytes, {heads.key});
    const Tensor value = graph_.make(tokens_ * values * half_bytes, {heads.value});
    return graph_.make(rows(made), {heads.query.view(), key, value, inputs.mask});
  }
  const Tensor value = graph_.make(rows(values), {heads.value});
  graph_.expand(value);
  const CheckedNumber score_width = CheckedNumber(layer.heads) * tokens_;
  const Tensor scores = graph_.make(rows(score_width), {heads.key, heads.query.view()});
  const Tensor shares = graph_.change(rows(score_width), {scores, inputs.mask});
  return graph_.make(rows(made), {graph_.make(rows(made), {value, shares})});
}

}  // namespace ingot::estimate
