// SPDX-License-Identifier: MIT
#include "evaluation/recurrent/head_state.hpp"

#include <algorithm>
#include <cmath>

#include "base/checked.hpp"

namespace ingot::evaluation {

void HeadState::clear() noexcept { std::fill_n(row(0), shape_.key_size * shape_.value_size, 0.0F); }

void HeadState::step() noexcept {
  const std::span<const float> value = this->value();
  const std::span<float> found = value_vector(2);
  std::ranges::fill(found, 0.0F);
  for (std::size_t i = 0; shape_.corrects && i < shape_.key_size; ++i) {
    const float factor = seen()[i];
    const float* state = row(i);
    for (std::size_t v = 0; v < found.size(); ++v) found[v] += factor * state[v];
  }
  const std::span<float> output = value_vector(1);
  std::ranges::fill(output, 0.0F);
  for (std::size_t i = 0; i < shape_.key_size; ++i) {
    const float fade = decay()[i];
    const float added = key()[i];
    const float back = shape_.corrects ? corrected()[i] : 0.0F;
    const float before = shape_.reads_before ? query()[i] : 0.0F;
    const float after = query()[i] - before;
    float* state = row(i);
    for (std::size_t v = 0; v < output.size(); ++v) {
      output[v] += before * state[v];
      state[v] = fade * state[v] + back * found[v] + added * value[v];
      output[v] += after * state[v];
    }
  }
}

void make_unit_length(std::size_t count, std::size_t size, float epsilon, float* vectors) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    float* vector = vectors + i * size * panel_tokens;
    for (std::size_t t = 0; t < panel_tokens; ++t) {
      float sum = 0.0F;
      for (std::size_t f = 0; f < size; ++f) {
        sum += vector[f * panel_tokens + t] * vector[f * panel_tokens + t];
      }
      const float factor = 1.0F / std::max(std::sqrt(sum), epsilon);
      for (std::size_t f = 0; f < size; ++f) vector[f * panel_tokens + t] *= factor;
    }
  }
}

Result<void> run_heads(const LayerWork& layer_work, const StateShape& shape, const FillToken& fill,
                       Panels& outputs) {
  const Batch& batch = layer_work.batch;
  const std::size_t panels = batch.panels_of_chunk();
  const auto run_head = [&](std::size_t item, HeadState& state) {
    const std::size_t head = item % shape.head_count;
    const std::size_t first_panel = item / shape.head_count * panels;
    state.clear();
    for (std::size_t panel = first_panel; panel < first_panel + panels; ++panel) {
      for (std::size_t lane = 0; lane < panel_tokens; ++lane) {
        fill(head, panel, lane, state);
        state.step();
        float* to = outputs.row(panel, head * shape.value_size) + lane;
        for (std::size_t v = 0; v < shape.value_size; ++v) to[v * panel_tokens] = state.output()[v];
      }
    }
  };
  constexpr std::size_t numbers_of_piece = 4096;
  const std::size_t heads_of_piece = 1 + numbers_of_piece / (shape.key_size * shape.value_size);
  return layer_work.work.team().spread(
      batch.chunk_count * shape.head_count, heads_of_piece,
      [&](std::uint64_t first, std::uint64_t count) -> Result<void> {
        HeadState state(shape, layer_work.work.buffers());
        for (std::uint64_t i = first; i < first + count; ++i) run_head(to_size(i), state);
        return {};
      });
}

}  // namespace ingot::evaluation
