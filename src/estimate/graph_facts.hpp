// SPDX-License-Identifier: MIT
// In what the graphs of the engine's architectures differ, beyond what tensors and keys show.
#pragma once

#include <cstdint>
#include <string_view>

namespace ingot::estimate {

/// The layers that rotate queries and keys by their positions.
enum class Rotates : std::uint8_t { all, none, in_windows, if_finetuned, if_32_layers };

/// Where the tokens with an output are taken from the others.
enum class Selects : std::uint8_t { in_last_layer, after_layers, after_norm };

struct GraphFacts {
  std::string_view name;
  Rotates rotates = Rotates::all;
  Selects selects = Selects::in_last_layer;
  /// Encoders: which layers see a window, as in architectures.def; 0: none.
  std::uint64_t window_period = 0;
  bool is_full_first = false;
  /// The input of a layer is normed before anything else of the layer.
  bool norms_first = false;
  /// Queries that are not rotated are scaled by their positions.
  bool scales_queries = false;
  /// Sums begin with what the layer was given.
  bool adds_to_input = false;
  /// Sums with the feed-forward part begin with its input.
  bool adds_feed_forward_to_input = false;
  /// Attention comes first in the sum with a feed-forward part beside it.
  bool adds_attention_first = false;
  /// Experts are chosen by the input of the layer.
  bool chooses_experts_early = false;
  /// What experts get is weighted, not what they make.
  bool weighs_expert_input = false;
  /// Norms without tensors before attention, feed-forward parts and the output.
  bool has_plain_norms = false;
  /// The output matrix reads a scaled copy of what is kept as embeddings.
  bool scales_before_output = false;
};

/// For an architecture that is not in the table, what most do.
[[nodiscard]] GraphFacts graph_facts_of(std::string_view architecture) noexcept;

}  // namespace ingot::estimate
