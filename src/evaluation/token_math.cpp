// SPDX-License-Identifier: MIT
#include "evaluation/token_math.hpp"

#include <array>
#include <cmath>

namespace ingot::evaluation {
namespace {

using Lanes = std::array<float, panel_tokens>;

float sigmoid(float x) noexcept { return 1.0F / (1.0F + std::exp(-x)); }

/// The approximation by tanh, which gemma was trained with.
float gelu(float x) noexcept {
  constexpr float root_of_2_over_pi = 0.797884560802865F;
  return 0.5F * x * (1.0F + std::tanh(root_of_2_over_pi * x * (1.0F + 0.044715F * x * x)));
}

Lanes mean_of(std::size_t count, const float* x) noexcept {
  Lanes sums{};
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t t = 0; t < panel_tokens; ++t) sums[t] += x[i * panel_tokens + t];
  }
  for (float& sum : sums) sum /= static_cast<float>(count);
  return sums;
}

Lanes mean_square_of(std::size_t count, const float* x, const Lanes& means) noexcept {
  Lanes sums{};
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t t = 0; t < panel_tokens; ++t) {
      const float distance = x[i * panel_tokens + t] - means[t];
      sums[t] += distance * distance;
    }
  }
  for (float& sum : sums) sum /= static_cast<float>(count);
  return sums;
}

}  // namespace

void normalise(const Norm& norm, const Settings& settings, std::size_t count, const float* x,
               float* y, std::size_t weight_row) noexcept {
  const Lanes means = settings.kind.norm == NormKind::layer ? mean_of(count, x) : Lanes{};
  Lanes factors = mean_square_of(count, x, means);
  for (float& factor : factors) factor = 1.0F / std::sqrt(factor + settings.epsilon);
  const float* weights = norm.weight.data() + weight_row * count;
  for (std::size_t i = 0; i < count; ++i) {
    const float bias = norm.bias.empty() ? 0.0F : norm.bias[i];
    for (std::size_t t = 0; t < panel_tokens; ++t) {
      const std::size_t at = i * panel_tokens + t;
      y[at] = (x[at] - means[t]) * factors[t] * weights[i] + bias;
    }
  }
}

void apply_gate(Gate gate, std::span<float> gates, std::span<const float> ups) noexcept {
  for (std::size_t i = 0; i < gates.size(); ++i) {
    const float x = gates[i];
    gates[i] = (gate == Gate::silu ? x * sigmoid(x) : gelu(x)) * ups[i];
  }
}

void apply_cap(float cap, std::span<float> logits) noexcept {
  if (cap == 0.0F) return;
  for (float& logit : logits) logit = cap * std::tanh(logit / cap);
}

Rotation::Rotation(const RopeSettings& rope, double base, double scale,
                   std::span<const float> factors, const Batch& batch)
    : positions_(batch.panels_of_chunk() * panel_tokens),
      cosines_(rope.rotated / 2 * positions_),
      sines_(cosines_.size()) {
  for (std::size_t pair = 0; pair < rope.rotated / 2; ++pair) {
    const double exponent = -2.0 * static_cast<double>(pair) / static_cast<double>(rope.rotated);
    const double factor = factors.empty() ? 1.0 : static_cast<double>(factors[pair]);
    const double frequency = std::pow(base, exponent) * scale / factor;
    for (std::size_t position = 0; position < positions_; ++position) {
      const double angle = static_cast<double>(position) * frequency;
      cosines_[pair * positions_ + position] = static_cast<float>(std::cos(angle) * rope.magnitude);
      sines_[pair * positions_ + position] = static_cast<float>(std::sin(angle) * rope.magnitude);
    }
  }
}

void Rotation::apply(const Settings& settings, std::size_t head_count, std::size_t head_size,
                     std::size_t position, float* heads) const noexcept {
  const std::size_t pairs = settings.rope.rotated / 2;
  const bool are_neighbours = settings.kind.pairing == Pairing::neighbours;
  for (std::size_t head = 0; head < head_count; ++head) {
    float* elements = heads + head * head_size * panel_tokens;
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

}  // namespace ingot::evaluation
