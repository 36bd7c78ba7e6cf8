// SPDX-License-Identifier: MIT
// Layers that carry a state from token to token in place of attention.
#pragma once

#include "evaluation/layer_work.hpp"

namespace ingot::evaluation {

/// outputs = out(gate * convolution(other gate * values)) of the last few tokens.
[[nodiscard]] Result<void> apply_convolution(const LayerWork& layer_work,
                                             const ShortConvolution& convolution,
                                             const Panels& inputs, Panels& outputs);

}  // namespace ingot::evaluation
