// SPDX-License-Identifier: MIT
#include "evaluation/attention.hpp"

namespace ingot::evaluation {

Result<void> apply_convolution(const LayerWork& layer_work, const ShortConvolution& convolution,
                               const Panels& inputs, Panels& outputs) {
  const std::size_t width = layer_work.settings.width;
  const std::size_t panel_floats = width * panel_tokens;
  const Batch& batch = layer_work.batch;
  INGOT_TRY(Panels parts, layer_work.project(convolution.in, inputs));
  INGOT_TRY_VOID(layer_work.for_each_panel([&](std::size_t panel) {
    const float* gates = parts.row(panel, 0);
    float* values = parts.row(panel, 2 * width);
    for (std::size_t i = 0; i < panel_floats; ++i) values[i] *= gates[i];
  }));
  Panels mixed(width, inputs.panel_count());
  INGOT_TRY_VOID(layer_work.for_each_panel([&](std::size_t panel) {
    const std::size_t position = batch.position_of(panel);
    const std::size_t chunk_panel = panel - position / panel_tokens;
    for (std::size_t f = 0; f < width; ++f) {
      const float* kernel = convolution.kernel.data() + f * convolution.taps;
      for (std::size_t t = 0; t < panel_tokens; ++t) {
        float sum = 0.0F;
        for (std::size_t back = 0; back < convolution.taps && back <= position + t; ++back) {
          const std::size_t at = position + t - back;
          const float* values = parts.row(chunk_panel + at / panel_tokens, 2 * width + f);
          sum += kernel[convolution.taps - 1 - back] * values[at % panel_tokens];
        }
        mixed.row(panel, f)[t] = sum * parts.row(panel, width + f)[t];
      }
    }
  }));
  layer_work.work.observe(convolution.out, 0, mixed, layer_work.tokens);
  return layer_work.work.multiply(convolution.out, mixed, outputs);
}

}  // namespace ingot::evaluation
