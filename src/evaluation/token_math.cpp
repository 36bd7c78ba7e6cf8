// SPDX-License-Identifier: MIT
#include "evaluation/token_math.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/checked.hpp"
#include "evaluation/kernels/exponentials.hpp"

namespace ingot::evaluation {
namespace {

using Lanes = std::array<float, panel_tokens>;

/// Features whose sigmoids are made at a time, in a buffer of the stack.
constexpr std::size_t sigmoids_at_a_time = 512;

/// Calls use(x, sigmoid(slope * argument(x))) for each x, which it replaces by the result.
template <class Argument, class Use>
void replace_with_sigmoid(float slope, std::span<float> x, const Argument& argument,
                          const Use& use) noexcept {
  std::array<float, sigmoids_at_a_time> buffer;
  for (std::size_t first = 0; first < x.size(); first += buffer.size()) {
    const std::span part = x.subspan(first, std::min(buffer.size(), x.size() - first));
    const std::span shares = std::span(buffer).first(part.size());
    for (std::size_t i = 0; i < part.size(); ++i) shares[i] = argument(part[i]);
    sigmoids(slope, shares);
    for (std::size_t i = 0; i < part.size(); ++i) part[i] = use(part[i], shares[i]);
  }
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
  const Lanes means = settings.parts.norms.kind == NormKind::layer ? mean_of(count, x) : Lanes{};
  Lanes factors = mean_square_of(count, x, means);
  for (float& factor : factors) factor = 1.0F / std::sqrt(factor + settings.epsilon);
  const float* weights = norm.weight.empty() ? nullptr : norm.weight.data() + weight_row * count;
  for (std::size_t i = 0; i < count; ++i) {
    const float weight = weights == nullptr ? 1.0F : weights[i];
    const float bias = norm.bias.empty() ? 0.0F : norm.bias[weight_row * count + i];
    for (std::size_t t = 0; t < panel_tokens; ++t) {
      const std::size_t at = i * panel_tokens + t;
      y[at] = (x[at] - means[t]) * factors[t] * weight + bias;
    }
  }
}

void normalise_heads(const Norm& norm, const Settings& settings, std::size_t head_count,
                     std::size_t head_size, float* heads) noexcept {
  if (!norm.exists()) return;
  if (norm.row_size > head_size) return normalise(norm, settings, norm.row_size, heads, heads);
  const bool has_rows = norm.weight.size() > head_size;
  for (std::size_t head = 0; head < head_count; ++head) {
    float* elements = heads + head * head_size * panel_tokens;
    normalise(norm, settings, head_size, elements, elements, has_rows ? head : 0);
  }
}

Result<void> normalise_all(const Norm& norm, const Settings& settings, const Panels& x, Panels& y,
                           ThreadTeam& team, std::size_t count) {
  const std::size_t features = count == 0 ? y.features() : count;
  return team.spread(x.panel_count(), 1, [&](std::uint64_t panel, std::uint64_t) -> Result<void> {
    const float* from = x.row(to_size(panel), 0);
    float* to = y.row(to_size(panel), 0);
    if (norm.exists()) {
      normalise(norm, settings, features, from, to);
    } else if (from != to) {
      std::copy_n(from, features * panel_tokens, to);
    }
    return {};
  });
}

float sigmoid(float x) noexcept { return 1.0F / (1.0F + std::exp(-x)); }

float softplus(float x) noexcept { return x > 20.0F ? x : std::log1p(std::exp(x)); }

void apply_gate(Activation activation, std::span<float> gates,
                std::span<const float> ups) noexcept {
  if (activation != Activation::clamped_swiglu) {
    activate(activation, {}, gates);
    for (std::size_t i = 0; i < gates.size(); ++i) gates[i] *= ups[i];
    return;
  }
  constexpr float bound = 7.0F;
  constexpr float slope = 1.702F;
  replace_with_sigmoid(
      slope, gates, [&](float gate) { return std::min(gate, bound); },
      [&](float gate, float share) { return std::min(gate, bound) * share; });
  for (std::size_t i = 0; i < gates.size(); ++i) {
    gates[i] *= std::clamp(ups[i], -bound, bound) + 1.0F;
  }
}

void activate(Activation activation, const CurveSettings& curve, std::span<float> x) noexcept {
  const auto replace = [&](auto function) {
    for (float& each : x) each = function(each);
  };
  switch (activation) {
    case Activation::gelu: {
      // The approximation by tanh, which gemma was trained with: 1 + tanh(u) = 2 sigmoid(2 u).
      constexpr float root_of_2_over_pi = 0.797884560802865F;
      return replace_with_sigmoid(
          2.0F * root_of_2_over_pi, x, [](float y) { return y * (1.0F + 0.044715F * y * y); },
          [](float y, float share) { return y * share; });
    }
    case Activation::relu:
      return replace([](float y) { return std::max(y, 0.0F); });
    case Activation::relu_squared:
      return replace([](float y) { return y > 0.0F ? y * y : 0.0F; });
    case Activation::xielu:
      return replace([&](float y) {
        if (y > 0.0F) return curve.positive * y * y + curve.beta * y;
        return (std::expm1(std::min(y, curve.epsilon)) - y) * curve.negative + curve.beta * y;
      });
    case Activation::silu:
    case Activation::clamped_swiglu:
      return replace_with_sigmoid(
          1.0F, x, [](float y) { return y; }, [](float y, float share) { return y * share; });
  }
}

void apply_cap(float cap, std::span<float> logits) noexcept {
  if (cap == 0.0F) return;
  for (float& logit : logits) logit = cap * std::tanh(logit / cap);
}

}  // namespace ingot::evaluation
