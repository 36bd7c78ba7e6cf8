// SPDX-License-Identifier: MIT
#include "evaluation/feed_forward.hpp"

#include <algorithm>
#include <cmath>

#include "base/checked.hpp"

namespace ingot::evaluation {
namespace {

/// Leaves of each token's gates what is above their mean by so many standard deviations that of a
/// normal distribution 5 % are.
void keep_largest(Panels& gates) {
  constexpr float deviations = 1.6448533535003662F;
  const auto count = static_cast<float>(gates.features());
  for (std::size_t panel = 0; panel < gates.panel_count(); ++panel) {
    for (std::size_t t = 0; t < panel_tokens; ++t) {
      float sum = 0.0F;
      for (std::size_t f = 0; f < gates.features(); ++f) sum += gates.row(panel, f)[t];
      const float mean = sum / count;
      float squares = 0.0F;
      for (std::size_t f = 0; f < gates.features(); ++f) {
        const float difference = gates.row(panel, f)[t] - mean;
        squares += difference * difference;
      }
      const float bound = mean + deviations * std::sqrt(squares / (count - 1.0F));
      for (std::size_t f = 0; f < gates.features(); ++f) {
        float& gate = gates.row(panel, f)[t];
        gate = std::max(gate - bound, 0.0F);
      }
    }
  }
}

}  // namespace

Result<void> feed_forward(const LayerWork& layer_work, const FeedForward& weights,
                          std::size_t layer, std::size_t expert, const Panels& inputs,
                          std::span<const std::uint8_t> tokens, Panels& outputs) {
  MatrixWork& work = layer_work.work;
  const Settings& settings = layer_work.settings;
  const Activation activation = settings.parts.activation;
  Panels gates;
  if (weights.gate.exists()) {
    INGOT_TRY(gates, work.project(weights.gate, inputs, tokens, expert));
  }
  if (layer < settings.parts.sparse_layers) keep_largest(gates);
  INGOT_TRY(Panels ups, work.project(weights.up, inputs, tokens, expert));
  const std::size_t panel_floats = ups.features() * panel_tokens;
  const auto activate_panel = [&](std::uint64_t position, std::uint64_t) -> Result<void> {
    const std::size_t panel = to_size(position);
    const std::span up(ups.row(panel, 0), panel_floats);
    if (gates.features() > 0) {
      apply_gate(activation, std::span(gates.row(panel, 0), panel_floats), up);
    } else {
      const bool has_curve = layer < settings.curves.size();
      activate(activation, has_curve ? settings.curves[layer] : CurveSettings{}, up);
    }
    return {};
  };
  INGOT_TRY_VOID(work.team().spread(ups.panel_count(), 1, activate_panel));
  Panels& inner = gates.features() > 0 ? gates : ups;
  if (weights.inner_norm.exists()) {
    INGOT_TRY_VOID(layer_work.normalise(weights.inner_norm, inner, inner));
  }
  work.observe(weights.down, expert, inner, tokens);
  return work.multiply(weights.down, inner, outputs);
}

}  // namespace ingot::evaluation
