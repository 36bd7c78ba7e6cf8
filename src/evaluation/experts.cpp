// SPDX-License-Identifier: MIT
#include "evaluation/experts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "evaluation/token_math.hpp"
#include "ingot/parallel.hpp"

namespace ingot::evaluation {
namespace {

/// A token that an expert works on.
struct Assignment {
  std::size_t panel;
  std::size_t lane;
  float weight;
};
using Assignments = std::vector<std::vector<Assignment>>;

/// The experts of one token, and their weights.
class Router {
 public:
  explicit Router(const Settings& settings)
      : settings_(settings), shares_(settings.expert_count), order_(settings.expert_count) {}

  void assign(const Panels& logits, std::size_t panel, std::size_t lane, Assignments& assignments) {
    float largest = logits.row(panel, 0)[lane];
    for (std::size_t e = 0; e < shares_.size(); ++e) {
      shares_[e] = logits.row(panel, e)[lane];
      largest = std::max(largest, shares_[e]);
    }
    float sum = 0.0F;
    for (float& share : shares_) sum += share = std::exp(share - largest);
    // Shares that are no numbers would break the order.
    for (float& share : shares_) share = std::isfinite(share / sum) ? share / sum : 0.0F;
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    const auto chosen = order_.begin() + static_cast<std::ptrdiff_t>(settings_.experts_used);
    std::partial_sort(order_.begin(), chosen, order_.end(), [&](std::size_t a, std::size_t b) {
      return shares_[a] != shares_[b] ? shares_[a] > shares_[b] : a < b;
    });
    float factor = settings_.expert_scale;
    if (settings_.kind.expert_weights == ExpertWeights::normalised) {
      float chosen_sum = 0.0F;
      for (auto e = order_.begin(); e != chosen; ++e) chosen_sum += shares_[*e];
      factor /= chosen_sum;
    }
    for (auto e = order_.begin(); e != chosen; ++e) {
      assignments[*e].push_back({panel, lane, shares_[*e] * factor});
    }
  }

 private:
  const Settings& settings_;
  std::vector<float> shares_;
  std::vector<std::size_t> order_;
};

std::size_t panels_for(std::size_t tokens) {
  return rounded_up(tokens, panel_tokens) / panel_tokens;
}

Panels gather(const Panels& inputs, std::span<const Assignment> tokens) {
  Panels gathered(inputs.features(), panels_for(tokens.size()));
  std::fill_n(gathered.data(), gathered.size(), 0.0F);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    for (std::size_t f = 0; f < inputs.features(); ++f) {
      gathered.row(i / panel_tokens, f)[i % panel_tokens] =
          inputs.row(tokens[i].panel, f)[tokens[i].lane];
    }
  }
  return gathered;
}

void scatter(const Panels& gathered, std::span<const Assignment> tokens, Panels& outputs) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    for (std::size_t f = 0; f < outputs.features(); ++f) {
      outputs.row(tokens[i].panel, f)[tokens[i].lane] +=
          gathered.row(i / panel_tokens, f)[i % panel_tokens] * tokens[i].weight;
    }
  }
}

Result<void> apply_expert(MatrixWork& work, const Settings& settings, const Layer& layer,
                          std::size_t expert, const Panels& inputs,
                          std::span<const Assignment> tokens, Panels& outputs) {
  const Panels gathered = gather(inputs, tokens);
  Panels result(outputs.features(), gathered.panel_count());
  std::vector<std::uint8_t> counts(gathered.panel_count(), panel_tokens);
  counts.back() = static_cast<std::uint8_t>(tokens.size() - (counts.size() - 1) * panel_tokens);
  const FeedForward weights{layer.experts.gate.of_expert(expert),
                            layer.experts.up.of_expert(expert),
                            layer.experts.down.of_expert(expert)};
  INGOT_TRY_VOID(feed_forward(work, settings, weights, expert, gathered, counts, result));
  scatter(result, tokens, outputs);
  return {};
}

/// The expert that all tokens use, times the sigmoid of its own router.
Result<void> add_shared_expert(MatrixWork& work, const Settings& settings, const Layer& layer,
                               const Panels& inputs, std::span<const std::uint8_t> tokens,
                               Panels& outputs) {
  Panels result(outputs.features(), outputs.panel_count());
  INGOT_TRY_VOID(feed_forward(work, settings, layer.shared_expert, 0, inputs, tokens, result));
  for (std::size_t panel = 0; panel < inputs.panel_count(); ++panel) {
    for (std::size_t lane = 0; lane < panel_tokens; ++lane) {
      float logit = 0.0F;
      for (std::size_t f = 0; f < inputs.features(); ++f) {
        logit += layer.shared_router[f] * inputs.row(panel, f)[lane];
      }
      const float share = 1.0F / (1.0F + std::exp(-logit));
      for (std::size_t f = 0; f < outputs.features(); ++f) {
        outputs.row(panel, f)[lane] += share * result.row(panel, f)[lane];
      }
    }
  }
  return {};
}

}  // namespace

Result<void> feed_forward(MatrixWork& work, const Settings& settings, const FeedForward& weights,
                          std::size_t expert, const Panels& inputs,
                          std::span<const std::uint8_t> tokens, Panels& outputs) {
  Panels gates(weights.gate.row_count, inputs.panel_count());
  Panels ups(weights.up.row_count, inputs.panel_count());
  if (weights.gate.tensor != weights.up.tensor) work.observe(weights.gate, expert, inputs, tokens);
  work.observe(weights.up, expert, inputs, tokens);
  INGOT_TRY_VOID(work.multiply(weights.gate, inputs, gates));
  INGOT_TRY_VOID(work.multiply(weights.up, inputs, ups));
  const std::size_t panel_floats = gates.features() * panel_tokens;
  INGOT_TRY_VOID(spread(gates.panel_count(), 1, work.thread_count(),
                        [&](std::uint64_t panel, std::uint64_t) -> Result<void> {
                          apply_gate(settings.kind.gate,
                                     std::span(gates.row(panel, 0), panel_floats),
                                     std::span(ups.row(panel, 0), panel_floats));
                          return {};
                        }));
  work.observe(weights.down, expert, gates, tokens);
  return work.multiply(weights.down, gates, outputs);
}

Result<void> apply_experts(MatrixWork& work, const Settings& settings, const Layer& layer,
                           const Panels& inputs, std::span<const std::uint8_t> tokens,
                           Panels& outputs) {
  Panels logits(settings.expert_count, inputs.panel_count());
  work.observe(layer.router, 0, inputs, tokens);
  INGOT_TRY_VOID(work.multiply(layer.router, inputs, logits));
  Assignments assignments(settings.expert_count);
  Router router(settings);
  for (std::size_t panel = 0; panel < inputs.panel_count(); ++panel) {
    for (std::size_t lane = 0; lane < tokens[panel]; ++lane) {
      router.assign(logits, panel, lane, assignments);
    }
  }
  std::fill_n(outputs.data(), outputs.size(), 0.0F);
  for (std::size_t e = 0; e < assignments.size(); ++e) {
    if (assignments[e].empty()) continue;
    INGOT_TRY_VOID(apply_expert(work, settings, layer, e, inputs, assignments[e], outputs));
  }
  if (!layer.shared_expert.gate.exists()) return {};
  return add_shared_expert(work, settings, layer, inputs, tokens, outputs);
}

}  // namespace ingot::evaluation
