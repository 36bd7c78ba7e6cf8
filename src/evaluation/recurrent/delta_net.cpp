// SPDX-License-Identifier: MIT
#include <cmath>

#include "evaluation/recurrent/head_state.hpp"
#include "evaluation/recurrent/recurrent.hpp"

namespace ingot::evaluation {
namespace {

/// What a delta net makes of its inputs.
struct DeltaInputs {
  Panels mixed;      ///< Queries, keys and values of all heads.
  Panels gates;      ///< Of what is read.
  Panels decays;     ///< Logarithms: for each head, or for each element of its keys.
  Panels strengths;  ///< For each head, how far a value replaces what was there.
};

/// What several matrices make, each of what the one before has made.
Result<Panels> project_chain(const LayerWork& layer_work, const std::vector<Matrix>& chain,
                             const Panels& inputs) {
  INGOT_TRY(Panels made, layer_work.project(chain.front(), inputs));
  for (std::size_t i = 1; i < chain.size(); ++i) {
    INGOT_TRY(made, layer_work.project(chain[i], made));
  }
  return made;
}

/// Queries, keys, values and gates as old files have them: those of a head of keys together.
void split_by_key_head(const DeltaNet& layer, const Panels& fused, DeltaInputs& made) {
  const std::size_t size = layer.head_size;
  const std::size_t values = layer.head_count / layer.key_head_count * size;
  const std::size_t keys = layer.key_head_count * size;
  made.gates = Panels(layer.head_count * size, fused.panel_count());
  for (std::size_t head = 0; head < layer.key_head_count; ++head) {
    const std::size_t from = head * 2 * (size + values);
    copy_features(fused, from, size, made.mixed, head * size);
    copy_features(fused, from + size, size, made.mixed, keys + head * size);
    copy_features(fused, from + 2 * size, values, made.mixed, 2 * keys + head * values);
    copy_features(fused, from + 2 * size + values, values, made.gates, head * values);
  }
}

Result<void> mix_inputs(const LayerWork& layer_work, const DeltaNet& layer, const Panels& inputs,
                        DeltaInputs& made) {
  made.mixed = Panels(layer.convolution.features(), inputs.panel_count());
  std::size_t at = 0;
  for (const Matrix& matrix : layer.in) {
    INGOT_TRY(const Panels part, layer_work.project(matrix, inputs));
    if (layer.gate.empty()) {
      split_by_key_head(layer, part, made);
    } else {
      copy_features(part, 0, part.features(), made.mixed, at);
      at += part.features();
    }
  }
  INGOT_TRY(made.mixed, convolve_silu(layer_work, layer.convolution, made.mixed));
  if (layer.gate.empty()) return {};
  INGOT_TRY(made.gates, project_chain(layer_work, layer.gate, inputs));
  return {};
}

/// The strengths and decays of a head of keys together.
Result<void> split_rates(const LayerWork& layer_work, const DeltaNet& layer, const Panels& inputs,
                         DeltaInputs& made) {
  INGOT_TRY(const Panels both, layer_work.project(layer.rates, inputs));
  const std::size_t count = layer.head_count / layer.key_head_count;
  made.strengths = Panels(layer.head_count, inputs.panel_count());
  made.decays = Panels(layer.head_count, inputs.panel_count());
  for (std::size_t at = 0; at < layer.head_count; at += count) {
    copy_features(both, 2 * at, count, made.strengths, at);
    copy_features(both, 2 * at + count, count, made.decays, at);
  }
  return {};
}

Result<DeltaInputs> make_delta_inputs(const LayerWork& layer_work, const DeltaNet& layer,
                                      const Panels& inputs) {
  DeltaInputs made;
  INGOT_TRY_VOID(mix_inputs(layer_work, layer, inputs, made));
  if (layer.rates.exists()) {
    INGOT_TRY_VOID(split_rates(layer_work, layer, inputs, made));
  } else {
    INGOT_TRY(made.strengths, layer_work.project(layer.strength, inputs));
    INGOT_TRY(made.decays, project_chain(layer_work, layer.decay, inputs));
  }
  INGOT_TRY_VOID(layer_work.for_each_panel([&](std::size_t panel) {
    make_unit_length(2 * layer.key_head_count, layer.head_size, layer_work.settings.epsilon,
                     made.mixed.row(panel, 0));
    for (float& strength : made.strengths.numbers(panel)) strength = sigmoid(strength);
    const std::size_t of_head = made.decays.features() / layer.head_count;
    for (std::size_t f = 0; f < made.decays.features(); ++f) {
      float* decays = made.decays.row(panel, f);
      for (std::size_t t = 0; t < panel_tokens; ++t) {
        decays[t] = layer.decay_factor[f / of_head] * softplus(decays[t] + layer.decay_bias[f]);
      }
    }
  }));
  return made;
}

Result<Panels> read_states(const LayerWork& layer_work, const DeltaNet& layer,
                           const DeltaInputs& made) {
  const std::size_t size = layer.head_size;
  const StateShape shape{
      .head_count = layer.head_count, .key_size = size, .value_size = size, .corrects = true};
  const std::size_t keys = layer.key_head_count * size;
  const bool is_tiled = layer_work.settings.parts.delta_net.tiles_keys;
  const bool has_own_decays = made.decays.features() > layer.head_count;
  const float scale = 1.0F / std::sqrt(static_cast<float>(size));
  const auto fill = [&](std::size_t head, std::size_t panel, std::size_t lane, HeadState& state) {
    const std::size_t key_head =
        is_tiled ? head % layer.key_head_count : head / (layer.head_count / layer.key_head_count);
    take_token(made.mixed, panel, key_head * size, lane, state.query());
    take_token(made.mixed, panel, keys + key_head * size, lane, state.key());
    take_token(made.mixed, panel, 2 * keys + head * size, lane, state.value());
    const float strength = made.strengths.row(panel, head)[lane];
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t feature = has_own_decays ? head * size + i : head;
      const float decay = std::exp(made.decays.row(panel, feature)[lane]);
      state.decay()[i] = decay;
      state.query()[i] *= scale;
      state.seen()[i] = decay * state.key()[i];
      state.key()[i] *= strength;
      state.corrected()[i] = -state.key()[i];
    }
  };
  Panels outputs(layer.head_count * size, made.mixed.panel_count());
  INGOT_TRY_VOID(run_heads(layer_work, shape, fill, outputs));
  return outputs;
}

}  // namespace

Result<void> apply_delta_net(const LayerWork& layer_work, const DeltaNet& layer,
                             const Panels& inputs, Panels& outputs) {
  INGOT_TRY(DeltaInputs made, make_delta_inputs(layer_work, layer, inputs));
  INGOT_TRY(Panels read, read_states(layer_work, layer, made));
  const bool has_sigmoid = layer_work.settings.parts.delta_net.has_sigmoid_gates;
  INGOT_TRY_VOID(layer_work.for_each_panel([&](std::size_t panel) {
    const std::span numbers = read.numbers(panel);
    normalise_heads(layer.norm, layer_work.settings, layer.head_count, layer.head_size,
                    numbers.data());
    const std::span gates = made.gates.numbers(panel);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] *= sigmoid(gates[i]) * (has_sigmoid ? 1.0F : gates[i]);
    }
  }));
  layer_work.work.observe(layer.out, 0, read, layer_work.tokens);
  return layer_work.work.multiply(layer.out, read, outputs);
}

}  // namespace ingot::evaluation
