// SPDX-License-Identifier: MIT
// Describes the engine's graph of a model, layer by layer, with the names of its src/models.
#pragma once

#include <optional>
#include <vector>

#include "estimate/graph.hpp"
#include "estimate/graph_facts.hpp"
#include "estimate/profile_state.hpp"
#include "estimate/run_plan.hpp"

namespace ingot::estimate {

inline constexpr std::uint64_t float_bytes = 4;  ///< The size of an activation.

class GraphBuilder {
 public:
  GraphBuilder(const detail::ProfileState& profile, const RunPlan& plan);

  GraphPhases run();

 private:
  using Tensor = Graph::Tensor;
  enum class Gate : std::uint8_t { none, beside, fused };
  /// What a layer multiplies with, as matrices of all heads beside each other.
  struct Heads {
    Tensor query;
    Tensor key;
    Tensor value;
    Tensor gate_source;  ///< A gate of the result lies beside the queries.
  };
  /// What layers that see all tokens, or a window, read beside their input.
  struct CacheInputs {
    Tensor mask;
    Tensor key_places;
    Tensor value_places;
    Tensor key_rotation;
    Tensor value_rotation;
  };

  /// A matrix of floats with a row for each token.
  [[nodiscard]] CheckedNumber rows(CheckedNumber width) const {
    return tokens_ * width * float_bytes;
  }
  /// Floats for each sequence.
  [[nodiscard]] CheckedNumber states(CheckedNumber elements) const;
  Tensor multiply(CheckedNumber width, Tensor input) { return graph_.make(rows(width), {input}); }
  Tensor add(CheckedNumber width, Tensor a, Tensor b) { return graph_.change(rows(width), {a, b}); }
  Tensor norm(CheckedNumber width, Tensor input);
  [[nodiscard]] const CacheInputs& inputs_of(const Layer& layer) const noexcept;
  /// The rows of the tokens with an output.
  Tensor select(Tensor input);

  // host_graph.cpp
  void take_inputs();
  void add_layer(const Layer& layer, bool is_last);
  void add_encoder_layer(const Layer& layer, bool is_last);
  void add_parallel_layer(Tensor heads, const Layer& layer, Tensor input, bool is_last);
  void add_output();
  Tensor feed_forward(const Layer& layer, Tensor input, Tensor shares);
  Tensor network(Tensor input, CheckedNumber up, CheckedNumber inner, CheckedNumber down,
                 Gate kind);
  Tensor experts(const Layer& layer, Tensor input, Tensor shares);

  // attention_graph.cpp
  Tensor attend(const Layer& layer, Tensor input);
  Heads heads_of(const Layer& layer, Tensor input);
  Heads latent_heads_of(const Layer& layer, Tensor input);
  Tensor turn(Tensor heads, CheckedNumber width, Tensor rotation);
  void store_heads(const Layer& layer, Heads& heads);
  Tensor score(const Layer& layer, const Heads& heads);
  Tensor score_encoder(const Layer& layer, const Heads& heads);
  [[nodiscard]] bool rotates(const Layer& layer) const noexcept;

  // state_graph.cpp
  Tensor recur(const Layer& layer, Tensor input);
  Tensor state_rows(CheckedNumber elements);
  Tensor convolve(CheckedNumber width, Tensor rolling, Tensor input);
  Tensor scan(CheckedNumber width, Graph::Sources sources);
  Tensor mamba(const Layer& layer, Tensor input);
  Tensor mamba2(const Layer& layer, Tensor input);
  Tensor plamo_mamba(const Layer& layer, Tensor input);
  Tensor gate_scanned(Tensor mixed, Tensor gate_source, Tensor scanned);
  Tensor delta_net(const Layer& layer, Tensor input);
  Tensor short_convolution(Tensor input);

  const detail::ProfileState& profile_;
  const RunPlan& plan_;
  GraphFacts facts_;
  CheckedNumber tokens_;
  CheckedNumber width_;
  std::vector<const Layer*> layers_;
  Graph graph_;
  CacheInputs all_;      ///< Inputs of layers that see all tokens.
  CacheInputs windows_;  ///< Inputs of those that slide.
  Tensor positions_;
  Tensor selected_;   ///< The numbers of the tokens with an output.
  Tensor sequences_;  ///< The numbers of the states.
  Tensor stream_;     ///< What the layers pass on.
};

/// The graph of a host without devices, tensor by tensor: the work space as the engine's allocator
/// lays it out, holes included. Nothing for the graphs that are not modelled: rwkv, delta
/// attention, and unknown architectures. O(layers), of which at most 256 count.
[[nodiscard]] std::optional<GraphPhases> follow_graph(const detail::ProfileState& profile,
                                                      const RunPlan& plan);

}  // namespace ingot::estimate
