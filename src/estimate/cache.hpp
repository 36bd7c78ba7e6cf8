// SPDX-License-Identifier: MIT
// The cache: the memory of layers for earlier tokens.
#pragma once

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
  CheckedNumber rolling_bytes;  ///< Of a recurrent layer.
  CheckedNumber state_bytes;

  [[nodiscard]] CheckedNumber bytes() const noexcept {
    return key_bytes + value_bytes + rolling_bytes + state_bytes;
  }
};

[[nodiscard]] LayerCache cache_of(const Layer& layer, const detail::ProfileState& profile,
                                  const RunOptions& options, const RunPlan& plan);

}  // namespace ingot::estimate
