// SPDX-License-Identifier: MIT
// Source of the order: the graphs of llama.cpp 0.5.0 as it prints them (GGML_SCHED_DEBUG=2), with
// the names of src/models. A tensor is dropped where its last reader has got its own place; sums,
// scales, biases and norms of what nobody else reads take none.
#include "estimate/host_graph.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "estimate/graph_memory.hpp"

namespace ingot::estimate {
namespace {

using detail::ProfileState;
using Block = GraphMemory::Block;

constexpr std::uint64_t index_bytes = 8;  // where a token's keys and values go in the cache
// More layers repeat the same places.
constexpr std::size_t most_layers = 256;

bool is_modelled(const ProfileState& profile) {
  const bool generates = profile.rule == nullptr || profile.rule->purpose == Purpose::generates;
  return generates && !profile.is_latent && !profile.layers.empty() &&
         std::ranges::all_of(profile.layers, [](const Layer& layer) {
           const LayerTensors& tensors = layer.tensors;
           return !layer.is_recurrent && layer.is_attention && tensors.has_attention_output &&
                  (tensors.up_rows > 0 || tensors.has_experts);
         });
}

/// One graph while it is laid out.
class Graph {
 public:
  Graph(const ProfileState& profile, const RunPlan& plan)
      : profile_(profile),
        plan_(plan),
        tokens_(plan.graph_tokens),
        row_(tokens_ * float_bytes),
        width_(row_ * profile.embedding) {
    const std::size_t count = profile.layers.size();
    for (std::size_t i = 0; i < count; ++i) {
      if (i + 1 < most_layers || i + 1 == count) layers_.push_back(&profile.layers[i]);
    }
  }

  GraphPhases run() {
    take_inputs();
    for (std::size_t i = 0; i < layers_.size(); ++i) add_layer(*layers_[i], i);
    take(row_ * profile_.vocabulary);
    end_phase(phases_.output);
    return phases_;
  }

 private:
  enum class Gate : std::uint8_t { none, beside, fused };
  /// What the layers of a kind read beside their input, until the last of them.
  struct Inputs {
    std::size_t last_layer = 0;
    Block mask;
    Block key_places;
    Block value_places;
    Block key_rotation;
    Block value_rotation;
  };

  Block take(CheckedNumber bytes) { return memory_.take(bytes); }
  void drop(Block block) { memory_.drop(block); }
  void end_phase(CheckedNumber& phase) { phase = max(phase, memory_.next_peak()); }
  /// A tensor in place of another, which is read for the last time.
  Block exchange(Block old, CheckedNumber bytes) {
    const Block block = take(bytes);
    drop(old);
    return block;
  }
  /// The same tensor in another place, as ops do that read it through a view.
  void copy(Block& block) { block = exchange(block, block.size); }

  [[nodiscard]] std::uint64_t cells_of(const Layer& layer) const noexcept {
    return layer.slides ? plan_.sliding_cells : plan_.context_per_sequence;
  }

  void take_inputs() {
    const Block ids = take(row_);
    take(width_);  // for embeddings in place of tokens; it stays
    positions_ = take(row_);
    rows_ = take(row_);
    for (const bool slides : {false, true}) take_inputs(inputs_[slides ? 1 : 0], slides);
    stream_ = exchange(ids, width_);
    if (profile_.has_position_table) drop(take(width_));
  }

  void take_inputs(Inputs& inputs, bool slides) {
    const Layer* layer = nullptr;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (layers_[i]->slides != slides) continue;
      layer = layers_[i];
      inputs.last_layer = i;
    }
    if (layer == nullptr) return;
    const std::uint64_t element = plan_.uses_flash_attention ? 2 : float_bytes;
    inputs.mask = take(tokens_ * cells_of(*layer) * element);
    inputs.key_places = take(tokens_ * index_bytes);
    // Transposed values have a place for each element.
    const CheckedNumber values =
        plan_.uses_flash_attention ? CheckedNumber(1) : CheckedNumber(plan_.largest_values);
    inputs.value_places = take(tokens_ * index_bytes * values);
    const CheckedNumber key_side = plan_.key_rotation;
    const CheckedNumber value_side = plan_.value_rotation;
    inputs.key_rotation = take(key_side * key_side * float_bytes);
    inputs.value_rotation = take(value_side * value_side * float_bytes);
  }

  void add_layer(const Layer& layer, std::size_t number) {
    const bool is_last = number + 1 == layers_.size();
    const LayerTensors& tensors = layer.tensors;
    const bool is_parallel = tensors.has_attention_norm && !tensors.has_feed_forward_norm;
    const Block input = tensors.has_attention_norm ? take(width_) : stream_;
    Block heads = attend(layer, number, tensors.has_attention_norm && !is_parallel, input);
    if (is_parallel) {
      end_phase(phases_.attention);
      Block inner = input;
      if (is_last) copy(inner);
      inner = feed_forward(layer, inner, true);
      if (is_last) copy(stream_);
      drop(stream_);
      heads = project(heads, layer, number);
      if (is_last) copy(heads);
      drop(heads);
      stream_ = inner;
      return;
    }
    heads = project(heads, layer, number);
    if (is_last) {  // From here on only the tokens with an output.
      copy(heads);
      copy(stream_);
      drop(rows_);
    }
    drop(stream_);
    stream_ = heads;
    end_phase(phases_.attention);
    const Block inner = tensors.has_feed_forward_norm ? take(width_) : stream_;
    const Block made = feed_forward(layer, inner, tensors.has_feed_forward_norm);
    drop(stream_);
    stream_ = made;
  }

  /// The heads of all tokens, one beside the other.
  Block attend(const Layer& layer, std::size_t number, bool drops_input, Block input) {
    const CheckedNumber queries = row_ * layer.heads * layer.key_width;
    const CheckedNumber keys = row_ * layer.kv_heads * layer.key_width;
    const CheckedNumber values = row_ * layer.kv_heads * layer.value_width;
    const CheckedNumber made = row_ * layer.heads * layer.value_width;
    const bool is_fused = layer.tensors.has_fused_queries;
    const bool rotates = !profile_.has_position_table;
    Block fused;
    if (is_fused) {
      fused = take(queries + keys + values);
      if (drops_input) drop(input);
    }
    // Parts of a fused matrix lie in it, and are copied out of it before a rotation.
    const bool copies_keys = is_fused && !rotates && plan_.key_rotation > 0;
    const bool copies_values = is_fused && plan_.value_rotation > 0;
    Block query = is_fused && !copies_keys ? Block() : take(queries);
    if (rotates) query = exchange(query, queries);
    if (plan_.key_rotation > 0) query = exchange(query, queries);
    if (layer.has_cache) {
      Block value = is_fused && !copies_values ? Block() : take(values);
      if (plan_.value_rotation > 0) value = exchange(value, values);
      Block key = is_fused && !copies_keys ? Block() : take(keys);
      if (!is_fused && drops_input) drop(input);
      if (rotates) key = exchange(key, keys);
      if (plan_.key_rotation > 0) key = exchange(key, keys);
      drop(key);
      drop(value);
    } else if (!is_fused && drops_input) {
      drop(input);
    }
    if (number + 1 == layers_.size()) drop(positions_);
    Inputs& inputs = inputs_[layer.slides ? 1 : 0];
    const bool is_last = number == inputs.last_layer;
    if (is_last) {
      for (const Block block : {inputs.key_rotation, inputs.key_places, inputs.value_places}) {
        drop(block);
      }
    }
    Block result;
    if (plan_.uses_flash_attention) {
      result = exchange(query, made);
      if (is_last) drop(inputs.mask);
    } else {
      const Block scores = exchange(query, row_ * layer.heads * cells_of(layer));
      if (is_last) drop(inputs.mask);
      result = exchange(scores, made);
      copy(result);
    }
    drop(fused);
    return result;
  }

  /// The output of attention: heads whose values were rotated are turned back first.
  Block project(Block heads, const Layer& layer, std::size_t number) {
    if (plan_.value_rotation > 0) copy(heads);
    const Inputs& inputs = inputs_[layer.slides ? 1 : 0];
    if (number == inputs.last_layer) drop(inputs.value_rotation);
    return exchange(heads, width_);
  }

  Block feed_forward(const Layer& layer, Block input, bool drops_input) {
    const LayerTensors& tensors = layer.tensors;
    if (tensors.has_experts) return experts(layer, input, drops_input);
    const Gate gate = tensors.has_gate     ? Gate::beside
                      : tensors.fuses_gate ? Gate::fused
                                           : Gate::none;
    const std::uint64_t inner = tensors.up_rows / (tensors.fuses_gate ? 2 : 1);
    const Block result =
        network(input, drops_input, row_ * tensors.up_rows, row_ * inner, width_, gate);
    end_phase(phases_.feed_forward);
    return result;
  }

  /// A feed-forward network: `up`, beside it the gate, and `down`. Without any gate, the result of
  /// the activation takes the place of `up`.
  Block network(Block input, bool drops_input, CheckedNumber up_bytes, CheckedNumber inner_bytes,
                CheckedNumber down_bytes, Gate kind) {
    const Block gate = kind == Gate::beside ? take(up_bytes) : Block();
    Block inner = take(up_bytes);
    if (drops_input) drop(input);
    if (kind != Gate::none) inner = exchange(inner, inner_bytes);
    drop(gate);
    return exchange(inner, down_bytes);
  }

  Block experts(const Layer& layer, Block input, bool drops_input) {
    const LayerTensors& tensors = layer.tensors;
    const CheckedNumber used = profile_.experts_used;
    const Block shares = take(row_ * profile_.expert_count);
    const Block order = take(row_ * profile_.expert_count);
    const Block weights = exchange(shares, row_ * used);
    const CheckedNumber inner = row_ * used * tensors.expert_rows;
    const Gate gate = tensors.has_fused_expert_gate ? Gate::fused
                      : tensors.has_expert_gate     ? Gate::beside
                                                    : Gate::none;
    const CheckedNumber up = gate == Gate::fused ? CheckedNumber(2) * inner : inner;
    const bool has_shared = tensors.shared_up_rows > 0;
    const Block each = network(input, drops_input && !has_shared, up, inner, width_ * used, gate);
    drop(order);
    drop(weights);
    const Block result = exchange(each, width_);
    if (has_shared) {
      const CheckedNumber shared = row_ * tensors.shared_up_rows;
      drop(network(input, drops_input, shared, shared, width_,
                   tensors.has_shared_gate ? Gate::beside : Gate::none));
    }
    end_phase(phases_.experts);
    return result;
  }

  const ProfileState& profile_;
  const RunPlan& plan_;
  CheckedNumber tokens_;
  CheckedNumber row_;    ///< One float for each token.
  CheckedNumber width_;  ///< One row of the model's width for each token.
  std::vector<const Layer*> layers_;
  GraphMemory memory_;
  GraphPhases phases_;
  std::array<Inputs, 2> inputs_;  ///< For all tokens, and for a window.
  Block positions_;
  Block rows_;    ///< The numbers of the tokens with an output.
  Block stream_;  ///< What the layers pass on.
};

}  // namespace

std::optional<GraphPhases> follow_graph(const ProfileState& profile, const RunPlan& plan) {
  if (!is_modelled(profile)) return std::nullopt;
  return Graph(profile, plan).run();
}

}  // namespace ingot::estimate
