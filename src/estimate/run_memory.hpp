// SPDX-License-Identifier: MIT
// What a run needs beside the weights: the cache of each layer for earlier tokens, and the work
// space of graphs, which is what the engine's allocator makes of a graph, as a maximum of phases.
#pragma once

#include "estimate/graph.hpp"
#include "estimate/profile_state.hpp"
#include "estimate/run_plan.hpp"
#include "ingot/estimate.hpp"

namespace ingot::estimate {

/// The cache of one layer. Attention and state both count in layers that are both.
struct LayerCache {
  CacheKind kind = CacheKind::full;
  std::uint64_t cells = 0;  ///< 0: the layer has no keys and values of its own.
  CheckedNumber key_bytes;
  CheckedNumber value_bytes;
  CheckedNumber rolling_bytes;  ///< The state of a recurrent layer.
  CheckedNumber state_bytes;
  std::uint64_t compressed_cells = 0;  ///< Keys that stand for several tokens each.
  CheckedNumber compressed_bytes;
  CheckedNumber compressor_bytes;     ///< What makes these keys.
  CheckedNumber indexer_key_bytes;    ///< The keys by which tokens are selected.
  CheckedNumber indexer_value_bytes;  ///< What the engine keeps beside them, and never reads.

  [[nodiscard]] CheckedNumber bytes() const noexcept {
    return key_bytes + value_bytes + rolling_bytes + state_bytes + compressed_bytes +
           compressor_bytes + indexer_key_bytes + indexer_value_bytes;
  }
};

[[nodiscard]] LayerCache cache_of(const Layer& layer, const detail::ProfileState& profile,
                                  const RunOptions& options, const RunPlan& plan);

/// The phases of a graph of `micro_batch` tokens, in bytes; but for `host`, as formulas.
struct WorkSpace {
  CheckedNumber mask;
  CheckedNumber embedding;  ///< One row of width for each token.
  CheckedNumber output;
  CheckedNumber attention;
  CheckedNumber feed_forward;
  CheckedNumber feed_forward_device;
  CheckedNumber experts;
  CheckedNumber state;
  bool is_gate_fused = false;
  GraphPhases host;  ///< The phases on a host without devices, where they are modelled.

  /// On a host without devices.
  [[nodiscard]] CheckedNumber on_host() const noexcept;
  /// The layers of a device, without the output.
  [[nodiscard]] CheckedNumber layers_on_device() const noexcept;
  /// The output on a device.
  [[nodiscard]] CheckedNumber output_on_device() const noexcept;
};

[[nodiscard]] WorkSpace work_space_of(const detail::ProfileState& profile, const RunPlan& plan);

/// The phases as they are shown; Errc::size_overflow.
[[nodiscard]] Result<ComputeTerms> terms_of(const WorkSpace& space);

}  // namespace ingot::estimate
