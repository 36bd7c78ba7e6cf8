// SPDX-License-Identifier: MIT
// The graph of a host without devices, tensor by tensor: the engine's work space as its allocator
// lays it out, holes included.
#pragma once

#include <optional>

#include "estimate/profile_state.hpp"
#include "estimate/run_plan.hpp"

namespace ingot::estimate {

inline constexpr std::uint64_t float_bytes = 4;  ///< The size of an activation.

/// The furthest byte that each part of a graph needs.
struct GraphPhases {
  CheckedNumber output;
  CheckedNumber attention;
  CheckedNumber feed_forward;
  CheckedNumber experts;
  CheckedNumber state;
};

/// Nothing for the graphs that are not modelled: encoders, models without a cache, latent caches
/// and recurrent layers. O(layers), of which at most 256 count.
[[nodiscard]] std::optional<GraphPhases> follow_graph(const detail::ProfileState& profile,
                                                      const RunPlan& plan);

}  // namespace ingot::estimate
