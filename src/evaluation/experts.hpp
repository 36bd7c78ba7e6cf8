// SPDX-License-Identifier: MIT
// Layers of experts: each token uses a few of many feed-forward networks.
#pragma once

#include "evaluation/layer_work.hpp"

namespace ingot::evaluation {

/// Applies the experts that the router of a layer chooses, and the shared expert.
[[nodiscard]] Result<void> apply_experts(const LayerWork& layer_work, const Experts& experts,
                                         const Panels& inputs, Panels& outputs);

}  // namespace ingot::evaluation
