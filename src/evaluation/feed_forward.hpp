// SPDX-License-Identifier: MIT
// The feed-forward part of a layer: one network, or experts of which each token uses a few.
#pragma once

#include <span>

#include "evaluation/layer_work.hpp"

namespace ingot::evaluation {

/// outputs = down(activation(gate(inputs)) * up(inputs)), or without a gate.
///
/// @param layer   for activations with numbers of their own.
/// @param tokens  see InputObserver.
[[nodiscard]] Result<void> feed_forward(const LayerWork& layer_work, const FeedForward& weights,
                                        std::size_t layer, std::size_t expert, const Panels& inputs,
                                        std::span<const std::uint8_t> tokens, Panels& outputs);

/// Applies the experts that the router of a layer chooses, and the shared expert.
/// @param router_inputs  what the router reads.
[[nodiscard]] Result<void> apply_experts(const LayerWork& layer_work, const Experts& experts,
                                         const Panels& inputs, const Panels& router_inputs,
                                         Panels& outputs);

}  // namespace ingot::evaluation
