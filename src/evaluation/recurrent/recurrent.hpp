// SPDX-License-Identifier: MIT
// What mixes the tokens of a chunk with a state in place of attention.
#pragma once

#include "evaluation/layer_work.hpp"

namespace ingot::evaluation {

/// outputs = out(gate * convolution(other gate * values)) of the last few tokens.
[[nodiscard]] Result<void> apply_convolution(const LayerWork& layer_work,
                                             const ShortConvolution& layer, const Panels& inputs,
                                             Panels& outputs);

/// outputs = the state-space layer of Mamba.
[[nodiscard]] Result<void> apply_state_space(const LayerWork& layer_work, const StateSpace& layer,
                                             const Panels& inputs, Panels& outputs);

/// outputs = the layer with the gated delta rule.
[[nodiscard]] Result<void> apply_delta_net(const LayerWork& layer_work, const DeltaNet& layer,
                                           const Panels& inputs, Panels& outputs);

/// outputs = the layer of RWKV that mixes tokens. Behind the states lie the values of the first
/// layer where later ones use them.
[[nodiscard]] Result<void> apply_time_mix(const LayerWork& layer_work, const TimeMix& layer,
                                          const Panels& inputs, Panels& states, Panels& outputs);

/// outputs = the feed-forward part of RWKV, which also looks at the token before.
[[nodiscard]] Result<void> apply_channel_mix(const LayerWork& layer_work, const ChannelMix& layer,
                                             const Panels& inputs, Panels& outputs);

/// The convolution of features from `first` on, which may be more than those of the convolution.
[[nodiscard]] Result<Panels> convolve(const LayerWork& layer_work, const Convolution& convolution,
                                      const Panels& inputs, std::size_t first);

/// The same with SiLU behind it.
[[nodiscard]] Result<Panels> convolve_silu(const LayerWork& layer_work,
                                           const Convolution& convolution, const Panels& inputs);

}  // namespace ingot::evaluation
