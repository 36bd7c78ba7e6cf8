// SPDX-License-Identifier: MIT
// The facts of a header in a profile: all that the sums need, and nothing else.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/checked_number.hpp"
#include "estimate/architecture_rule.hpp"

namespace ingot::estimate {

/// Tensors that lie together.
struct Weights {
  std::uint64_t bytes = 0;
  std::uint64_t expert_bytes = 0;    ///< Of them, experts that may stay on the host.
  std::uint64_t repacked_bytes = 0;  ///< Of them, types that a CPU lays out anew.
  std::uint64_t read_bytes = 0;      ///< Of them, what one token reads.
  std::uint64_t expert_read_bytes = 0;
  std::uint64_t largest_bytes = 0;  ///< Of one tensor.
};

struct Layer {
  Weights weights;
  std::uint64_t heads = 0;
  std::uint64_t kv_heads = 0;
  std::uint64_t feed_forward = 0;
  std::uint64_t key_width = 0;    ///< Of one head.
  std::uint64_t value_width = 0;  ///< Of one head.
  bool is_attention = false;      ///< Queries look at keys.
  bool has_cache = false;         ///< Keys and values of its own.
  bool slides = false;
  bool is_recurrent = false;
};

/// Floats that one token takes in a graph, by phase; the largest of all layers. The mask comes on
/// top of attention, feed_forward and experts.
struct GraphFloats {
  CheckedNumber attention;
  std::uint64_t heads = 0;     ///< Each scores the whole context without flash attention.
  CheckedNumber feed_forward;  ///< On the host.
  CheckedNumber feed_forward_device;
  CheckedNumber experts;
  CheckedNumber state;
  bool has_attention = false;
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
  bool is_latent = false;              ///< Layers keep one compressed vector (MLA).
  std::uint64_t rolling_elements = 0;  ///< Of a recurrent layer, for one sequence.
  std::uint64_t state_elements = 0;    ///< The same.
  std::vector<estimate::Layer> layers;
  estimate::Weights input;       ///< Always on the host.
  estimate::Weights output;      ///< With the last layer, the output.
  estimate::Weights everywhere;  ///< A copy on each device that has layers.
  std::uint64_t tied_bytes = 0;  ///< Embeddings that are the output matrix too.
  std::uint64_t weights_bytes = 0;
  std::uint64_t projector_bytes = 0;
  estimate::GraphFloats graph;
  std::vector<std::string> notes;

  [[nodiscard]] bool encodes() const noexcept {
    return rule != nullptr && rule->purpose == estimate::Purpose::encodes;
  }
};

}  // namespace ingot::detail
