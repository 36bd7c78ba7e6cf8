// SPDX-License-Identifier: MIT
// What mixes the tokens of a chunk: attention to earlier tokens, or to all.
#pragma once

#include "evaluation/layer_work.hpp"
#include "evaluation/positions.hpp"

namespace ingot::evaluation {

/// outputs = the attention of a layer.
///
/// @param rotation  that of the layer.
/// @param states    hold keys and values that layers share.
[[nodiscard]] Result<void> apply_attention(const LayerWork& layer_work, const Attention& attention,
                                           std::size_t layer, const Rotation& rotation,
                                           const Panels& inputs, Panels& states, Panels& outputs);

}  // namespace ingot::evaluation
