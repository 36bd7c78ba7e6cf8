// SPDX-License-Identifier: MIT
// The layers of RWKV 6 and 7.
#include <algorithm>
#include <cmath>

#include "evaluation/recurrent/head_state.hpp"
#include "evaluation/recurrent/recurrent.hpp"

namespace ingot::evaluation {
namespace {

/// What each token has of the one before it more than itself.
Result<Panels> differences(const LayerWork& layer_work, const Panels& inputs) {
  Panels made(inputs.features(), inputs.panel_count());
  INGOT_TRY_VOID(layer_work.for_each_panel([&](std::size_t panel) {
    const bool is_first = layer_work.batch.position_of(panel) == 0;
    for (std::size_t f = 0; f < inputs.features(); ++f) {
      const float* x = inputs.row(panel, f);
      float before = is_first ? 0.0F : inputs.row(panel - 1, f)[panel_tokens - 1];
      for (std::size_t t = 0; t < panel_tokens; ++t) {
        made.row(panel, f)[t] = before - x[t];
        before = x[t];
      }
    }
  }));
  return made;
}

/// inputs + differences * (weights + more), feature by feature.
Result<Panels> shift(const LayerWork& layer_work, const Panels& inputs, const Panels& differences,
                     std::span<const float> weights, const Panels& more = {}) {
  Panels made(inputs.features(), inputs.panel_count());
  INGOT_TRY_VOID(layer_work.for_each_panel([&](std::size_t panel) {
    for (std::size_t f = 0; f < inputs.features(); ++f) {
      const float* x = inputs.row(panel, f);
      const float* difference = differences.row(panel, f);
      for (std::size_t t = 0; t < panel_tokens; ++t) {
        const float own = more.features() > 0 ? more.row(panel, f)[t] : 0.0F;
        made.row(panel, f)[t] = x[t] + difference[t] * (weights[f] + own);
      }
    }
  }));
  return made;
}

/// Applies a function to all numbers.
template <class Function>
Result<void> change(const LayerWork& layer_work, Panels& panels, const Function& function) {
  return layer_work.for_each_panel([&](std::size_t panel) {
    for (float& number : panels.numbers(panel)) number = function(number);
  });
}

/// up(curve(down(inputs))) + bias
template <class Curve>
Result<Panels> through_narrow(const LayerWork& layer_work, const LowRank& low, const Panels& inputs,
                              const Curve& curve) {
  INGOT_TRY(Panels narrow, layer_work.project(low.down, inputs));
  INGOT_TRY_VOID(change(layer_work, narrow, curve));
  INGOT_TRY(Panels made, layer_work.project(low.up, narrow));
  for (std::size_t panel = 0; !low.bias.empty() && panel < made.panel_count(); ++panel) {
    for (std::size_t f = 0; f < made.features(); ++f) {
      for (std::size_t t = 0; t < panel_tokens; ++t) made.row(panel, f)[t] += low.bias[f];
    }
  }
  return made;
}

float identity(float x) noexcept { return x; }

/// The vectors of all tokens.
struct TimeMixInputs {
  Panels decays;
  Panels keys;
  Panels values;
  Panels queries;
  Panels gates;   ///< Or none.
  Panels rates;   ///< In-context rates of learning, or none.
  Panels places;  ///< Of unit length: where the state is corrected, or none.
};

/// The inputs of one of several projections: a mix of a token and the one before.
class Shifts {
 public:
  Shifts(const LayerWork& layer_work, const TimeMix& layer, const Panels& inputs)
      : layer_work_(layer_work), layer_(layer), inputs_(inputs) {}

  Result<void> prepare() {
    INGOT_TRY(differences_, differences(layer_work_, inputs_));
    if (!layer_.shift.down.exists()) return {};
    INGOT_TRY(const Panels mixed, shift(layer_work_, inputs_, differences_, layer_.shift.bias));
    INGOT_TRY(narrow_, layer_work_.project(layer_.shift.down, mixed));
    return change(layer_work_, narrow_, [](float x) { return std::tanh(x); });
  }

  Result<Panels> of(std::size_t index) const {
    const std::size_t width = inputs_.features();
    const auto weights = std::span(layer_.shifts).subspan(index * width, width);
    if (!layer_.shift.down.exists()) return shift(layer_work_, inputs_, differences_, weights);
    const std::size_t rank = layer_.shift.up.columns;
    INGOT_TRY(const Panels more, layer_work_.work.project(layer_.shift.up.of_expert(index),
                                                          features_of(narrow_, index * rank, rank),
                                                          layer_work_.tokens, index));
    return shift(layer_work_, inputs_, differences_, weights, more);
  }

  Result<Panels> project(std::size_t index, const Matrix& matrix) const {
    INGOT_TRY(const Panels shifted, of(index));
    return layer_work_.project(matrix, shifted);
  }

 private:
  const LayerWork& layer_work_;
  const TimeMix& layer_;
  const Panels& inputs_;
  Panels differences_;
  Panels narrow_;
};

/// Values of later layers lean to those of the first, which the states carry.
Result<void> add_first_values(const LayerWork& layer_work, const TimeMix& layer,
                              const Panels& shifted, Panels& states, Panels& values) {
  const std::size_t width = layer_work.settings.width;
  if (!layer.residual.down.exists()) {
    copy_features(values, 0, width, states, width);
    return {};
  }
  INGOT_TRY(Panels shares, through_narrow(layer_work, layer.residual, shifted, identity));
  return layer_work.for_each_panel([&](std::size_t panel) {
    for (std::size_t i = 0; i < width * panel_tokens; ++i) {
      float& value = values.row(panel, 0)[i];
      value += (states.row(panel, width)[i] - value) * sigmoid(shares.row(panel, 0)[i]);
    }
  });
}

/// Places of unit length, and keys that grow with the rates.
Result<void> correct_keys(const LayerWork& layer_work, const TimeMix& layer, TimeMixInputs& made) {
  made.places = made.keys.copy();
  return layer_work.for_each_panel([&](std::size_t panel) {
    for (std::size_t f = 0; f < made.keys.features(); ++f) {
      for (std::size_t t = 0; t < panel_tokens; ++t) {
        float& key = made.keys.row(panel, f)[t];
        made.places.row(panel, f)[t] *= layer.place_weights[f];
        float& rate = made.rates.row(panel, f)[t];
        rate = sigmoid(rate);
        key += key * layer.rate_weights[f] * (rate - 1.0F);
      }
    }
    make_unit_length(layer.head_count, layer.head_size, 1e-12F, made.places.row(panel, 0));
  });
}

/// The inputs of RWKV 7.
Result<void> make_corrected(const LayerWork& layer_work, const TimeMix& layer, const Shifts& shifts,
                            Panels& states, TimeMixInputs& made) {
  INGOT_TRY(made.queries, shifts.project(0, layer.query));
  INGOT_TRY(const Panels of_decay, shifts.of(1));
  INGOT_TRY(made.decays, through_narrow(layer_work, layer.decay, of_decay,
                                        [](float x) { return std::tanh(x); }));
  INGOT_TRY(made.keys, shifts.project(2, layer.key));
  INGOT_TRY(const Panels of_value, shifts.of(3));
  INGOT_TRY(made.values, layer_work.project(layer.value, of_value));
  INGOT_TRY_VOID(add_first_values(layer_work, layer, of_value, states, made.values));
  INGOT_TRY(const Panels of_rate, shifts.of(4));
  INGOT_TRY(made.rates, through_narrow(layer_work, layer.rate, of_rate, identity));
  if (layer.narrow_gate.down.exists()) {
    INGOT_TRY(const Panels of_gate, shifts.of(5));
    INGOT_TRY(made.gates, through_narrow(layer_work, layer.narrow_gate, of_gate, sigmoid));
  }
  // e^-0.5, the strongest fading
  INGOT_TRY_VOID(
      change(layer_work, made.decays, [](float x) { return std::exp(-0.606531F * sigmoid(x)); }));
  return correct_keys(layer_work, layer, made);
}

/// Repeats keys or values that heads share.
Panels repeated(const TimeMix& layer, Panels panels) {
  const std::size_t count = layer.head_count * layer.head_size / panels.features();
  if (count == 1) return panels;
  Panels made(layer.head_count * layer.head_size, panels.panel_count());
  for (std::size_t head = 0; head < layer.head_count; ++head) {
    copy_features(panels, head / count * layer.head_size, layer.head_size, made,
                  head * layer.head_size);
  }
  return made;
}

/// The inputs of RWKV 6.
Result<void> make_faded(const LayerWork& layer_work, const TimeMix& layer, const Shifts& shifts,
                        TimeMixInputs& made) {
  INGOT_TRY(const Panels of_decay, shifts.of(0));
  INGOT_TRY(made.decays, through_narrow(layer_work, layer.decay, of_decay,
                                        [](float x) { return std::tanh(x); }));
  INGOT_TRY_VOID(change(layer_work, made.decays, [](float x) { return std::exp(-std::exp(x)); }));
  INGOT_TRY(made.keys, shifts.project(1, layer.key));
  INGOT_TRY(made.values, shifts.project(2, layer.value));
  INGOT_TRY(made.queries, shifts.project(3, layer.query));
  INGOT_TRY(made.gates, shifts.project(4, layer.gate));
  made.keys = repeated(layer, std::move(made.keys));
  made.values = repeated(layer, std::move(made.values));
  const bool is_linear = layer.bonus.empty();
  INGOT_TRY_VOID(
      change(layer_work, made.gates, [&](float x) { return sigmoid(x) * (is_linear ? 1.0F : x); }));
  for (std::size_t i = 0; is_linear && i < made.keys.size(); ++i) {
    made.keys.data()[i] *= 1.0F - made.decays.data()[i];
  }
  return {};
}

/// What all states give.
Result<Panels> read_time_states(const LayerWork& layer_work, const TimeMix& layer,
                                const TimeMixInputs& made) {
  const std::size_t size = layer.head_size;
  const bool is_linear = layer.bonus.empty();
  const StateShape shape{.head_count = layer.head_count,
                         .key_size = size,
                         .value_size = size,
                         .corrects = layer.corrects(),
                         .reads_before = !layer.corrects() && !is_linear};
  const float scale = is_linear ? 1.0F / std::sqrt(static_cast<float>(size)) : 1.0F;
  const auto fill = [&](std::size_t head, std::size_t panel, std::size_t lane, HeadState& state) {
    const std::size_t first = head * size;
    take_token(made.decays, panel, first, lane, state.decay());
    take_token(made.keys, panel, first, lane, state.key());
    take_token(made.values, panel, first, lane, state.value());
    take_token(made.queries, panel, first, lane, state.query());
    for (float& query : state.query()) query *= scale;
    if (!shape.corrects) return;
    take_token(made.places, panel, first, lane, state.corrected());
    for (std::size_t i = 0; i < size; ++i) {
      state.seen()[i] = -state.corrected()[i];
      state.corrected()[i] *= made.rates.row(panel, first + i)[lane];
    }
  };
  Panels outputs(layer.head_count * size, made.keys.panel_count());
  INGOT_TRY_VOID(run_heads(layer_work, shape, fill, outputs));
  return outputs;
}

/// What a token gives of its own value, beside the state.
void add_own_values(const TimeMix& layer, const TimeMixInputs& made, std::size_t panel,
                    Panels& outputs) {
  for (std::size_t first = 0; first < layer.bonus.size(); first += layer.head_size) {
    for (std::size_t t = 0; t < panel_tokens; ++t) {
      float sum = 0.0F;
      for (std::size_t f = first; f < first + layer.head_size; ++f) {
        sum += layer.bonus[f] * made.keys.row(panel, f)[t] * made.queries.row(panel, f)[t];
      }
      for (std::size_t f = first; f < first + layer.head_size; ++f) {
        outputs.row(panel, f)[t] += sum * made.values.row(panel, f)[t];
      }
    }
  }
}

}  // namespace

Result<void> apply_time_mix(const LayerWork& layer_work, const TimeMix& layer, const Panels& inputs,
                            Panels& states, Panels& outputs) {
  Shifts shifts(layer_work, layer, inputs);
  INGOT_TRY_VOID(shifts.prepare());
  TimeMixInputs made;
  INGOT_TRY_VOID(layer.corrects() ? make_corrected(layer_work, layer, shifts, states, made)
                                  : make_faded(layer_work, layer, shifts, made));
  INGOT_TRY(Panels read, read_time_states(layer_work, layer, made));
  Settings of_groups = layer_work.settings;
  of_groups.epsilon = 64e-5F;
  of_groups.parts.norms.kind = NormKind::layer;
  INGOT_TRY_VOID(layer_work.for_each_panel([&](std::size_t panel) {
    if (!layer.corrects()) add_own_values(layer, made, panel, read);
    normalise_heads(layer.norm, of_groups, layer.head_count, layer.head_size, read.row(panel, 0));
    if (layer.corrects()) add_own_values(layer, made, panel, read);
    if (made.gates.features() == 0) return;
    for (std::size_t i = 0; i < read.features() * panel_tokens; ++i) {
      read.row(panel, 0)[i] *= made.gates.row(panel, 0)[i];
    }
  }));
  layer_work.work.observe(layer.out, 0, read, layer_work.tokens);
  return layer_work.work.multiply(layer.out, read, outputs);
}

Result<void> apply_channel_mix(const LayerWork& layer_work, const ChannelMix& layer,
                               const Panels& inputs, Panels& outputs) {
  INGOT_TRY(const Panels before, differences(layer_work, inputs));
  INGOT_TRY(const Panels of_key, shift(layer_work, inputs, before, layer.key_shift));
  INGOT_TRY(Panels inner, layer_work.project(layer.key, of_key));
  INGOT_TRY_VOID(change(layer_work, inner, [](float x) { return x > 0.0F ? x * x : 0.0F; }));
  layer_work.work.observe(layer.value, 0, inner, layer_work.tokens);
  INGOT_TRY_VOID(layer_work.work.multiply(layer.value, inner, outputs));
  if (!layer.receptance.exists()) return {};
  INGOT_TRY(const Panels of_gate, shift(layer_work, inputs, before, layer.receptance_shift));
  INGOT_TRY(const Panels gates, layer_work.project(layer.receptance, of_gate));
  for (std::size_t i = 0; i < gates.size(); ++i) outputs.data()[i] *= sigmoid(gates.data()[i]);
  return {};
}

}  // namespace ingot::evaluation
