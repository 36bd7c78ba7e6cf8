// SPDX-License-Identifier: MIT
// What Gemma 3n and 4 have besides attention and feed-forward parts: inputs that each layer has of
// its own, and several streams of states, of which a layer computes one.
#pragma once

#include "evaluation/layer_work.hpp"
#include "ingot/tokenizer.hpp"

namespace ingot::evaluation {

/// Writes the inputs of all layers behind the streams of `states`, which hold the embeddings.
///
/// @param ids  of the batch.
[[nodiscard]] Result<void> add_layer_inputs(const LayerWork& layer_work, const Network& network,
                                            std::span<const TokenId> ids, Panels& states);

/// outputs = what a layer makes of `inputs` and its own input.
[[nodiscard]] Result<void> apply_layer_input(const LayerWork& layer_work, const Network& network,
                                             const LayerInput& layer, std::size_t index,
                                             const Panels& inputs, const Panels& states,
                                             Panels& outputs);

/// Makes the other streams of the embeddings in the first one, if there are others.
[[nodiscard]] Result<void> split_streams(const LayerWork& layer_work, const Network& network,
                                         Panels& states);

/// The first stream becomes the mean of all.
[[nodiscard]] Result<void> merge_streams(const LayerWork& layer_work, const Network& network,
                                         Panels& states);

/// predictions = what the streams of a token predict for each, added to it.
[[nodiscard]] Result<void> predict_streams(const LayerWork& layer_work, const StreamMix& mix,
                                           const Panels& states, Panels& predictions);

/// Corrects all predictions by how far the first one is from what the layer made.
[[nodiscard]] Result<void> correct_streams(const LayerWork& layer_work, const StreamMix& mix,
                                           const Panels& made, Panels& predictions);

}  // namespace ingot::evaluation
