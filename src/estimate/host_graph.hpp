// SPDX-License-Identifier: MIT
// The graph of a host without devices, tensor by tensor: the engine's work space as its allocator
// lays it out, holes included.
#pragma once

#include <optional>

#include "estimate/graph.hpp"
#include "estimate/profile_state.hpp"
#include "estimate/run_plan.hpp"

namespace ingot::estimate {

/// Nothing for the graphs that are not modelled: rwkv, delta attention, and unknown architectures.
/// O(layers), of which at most 256 count.
[[nodiscard]] std::optional<GraphPhases> follow_graph(const detail::ProfileState& profile,
                                                      const RunPlan& plan);

}  // namespace ingot::estimate
