// SPDX-License-Identifier: MIT
// Layers of experts: each token uses a few of many feed-forward networks.
#pragma once

#include <span>

#include "evaluation/matrix_work.hpp"

namespace ingot::evaluation {

/// outputs = down(gate(inputs) * up(inputs))
///
/// @param tokens  see InputObserver.
[[nodiscard]] Result<void> feed_forward(MatrixWork& work, const Settings& settings,
                                        const FeedForward& weights, std::size_t expert,
                                        const Panels& inputs, std::span<const std::uint8_t> tokens,
                                        Panels& outputs);

/// Applies the experts that the router of the layer chooses, and the shared expert.
[[nodiscard]] Result<void> apply_experts(MatrixWork& work, const Settings& settings,
                                         const Layer& layer, const Panels& inputs,
                                         std::span<const std::uint8_t> tokens, Panels& outputs);

}  // namespace ingot::evaluation
