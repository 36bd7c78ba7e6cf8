// SPDX-License-Identifier: MIT
// What mixes the tokens of a chunk: causal attention.
#pragma once

#include "evaluation/layer_work.hpp"
#include "evaluation/positions.hpp"

namespace ingot::evaluation {

/// outputs = the attention of a layer.
///
/// @param rotation  that of the layer.
[[nodiscard]] Result<void> apply_attention(const LayerWork& layer_work, const Attention& attention,
                                           std::size_t layer, const Rotation& rotation,
                                           const Panels& inputs, Panels& outputs);

}  // namespace ingot::evaluation
