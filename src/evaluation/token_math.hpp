// SPDX-License-Identifier: MIT
// Operations on activations that work on each token alone.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "evaluation/network.hpp"
#include "evaluation/panels.hpp"
#include "evaluation/work_room.hpp"
#include "ingot/parallel.hpp"

namespace ingot::evaluation {

/// Norm of `count` features of a panel from `x` on, into `y`, which may be `x`. `weight_row` is the
/// row of the weights, for norms that have one for each head.
void normalise(const Norm& norm, const Settings& settings, std::size_t count, const float* x,
               float* y, std::size_t weight_row = 0) noexcept;

/// Norms of the heads of a panel: of each alone, or of all together, as the norm has weights.
void normalise_heads(const Norm& norm, const Settings& settings, std::size_t head_count,
                     std::size_t head_size, float* heads) noexcept;

/// y = norm of so many features of x, all that y has if it is not said; a copy if the norm is not
/// applied.
[[nodiscard]] Result<void> normalise_all(const Norm& norm, const Settings& settings,
                                         const Panels& x, Panels& y, ThreadTeam& team,
                                         std::size_t count = 0);

/// gate = activation(gate) * up
void apply_gate(Activation activation, std::span<float> gates, std::span<const float> ups) noexcept;

/// x = activation(x)
void activate(Activation activation, const CurveSettings& curve, std::span<float> x) noexcept;

/// logits = cap * tanh(logits / cap); nothing for a cap of 0.
void apply_cap(float cap, std::span<float> logits) noexcept;

[[nodiscard]] float sigmoid(float x) noexcept;

/// ln(1 + e^x)
[[nodiscard]] float softplus(float x) noexcept;

}  // namespace ingot::evaluation
