// SPDX-License-Identifier: MIT
// The facts of a header in a profile: all that the sums need, and nothing else.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/checked.hpp"
#include "ingot/architectures.hpp"
#include "ingot/projectors.hpp"

namespace ingot::estimate {

using ingot::Purpose;
using ArchitectureRule = ArchitectureMemory;
using Windows = LayerWindows;
using State = LayerState;
using Recurrent = RecurrentLayers;

/// Tensors that lie together.
struct Weights {
  std::uint64_t bytes = 0;
  std::uint64_t expert_bytes = 0;    ///< The part that is experts, which may stay on the host.
  std::uint64_t repacked_bytes = 0;  ///< The part in types that a CPU lays out anew.
  std::uint64_t read_bytes = 0;      ///< The part that one token reads.
  std::uint64_t expert_read_bytes = 0;
  std::uint64_t largest_bytes = 0;  ///< The bytes of the largest tensor.
};

/// How a layer is built, by the names of its tensors.
struct LayerTensors {
  std::uint64_t query_rows = 0;
  std::uint64_t query_rank = 0;            ///< Queries are made from so many numbers; 0: directly.
  std::uint64_t compressed_rows = 0;       ///< MLA: what keys and values are made from, and
  std::uint64_t compressed_width = 0;      ///< of it, what is normed.
  std::uint64_t up_rows = 0;               ///< 0: no dense feed-forward.
  std::uint64_t expert_rows = 0;           ///< The width of an expert.
  std::uint64_t shared_up_rows = 0;        ///< Rows of the expert that all tokens use.
  std::uint64_t state_rows = 0;            ///< Rows of a recurrent layer's first matrix.
  std::uint64_t state_parameter_rows = 0;  ///< What each token's scan depends on.
  std::uint64_t time_step_width = 0;
  std::uint64_t delta_rows = 0;  ///< The rates of a delta net.

  bool has_attention_norm = false;
  bool has_second_attention_norm = false;  ///< The feed-forward part is beside attention.
  bool has_post_attention_norm = false;
  bool norms_attention_output = false;  ///< The norm comes before the layer's input is added.
  bool has_post_feed_forward_norm = false;
  bool has_attention_output_norm = false;  ///< The norm comes after the sum, as in encoders.
  bool has_attention_output = false;
  bool has_fused_queries = false;  ///< Queries, keys and values are one matrix.
  bool has_query_norm = false;
  bool has_feed_forward_norm = false;
  bool has_gate = false;
  bool fuses_gate = false;  ///< `up` holds the rows of the gate, too.
  bool has_experts = false;
  bool has_expert_gate = false;
  bool has_fused_expert_gate = false;
  bool has_shared_gate = false;
  bool has_shared_expert_gate = false;  ///< One number for each token.
  bool has_expert_bias = false;
  bool has_separate_rates = false;  ///< Each kind has a matrix of `delta_rows`.
  bool has_position_bias = false;   ///< Scores get a table's numbers added, by distance.
  bool has_state_norms = false;
  bool has_state_output_norm = false;
  bool has_convolution_bias = false;
};

/// The sizes of recurrent layers.
struct StateSizes {
  std::uint64_t inner = 0;
  std::uint64_t size = 0;
  std::uint64_t groups = 0;
  std::uint64_t heads = 0;
  std::uint64_t kernel = 0;
};

struct Layer {
  Weights weights;
  LayerTensors tensors;
  std::uint64_t heads = 0;
  std::uint64_t kv_heads = 0;
  std::uint64_t feed_forward = 0;
  std::uint64_t key_width = 0;      ///< The width of one head.
  std::uint64_t value_width = 0;    ///< The width of one head.
  std::uint64_t indexer_width = 0;  ///< The key by which tokens are selected; 0: none.
  std::uint64_t compressed = 0;     ///< So many tokens have another key together; 0: none.
  std::uint64_t state_floats = 0;   ///< What makes these keys of a sequence.
  bool is_attention = false;        ///< Queries look at keys.
  bool has_cache = false;           ///< Keys and values of its own.
  bool slides = false;
  bool is_recurrent = false;
};

/// Floats that one token takes in a graph, by phase; the largest of all layers. The mask comes on
/// top of attention, feed_forward and experts.
struct GraphFloats {
  CheckedNumber attention;
  std::uint64_t heads = 0;     ///< Each scores the whole context without flash attention.
  CheckedNumber feed_forward;  ///< The feed-forward part on the host.
  CheckedNumber feed_forward_device;
  CheckedNumber experts;
  CheckedNumber state;
  std::uint64_t state_pairs = 0;  ///< For each pair of tokens, beside the mask of attention.
  CheckedNumber whole;            ///< What a row tells of the graph as a whole.
  bool has_attention = false;
  bool has_position_bias = false;
  bool has_feed_forward = false;
  bool has_experts = false;
  bool has_state = false;
  /// Gate and up are one matrix; the allocator then finds no place for the output in the mask's.
  bool is_gate_fused = false;
};

}  // namespace ingot::estimate

namespace ingot::detail {

struct ProfileState {
  std::string architecture;
  const estimate::ArchitectureRule* rule = nullptr;  ///< nullptr: unknown.
  std::uint64_t context_length = 0;
  std::uint64_t embedding = 0;
  std::uint64_t vocabulary = 0;
  std::uint64_t window = 0;
  std::uint64_t expert_count = 0;
  std::uint64_t experts_used = 0;
  std::uint64_t expert_width = 0;
  bool has_position_table = false;  ///< Positions are added to the input, not rotated in.
  bool has_embedding_norm = false;
  bool has_output_norm = false;
  bool uses_layer_norm = false;        ///< No RMS norms.
  bool is_rope_finetuned = true;       ///< What a key of some hybrids says.
  std::uint64_t head_key_width = 0;    ///< MLA: of one head, when it is not compressed.
  std::uint64_t head_value_width = 0;  ///< The same.
  estimate::StateSizes state;
  bool is_latent = false;              ///< Layers keep one compressed vector (MLA).
  std::uint64_t rolling_elements = 0;  ///< The state of a recurrent layer, for one sequence.
  std::uint64_t state_elements = 0;    ///< The same.
  std::vector<estimate::Layer> layers;
  std::uint64_t indexer_top_k = 0;        ///< Tokens that an indexer selects.
  std::uint64_t loops = 1;                ///< How often the layers run, with caches of their own.
  std::optional<estimate::Layer> router;  ///< A layer without tensors that has a cache.
  estimate::Weights input;                ///< Always on the host.
  estimate::Weights output;               ///< The last layer and the output.
  estimate::Weights everywhere;           ///< A copy on each device that has layers.
  std::uint64_t tied_bytes = 0;           ///< Embeddings that are the output matrix too.
  std::uint64_t weights_bytes = 0;
  std::uint64_t projector_bytes = 0;
  std::optional<Result<ProjectorImages>> images;  ///< Of the projector beside the model.
  std::optional<Result<ProjectorSounds>> sounds;
  estimate::GraphFloats graph;
  std::vector<std::string> notes;

  [[nodiscard]] bool has_cache() const noexcept {
    return rule == nullptr || rule->purpose == estimate::Purpose::generates ||
           rule->purpose == estimate::Purpose::encodes_with_cache;
  }
  [[nodiscard]] bool has_windows() const noexcept {
    return std::ranges::any_of(layers, &estimate::Layer::slides);
  }
  [[nodiscard]] bool encodes() const noexcept {
    return rule != nullptr && (rule->purpose == estimate::Purpose::encodes ||
                               rule->purpose == estimate::Purpose::encodes_with_cache);
  }
};

}  // namespace ingot::detail
