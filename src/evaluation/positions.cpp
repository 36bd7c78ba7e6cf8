// SPDX-License-Identifier: MIT
#include "evaluation/positions.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

namespace ingot::evaluation {
namespace {

/// The part of the scaling that YaRN takes of a pair, from 0 to 1.
double yarn_share(const RopeSettings& rope, std::size_t rotated, double base, std::size_t pair) {
  const double size = static_cast<double>(rotated);
  const auto pair_of_turns = [&](double turns) {
    const double context = static_cast<double>(rope.original_context);
    return size * std::log(context / (turns * 2.0 * std::numbers::pi)) / (2.0 * std::log(base));
  };
  const double first = std::max(0.0, std::floor(pair_of_turns(rope.fast_turns)));
  const double last = std::min(size - 1.0, std::ceil(pair_of_turns(rope.slow_turns)));
  const double part = (static_cast<double>(pair) - first) / std::max(0.001, last - first);
  return std::clamp(part, 0.0, 1.0);
}

}  // namespace

Rotation::Rotation(const RopeSettings& rope, Pairing pairing, bool in_window,
                   std::span<const float> factors, const Batch& batch)
    : pairing_(pairing),
      positions_(batch.panels_of_chunk() * panel_tokens),
      cosines_((in_window ? rope.window_rotated : rope.rotated) / 2 * positions_),
      sines_(cosines_.size()) {
  const std::size_t rotated = in_window ? rope.window_rotated : rope.rotated;
  const double base = in_window ? rope.window_base : rope.base;
  const double scale = in_window ? rope.window_scale : rope.scale;
  const double magnitude = in_window ? rope.window_magnitude : rope.magnitude;
  for (std::size_t pair = 0; pair < rotated / 2; ++pair) {
    const double exponent = -2.0 * static_cast<double>(pair) / static_cast<double>(rotated);
    const double factor = factors.empty() ? 1.0 : static_cast<double>(factors[pair]);
    const double share = rope.is_yarn ? yarn_share(rope, rotated, base, pair) : 1.0;
    const bool is_fixed = pair < rope.fixed_pairs.size() && rope.fixed_pairs[pair];
    const double frequency =
        is_fixed ? 0.0 : std::pow(base, exponent) * (scale * share + 1.0 - share) / factor;
    for (std::size_t position = 0; position < positions_; ++position) {
      const double angle = static_cast<double>(position) * frequency;
      cosines_[pair * positions_ + position] = static_cast<float>(std::cos(angle) * magnitude);
      sines_[pair * positions_ + position] = static_cast<float>(std::sin(angle) * magnitude);
    }
  }
}

void Rotation::apply(std::size_t head_count, std::size_t head_size, std::size_t first,
                     std::size_t position, float* heads) const noexcept {
  const std::size_t pairs = positions_ == 0 ? 0 : cosines_.size() / positions_;
  const bool are_neighbours = pairing_ == Pairing::neighbours;
  for (std::size_t head = 0; head < head_count; ++head) {
    float* elements = heads + (head * head_size + first) * panel_tokens;
    for (std::size_t pair = 0; pair < pairs; ++pair) {
      float* a = elements + (are_neighbours ? 2 * pair : pair) * panel_tokens;
      float* b = elements + (are_neighbours ? 2 * pair + 1 : pair + pairs) * panel_tokens;
      const float* cosines = cosines_.data() + pair * positions_ + position;
      const float* sines = sines_.data() + pair * positions_ + position;
      for (std::size_t t = 0; t < panel_tokens; ++t) {
        const float turned = a[t] * cosines[t] - b[t] * sines[t];
        b[t] = a[t] * sines[t] + b[t] * cosines[t];
        a[t] = turned;
      }
    }
  }
}

std::vector<float> bias_slopes(std::size_t head_count, float largest_bias) {
  std::vector<float> slopes;
  if (largest_bias <= 0.0F) return slopes;
  // Heads beyond a power of two take the places between those of the others.
  const std::size_t whole = std::bit_floor(head_count);
  for (std::size_t head = 0; head < head_count; ++head) {
    const double place = head < whole ? static_cast<double>(head + 1)
                                      : static_cast<double>(2 * (head - whole) + 1) / 2.0;
    const double bias = static_cast<double>(largest_bias) / static_cast<double>(whole);
    slopes.push_back(static_cast<float>(std::exp2(-bias * place)));
  }
  return slopes;
}

}  // namespace ingot::evaluation
