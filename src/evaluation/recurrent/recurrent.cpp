// SPDX-License-Identifier: MIT
#include "evaluation/recurrent/recurrent.hpp"

#include <cmath>

#include "evaluation/recurrent/head_state.hpp"

namespace ingot::evaluation {
namespace {

/// What a state-space layer makes of its inputs.
struct StateSpaceInputs {
  Panels gates;
  Panels values;   ///< Behind the convolution; inputs and outputs may follow.
  Panels inputs;   ///< What goes into the state, for each group.
  Panels outputs;  ///< What is read of it, for each group.
  Panels steps;    ///< For each head.
};

/// Gates, values and steps as the first matrix has them.
Result<void> split_inputs(const LayerWork& layer_work, const StateSpace& layer,
                          const Panels& inputs, StateSpaceInputs& made) {
  const StateSpaceFacts& facts = layer_work.settings.parts.state_space;
  INGOT_TRY(const Panels both, layer_work.project(layer.in, inputs));
  const std::size_t inner = layer.head_count * layer.head_size;
  const std::size_t block = facts.alternates_heads ? layer.head_size : inner;
  const std::size_t features = layer.convolution.features();
  const bool begins_with_values = layer.mix.exists() && !facts.alternates_heads;
  made.gates = Panels(inner, inputs.panel_count());
  made.values = Panels(features, inputs.panel_count());
  for (std::size_t at = 0; at < inner; at += block) {
    copy_features(both, 2 * at + (begins_with_values ? block : 0), block, made.gates, at);
    copy_features(both, 2 * at + (begins_with_values ? 0 : block), block, made.values, at);
  }
  if (layer.mix.exists()) return {};
  copy_features(both, 2 * inner, features - inner, made.values, inner);
  made.steps = features_of(both, inner + features, layer.head_count);
  return {};
}

/// Inputs, outputs and steps that come from the values.
Result<void> mix_values(const LayerWork& layer_work, const StateSpace& layer,
                        StateSpaceInputs& made) {
  INGOT_TRY(const Panels mixed, layer_work.project(layer.mix, made.values));
  const std::size_t size = layer.state_size;
  const std::size_t rank = layer.step.columns;
  const bool begins_with_steps = !layer_work.settings.parts.state_space.steps_last;
  const std::size_t first = begins_with_steps ? rank : 0;
  Panels narrow = features_of(mixed, begins_with_steps ? 0 : 2 * size, rank);
  made.inputs = features_of(mixed, first, size);
  made.outputs = features_of(mixed, first + size, size);
  INGOT_TRY_VOID(layer_work.normalise(layer.step_norm, narrow, narrow));
  INGOT_TRY_VOID(layer_work.normalise(layer.input_norm, made.inputs, made.inputs));
  INGOT_TRY_VOID(layer_work.normalise(layer.output_norm, made.outputs, made.outputs));
  INGOT_TRY(made.steps, layer_work.project(layer.step, narrow));
  return {};
}

Result<StateSpaceInputs> make_inputs(const LayerWork& layer_work, const StateSpace& layer,
                                     const Panels& inputs) {
  StateSpaceInputs made;
  INGOT_TRY_VOID(split_inputs(layer_work, layer, inputs, made));
  INGOT_TRY(made.values, convolve_silu(layer_work, layer.convolution, made.values));
  if (layer.mix.exists()) {
    INGOT_TRY_VOID(mix_values(layer_work, layer, made));
  } else {
    const std::size_t inner = layer.head_count * layer.head_size;
    const std::size_t states = layer.group_count * layer.state_size;
    made.inputs = features_of(made.values, inner, states);
    made.outputs = features_of(made.values, inner + states, states);
  }
  INGOT_TRY_VOID(layer_work.for_each_panel([&](std::size_t panel) {
    for (std::size_t head = 0; head < layer.head_count; ++head) {
      const float bias = layer.step_bias.empty() ? 0.0F : layer.step_bias[head];
      float* steps = made.steps.row(panel, head);
      for (std::size_t t = 0; t < panel_tokens; ++t) steps[t] = softplus(steps[t] + bias);
    }
  }));
  return made;
}

/// The states of all heads read for each token.
Result<Panels> scan(const LayerWork& layer_work, const StateSpace& layer,
                    const StateSpaceInputs& made) {
  const std::size_t size = layer.state_size;
  const StateShape shape{
      .head_count = layer.head_count, .key_size = size, .value_size = layer.head_size};
  const bool has_own_decays = layer.decay.size() > layer.head_count;
  const std::size_t heads_of_group = layer.head_count / layer.group_count;
  const auto fill = [&](std::size_t head, std::size_t panel, std::size_t lane, HeadState& state) {
    const float step = made.steps.row(panel, head)[lane];
    const std::size_t group = head / heads_of_group * size;
    take_token(made.inputs, panel, group, lane, state.key());
    take_token(made.outputs, panel, group, lane, state.query());
    take_token(made.values, panel, head * layer.head_size, lane, state.value());
    const float whole = has_own_decays ? 0.0F : std::exp(step * layer.decay[head]);
    for (std::size_t i = 0; i < size; ++i) {
      state.key()[i] *= step;
      state.decay()[i] = has_own_decays ? std::exp(step * layer.decay[head * size + i]) : whole;
    }
  };
  Panels outputs(layer.head_count * layer.head_size, made.values.panel_count());
  INGOT_TRY_VOID(run_heads(layer_work, shape, fill, outputs));
  return outputs;
}

}  // namespace

Result<Panels> convolve(const LayerWork& layer_work, const Convolution& convolution,
                        const Panels& inputs, std::size_t first) {
  const std::size_t taps = convolution.taps;
  Panels outputs(convolution.features(), inputs.panel_count());
  INGOT_TRY_VOID(layer_work.for_each_panel([&](std::size_t panel) {
    const std::size_t position = layer_work.batch.position_of(panel);
    const std::size_t chunk_panel = panel - position / panel_tokens;
    for (std::size_t f = 0; f < outputs.features(); ++f) {
      const float* kernel = convolution.kernel.data() + f * taps;
      const float bias = convolution.bias.empty() ? 0.0F : convolution.bias[f];
      for (std::size_t t = 0; t < panel_tokens; ++t) {
        float sum = bias;
        for (std::size_t back = 0; back < taps && back <= position + t; ++back) {
          const std::size_t at = position + t - back;
          const float* values = inputs.row(chunk_panel + at / panel_tokens, first + f);
          sum += kernel[taps - 1 - back] * values[at % panel_tokens];
        }
        outputs.row(panel, f)[t] = sum;
      }
    }
  }));
  return outputs;
}

Result<Panels> convolve_silu(const LayerWork& layer_work, const Convolution& convolution,
                             const Panels& inputs) {
  INGOT_TRY(Panels outputs, convolve(layer_work, convolution, inputs, 0));
  INGOT_TRY_VOID(layer_work.for_each_panel(
      [&](std::size_t panel) { activate(Activation::silu, {}, outputs.numbers(panel)); }));
  return outputs;
}

Result<void> apply_convolution(const LayerWork& layer_work, const ShortConvolution& layer,
                               const Panels& inputs, Panels& outputs) {
  const std::size_t width = layer_work.settings.width;
  const std::size_t panel_floats = width * panel_tokens;
  INGOT_TRY(Panels parts, layer_work.project(layer.in, inputs));
  INGOT_TRY_VOID(layer_work.for_each_panel([&](std::size_t panel) {
    const float* gates = parts.row(panel, 0);
    float* values = parts.row(panel, 2 * width);
    for (std::size_t i = 0; i < panel_floats; ++i) values[i] *= gates[i];
  }));
  INGOT_TRY(Panels mixed, convolve(layer_work, layer.convolution, parts, 2 * width));
  INGOT_TRY_VOID(layer_work.for_each_panel([&](std::size_t panel) {
    const float* gates = parts.row(panel, width);
    for (std::size_t i = 0; i < panel_floats; ++i) mixed.row(panel, 0)[i] *= gates[i];
  }));
  layer_work.work.observe(layer.out, 0, mixed, layer_work.tokens);
  return layer_work.work.multiply(layer.out, mixed, outputs);
}

Result<void> apply_state_space(const LayerWork& layer_work, const StateSpace& layer,
                               const Panels& inputs, Panels& outputs) {
  INGOT_TRY(StateSpaceInputs made, make_inputs(layer_work, layer, inputs));
  INGOT_TRY(const Panels read, scan(layer_work, layer, made));
  INGOT_TRY_VOID(layer_work.for_each_panel([&](std::size_t panel) {
    for (std::size_t f = 0; f < read.features(); ++f) {
      const float skip = layer.skip[f / layer.head_size];
      float* values = made.values.row(panel, f);
      for (std::size_t t = 0; t < panel_tokens; ++t) {
        values[t] = values[t] * skip + read.row(panel, f)[t];
      }
    }
    const std::span gates = made.gates.numbers(panel);
    apply_gate(Activation::silu, gates, std::span(made.values.row(panel, 0), gates.size()));
    normalise_heads(layer.norm, layer_work.settings, layer.group_count,
                    made.gates.features() / layer.group_count, gates.data());
  }));
  layer_work.work.observe(layer.out, 0, made.gates, layer_work.tokens);
  return layer_work.work.multiply(layer.out, made.gates, outputs);
}

}  // namespace ingot::evaluation
