// SPDX-License-Identifier: MIT
// Source: the graphs of llama.cpp 0.5.0, as its scheduler gets them. What nobody else reads is
// changed in its place, so biases, scales and most norms do not show here.
#include <algorithm>

#include "estimate/graph_builder.hpp"

namespace ingot::estimate {
namespace {

using detail::ProfileState;

// More layers repeat the same places.
constexpr std::size_t most_layers = 256;

constexpr std::uint64_t index_bytes = 4;
constexpr std::uint64_t place_bytes = 8;  // where a token's keys and values go in the cache

bool is_modelled(const ProfileState& profile) {
  const State state = profile.rule != nullptr ? profile.rule->state : State::none;
  const bool knows_state =
      state == State::none || state == State::ssm || state == State::short_convolution;
  return knows_state && !profile.layers.empty() &&
         std::ranges::all_of(profile.layers, [&](const Layer& layer) {
           const LayerTensors& tensors = layer.tensors;
           const bool has_network = tensors.up_rows > 0 || tensors.has_experts;
           if (profile.rule == nullptr && !(layer.is_attention && has_network)) return false;
           return layer.is_attention ? tensors.has_attention_output
                                     : layer.is_recurrent || has_network;
         });
}

}  // namespace

GraphBuilder::GraphBuilder(const ProfileState& profile, const RunPlan& plan)
    : profile_(profile),
      plan_(plan),
      facts_(graph_facts_of(profile.architecture)),
      tokens_(plan.graph_tokens),
      width_(profile.embedding) {
  const std::size_t count = profile.layers.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (i + 1 < most_layers || i + 1 == count) layers_.push_back(&profile.layers[i]);
  }
}

GraphPhases GraphBuilder::run() {
  take_inputs();
  for (const Layer* layer : layers_) add_layer(*layer, layer == layers_.back());
  add_output();
  return graph_.lay_out();
}

CheckedNumber GraphBuilder::states(CheckedNumber elements) const {
  return CheckedNumber(plan_.sequences) * elements * float_bytes;
}

Graph::Tensor GraphBuilder::norm(CheckedNumber width, Tensor input) {
  // Only RMS norms can be made in place.
  return profile_.uses_layer_norm ? graph_.make(rows(width), {input})
                                  : graph_.change(rows(width), {input});
}

const GraphBuilder::CacheInputs& GraphBuilder::inputs_of(const Layer& layer) const noexcept {
  if (profile_.has_cache() || facts_.window_period == 0) return layer.slides ? windows_ : all_;
  const auto number = static_cast<std::uint64_t>(&layer - profile_.layers.data());
  const std::uint64_t full = facts_.is_full_first ? 0 : facts_.window_period - 1;
  return number % facts_.window_period != full ? windows_ : all_;
}

Graph::Tensor GraphBuilder::select(Tensor input) {
  tokens_ = plan_.micro_batch;  // without those that fill up the sequences
  return graph_.make(rows(width_), {input, selected_});
}

void GraphBuilder::take_inputs() {
  const CheckedNumber ids = tokens_ * index_bytes;
  // Embeddings can be given in place of tokens; they are read by nothing, and stay.
  const Tensor given = graph_.input(rows(width_));
  stream_ = graph_.make(rows(width_), {graph_.input(ids)});
  graph_.expand(stream_);
  graph_.expand(given);
  positions_ = graph_.input(ids);
  if (profile_.has_position_table) {
    const Tensor table_rows = graph_.make(rows(width_), {positions_});
    stream_ =
        profile_.encodes() ? add(width_, table_rows, stream_) : add(width_, stream_, table_rows);
  }
  if (profile_.has_embedding_norm) stream_ = norm(width_, stream_);
  selected_ = graph_.input(ids);
  sequences_ = graph_.input(CheckedNumber(plan_.sequences) * index_bytes);
  for (CacheInputs* inputs : {&all_, &windows_}) {
    const bool slides = inputs == &windows_;
    const std::uint64_t element = plan_.uses_flash_attention ? 2 : float_bytes;
    const std::uint64_t cells = slides ? plan_.sliding_cells : plan_.context_per_sequence;
    const CheckedNumber seen = profile_.has_cache() ? CheckedNumber(cells) : tokens_;
    inputs->mask = graph_.input(tokens_ * seen * element);
    const CheckedNumber key_side = plan_.key_rotation;
    const CheckedNumber value_side = plan_.value_rotation;
    inputs->key_rotation = graph_.input(key_side * key_side * float_bytes);
    inputs->value_rotation = graph_.input(value_side * value_side * float_bytes);
    inputs->key_places = graph_.input(tokens_ * place_bytes);
    // Transposed values have a place for each element.
    const CheckedNumber values =
        plan_.uses_flash_attention ? CheckedNumber(1) : CheckedNumber(plan_.largest_values);
    inputs->value_places = graph_.input(tokens_ * place_bytes * values);
  }
}

void GraphBuilder::add_layer(const Layer& layer, bool is_last) {
  const LayerTensors& tensors = layer.tensors;
  if (tensors.has_attention_output_norm) return add_encoder_layer(layer, is_last);
  const Tensor given = stream_;
  const bool has_norm = tensors.has_attention_norm || facts_.has_plain_norms;
  const Tensor input = has_norm ? norm(width_, given) : given;
  if (facts_.norms_first) graph_.expand(input);
  const bool selects = is_last && facts_.selects == Selects::in_last_layer;
  const bool has_network = tensors.up_rows > 0 || tensors.has_experts;
  if (has_network && !layer.is_attention && !layer.is_recurrent) {
    graph_.begin(Phase::feed_forward);
    const Tensor made = feed_forward(layer, input, {});
    stream_ = add(width_, selects ? select(made) : made, selects ? select(given) : given);
    return;
  }
  const CheckedNumber early_rows = rows(profile_.expert_count);
  Tensor made;
  if (layer.is_attention) {
    graph_.begin(Phase::attention);
    made = attend(layer, input);
  }
  if (layer.is_recurrent) {
    graph_.begin(Phase::state);
    const Tensor state = recur(layer, layer.is_attention ? norm(width_, given) : input);
    made = layer.is_attention ? add(width_, made, state) : state;
  }
  const bool has_inner_norm = tensors.has_feed_forward_norm || facts_.has_plain_norms;
  const bool is_parallel = layer.is_attention && has_network && has_norm && !has_inner_norm;
  if (is_parallel) return add_parallel_layer(made, layer, input, is_last);
  Tensor kept = given;
  if (selects && layer.is_attention && layer.is_recurrent) {
    made = select(add(width_, made, kept));
    kept = {};
  } else if (selects) {
    made = select(made);
    kept = select(given);
  }
  if (tensors.norms_attention_output) made = norm(width_, made);
  if (kept.exists()) {
    made = facts_.adds_to_input ? add(width_, kept, made) : add(width_, made, kept);
  }
  stream_ = made;
  if (!has_network) return;
  Tensor shares;
  if (facts_.chooses_experts_early) {
    shares = graph_.make(early_rows, {given});
    if (selects) shares = graph_.make(rows(profile_.expert_count), {shares, selected_});
  }
  graph_.begin(Phase::feed_forward);
  const Tensor inner = has_inner_norm ? norm(width_, stream_) : stream_;
  Tensor result = feed_forward(layer, inner, shares);
  if (tensors.has_post_feed_forward_norm) result = norm(width_, result);
  stream_ = facts_.adds_feed_forward_to_input || facts_.adds_to_input
                ? add(width_, stream_, result)
                : add(width_, result, stream_);
}

/// An encoder's norms follow the sums.
void GraphBuilder::add_encoder_layer(const Layer& layer, bool is_last) {
  graph_.begin(Phase::attention);
  Tensor made = attend(layer, stream_);
  Tensor given = stream_;
  if (is_last) {
    made = select(made);
    given = select(given);
  }
  const Tensor inner = norm(width_, add(width_, made, given));
  graph_.begin(Phase::feed_forward);
  stream_ = norm(width_, add(width_, feed_forward(layer, inner, {}), inner));
}

/// The feed-forward part beside the attention, from the same input.
void GraphBuilder::add_parallel_layer(Tensor heads, const Layer& layer, Tensor input,
                                      bool is_last) {
  graph_.begin(Phase::feed_forward);
  const Tensor given = stream_;
  const Tensor normed = layer.tensors.has_second_attention_norm ? norm(width_, given) : input;
  const Tensor made = feed_forward(layer, is_last ? select(normed) : normed, {});
  const Tensor attended = is_last ? select(heads) : heads;
  const Tensor sum =
      facts_.adds_attention_first ? add(width_, attended, made) : add(width_, made, attended);
  stream_ = add(width_, sum, is_last ? select(given) : given);
}

void GraphBuilder::add_output() {
  graph_.begin(Phase::output);
  if (facts_.selects == Selects::after_layers) {
    graph_.keep(stream_);
    stream_ = select(stream_);
  }
  Tensor made =
      profile_.has_output_norm || facts_.has_plain_norms ? norm(width_, stream_) : stream_;
  graph_.keep(made);
  if (facts_.selects == Selects::after_norm) {
    made = select(made);
    graph_.keep(made);
  }
  if (profile_.encodes()) {
    graph_.expand(made);
    return;
  }
  if (facts_.scales_before_output) made = graph_.change(rows(width_), {made});
  graph_.expand(graph_.make(rows(profile_.vocabulary), {made}));
}

Graph::Tensor GraphBuilder::feed_forward(const Layer& layer, Tensor input, Tensor shares) {
  const LayerTensors& tensors = layer.tensors;
  if (tensors.has_experts) return experts(layer, input, shares);
  const Gate gate = tensors.has_gate ? Gate::beside : tensors.fuses_gate ? Gate::fused : Gate::none;
  const std::uint64_t inner = tensors.up_rows / (tensors.fuses_gate ? 2 : 1);
  return network(input, tensors.up_rows, inner, width_, gate);
}

/// `up`, with the gate, and `down`.
Graph::Tensor GraphBuilder::network(Tensor input, CheckedNumber up, CheckedNumber inner,
                                    CheckedNumber down, Gate kind) {
  const Tensor gate = kind == Gate::beside ? multiply(up, input) : Tensor();
  const Tensor raised = multiply(up, input);
  const Tensor made = kind == Gate::none ? graph_.change(rows(inner), {raised})
                                         : graph_.make(rows(inner), {gate, raised});
  return multiply(down, made);
}

Graph::Tensor GraphBuilder::experts(const Layer& layer, Tensor input, Tensor shares) {
  graph_.begin(Phase::experts);
  const LayerTensors& tensors = layer.tensors;
  const CheckedNumber used = profile_.experts_used;
  if (!shares.exists()) shares = multiply(profile_.expert_count, input);
  const Tensor biased =
      tensors.has_expert_bias ? graph_.make(rows(profile_.expert_count), {shares}) : shares;
  const Tensor order = graph_.make(rows(profile_.expert_count), {biased});
  const Tensor weights = graph_.make(rows(used), {shares, order});
  graph_.expand(weights);
  const Gate kind = tensors.has_fused_expert_gate ? Gate::fused
                    : tensors.has_expert_gate     ? Gate::beside
                                                  : Gate::none;
  Tensor given = input;
  if (facts_.weighs_expert_input) {
    given =
        graph_.change(rows(width_ * used), {graph_.make(rows(width_ * used), {input}), weights});
  }
  const CheckedNumber inner = used * tensors.expert_rows;
  const CheckedNumber up = kind == Gate::fused ? CheckedNumber(2) * inner : inner;
  const Tensor gate = kind == Gate::beside ? graph_.make(rows(up), {given, order}) : Tensor();
  const Tensor raised = graph_.make(rows(up), {given, order});
  const Tensor activated = kind == Gate::none ? graph_.change(rows(inner), {raised})
                                              : graph_.make(rows(inner), {gate, raised});
  const Tensor each = graph_.make(rows(width_ * used), {activated, order});
  const Tensor weighted =
      facts_.weighs_expert_input ? each : graph_.change(rows(width_ * used), {each, weights});
  // The first sum reads two parts of the whole, so it is not made in place; the others are.
  const Tensor sum = graph_.make(rows(width_), {weighted});
  graph_.expand(sum);
  if (tensors.shared_up_rows == 0) return sum;
  const CheckedNumber shared = tensors.shared_up_rows;
  Tensor other =
      network(input, shared, shared, width_, tensors.has_shared_gate ? Gate::beside : Gate::none);
  if (tensors.has_shared_expert_gate) {
    other = graph_.change(rows(width_), {other, multiply(1, input)});
  }
  return add(width_, sum, other);
}

std::optional<GraphPhases> follow_graph(const ProfileState& profile, const RunPlan& plan) {
  if (!is_modelled(profile)) return std::nullopt;
  return GraphBuilder(profile, plan).run();
}

}  // namespace ingot::estimate
