// SPDX-License-Identifier: MIT
#include "evaluation/feed_forward.hpp"

namespace ingot::evaluation {

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
  INGOT_TRY(Panels ups, work.project(weights.up, inputs, tokens, expert));
  const std::size_t panel_floats = ups.features() * panel_tokens;
  const auto activate_panel = [&](std::uint64_t panel, std::uint64_t) -> Result<void> {
    const std::span up(ups.row(panel, 0), panel_floats);
    if (gates.features() > 0) {
      apply_gate(activation, std::span(gates.row(panel, 0), panel_floats), up);
    } else {
      const bool has_curve = layer < settings.curves.size();
      activate(activation, has_curve ? settings.curves[layer] : CurveSettings{}, up);
    }
    return {};
  };
  INGOT_TRY_VOID(spread(ups.panel_count(), 1, work.thread_count(), activate_panel));
  Panels& inner = gates.features() > 0 ? gates : ups;
  if (weights.inner_norm.exists()) {
    INGOT_TRY_VOID(layer_work.normalise(weights.inner_norm, inner, inner));
  }
  work.observe(weights.down, expert, inner, tokens);
  return work.multiply(weights.down, inner, outputs);
}

}  // namespace ingot::evaluation
