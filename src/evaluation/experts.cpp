// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "evaluation/feed_forward.hpp"

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
  Router(const Settings& settings, const Experts& experts)
      : settings_(settings.experts),
        facts_(settings.parts.experts),
        experts_(experts),
        logits_(experts.count),
        shares_(experts.count),
        ranks_(experts.count),
        order_(experts.count) {}

  void assign(const Panels& logits, std::size_t panel, std::size_t lane, Assignments& assignments) {
    for (std::size_t e = 0; e < logits_.size(); ++e) {
      // Numbers that are none would break the order.
      const float logit = logits.row(panel, e)[lane];
      logits_[e] = std::isfinite(logit) ? logit : std::numeric_limits<float>::lowest();
    }
    shares_ = logits_;
    if (settings_.routing == Routing::softmax) to_softmax(shares_);
    if (settings_.routing == Routing::sigmoid) {
      for (float& share : shares_) share = sigmoid(share);
    }
    rank();
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    const auto end = order_.begin() + static_cast<std::ptrdiff_t>(settings_.used);
    std::partial_sort(order_.begin(), end, order_.end(), [&](std::size_t a, std::size_t b) {
      return ranks_[a] != ranks_[b] ? ranks_[a] > ranks_[b] : a < b;
    });
    chosen_.clear();
    for (auto e = order_.begin(); e != end; ++e) chosen_.push_back(shares_[*e]);
    if (settings_.routing == Routing::softmax_of_chosen) to_softmax(chosen_);
    float factor = settings_.scale;
    if (settings_.are_normalised) {
      constexpr float smallest_sum = 6.103515625e-5F;
      factor /= std::max(std::accumulate(chosen_.begin(), chosen_.end(), 0.0F), smallest_sum);
    }
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      assignments[order_[i]].push_back({panel, lane, chosen_[i] * factor});
    }
  }

 private:
  static void to_softmax(std::vector<float>& logits) {
    const float largest = *std::ranges::max_element(logits);
    float sum = 0.0F;
    for (float& logit : logits) sum += logit = std::exp(logit - largest);
    for (float& logit : logits) logit /= sum;
  }

  /// What experts are chosen by; those of groups that are not used come last.
  void rank() {
    ranks_ = facts_.rank_by_logits ? logits_ : shares_;
    for (std::size_t e = 0; e < experts_.selection_bias.size(); ++e) {
      ranks_[e] += experts_.selection_bias[e];
    }
    if (settings_.groups == 1 || settings_.groups_used == settings_.groups) return;
    const std::size_t size = ranks_.size() / settings_.groups;
    std::vector<std::pair<float, std::size_t>> groups;  // by their two best experts
    for (std::size_t g = 0; g < settings_.groups; ++g) {
      std::vector<float> own(ranks_.begin() + static_cast<std::ptrdiff_t>(g * size),
                             ranks_.begin() + static_cast<std::ptrdiff_t>((g + 1) * size));
      std::ranges::partial_sort(own, own.begin() + 2, std::greater{});
      groups.emplace_back(-(own[0] + own[1]), g);
    }
    std::ranges::sort(groups);
    for (std::size_t i = settings_.groups_used; i < groups.size(); ++i) {
      std::fill_n(ranks_.begin() + static_cast<std::ptrdiff_t>(groups[i].second * size), size,
                  -std::numeric_limits<float>::infinity());
    }
  }

  const ExpertSettings& settings_;
  const ExpertFacts& facts_;
  const Experts& experts_;
  std::vector<float> logits_;
  std::vector<float> shares_;
  std::vector<float> ranks_;
  std::vector<float> chosen_;
  std::vector<std::size_t> order_;
};

std::size_t panels_for(std::size_t tokens) {
  return rounded_up(tokens, panel_tokens) / panel_tokens;
}

Panels gather(const Panels& inputs, std::span<const Assignment> tokens, bool weighs) {
  Panels gathered(inputs.features(), panels_for(tokens.size()));
  std::fill_n(gathered.data(), gathered.size(), 0.0F);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const float factor = weighs ? tokens[i].weight : 1.0F;
    for (std::size_t f = 0; f < inputs.features(); ++f) {
      gathered.row(i / panel_tokens, f)[i % panel_tokens] =
          inputs.row(tokens[i].panel, f)[tokens[i].lane] * factor;
    }
  }
  return gathered;
}

void scatter(const Panels& gathered, std::span<const Assignment> tokens, bool is_weighed,
             Panels& outputs) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const float factor = is_weighed ? 1.0F : tokens[i].weight;
    for (std::size_t f = 0; f < outputs.features(); ++f) {
      outputs.row(tokens[i].panel, f)[tokens[i].lane] +=
          gathered.row(i / panel_tokens, f)[i % panel_tokens] * factor;
    }
  }
}

Result<void> apply_expert(const LayerWork& layer_work, const FeedForward& all, std::size_t expert,
                          const Panels& inputs, std::span<const Assignment> tokens,
                          Panels& outputs) {
  const bool weighs_inputs = layer_work.settings.parts.experts.weigh_inputs;
  const Panels gathered = gather(inputs, tokens, weighs_inputs);
  Panels result(outputs.features(), gathered.panel_count());
  std::vector<std::uint8_t> counts(gathered.panel_count(), panel_tokens);
  counts.back() = static_cast<std::uint8_t>(tokens.size() - (counts.size() - 1) * panel_tokens);
  FeedForward weights{.up = all.up.of_expert(expert), .down = all.down.of_expert(expert)};
  if (all.gate.exists()) weights.gate = all.gate.of_expert(expert);
  INGOT_TRY_VOID(feed_forward(layer_work, weights, 0, expert, gathered, counts, result));
  scatter(result, tokens, weighs_inputs, outputs);
  return {};
}

/// outputs = the sums of the experts of each token.
Result<void> apply_chosen(const LayerWork& layer_work, const FeedForward& all,
                          const Assignments& assignments, const Panels& inputs, Panels& outputs) {
  std::fill_n(outputs.data(), outputs.size(), 0.0F);
  for (std::size_t e = 0; e < assignments.size(); ++e) {
    if (assignments[e].empty()) continue;
    INGOT_TRY_VOID(apply_expert(layer_work, all, e, inputs, assignments[e], outputs));
  }
  return {};
}

/// The expert that all tokens use, times the sigmoid of its own router if it has one.
Result<void> add_shared_expert(const LayerWork& layer_work, const Experts& experts,
                               const Panels& inputs, Panels& outputs) {
  Panels result(outputs.features(), outputs.panel_count());
  INGOT_TRY_VOID(feed_forward(layer_work, experts.shared, 0, 0, inputs, layer_work.tokens, result));
  return layer_work.for_each_panel([&](std::size_t panel) {
    for (std::size_t lane = 0; lane < panel_tokens; ++lane) {
      float logit = 0.0F;
      for (std::size_t f = 0; f < experts.shared_router.size(); ++f) {
        logit += experts.shared_router[f] * inputs.row(panel, f)[lane];
      }
      const float share = experts.shared_router.empty() ? 1.0F : sigmoid(logit);
      for (std::size_t f = 0; f < outputs.features(); ++f) {
        outputs.row(panel, f)[lane] += share * result.row(panel, f)[lane];
      }
    }
  });
}

}  // namespace

Result<void> apply_experts(const LayerWork& layer_work, const Experts& experts,
                           const Panels& inputs, const Panels& router_inputs, Panels& outputs) {
  INGOT_TRY(const Panels logits, layer_work.project(experts.router, router_inputs));
  Assignments assignments(experts.count);
  Router router(layer_work.settings, experts);
  for (std::size_t panel = 0; panel < inputs.panel_count(); ++panel) {
    for (std::size_t lane = 0; lane < layer_work.tokens[panel]; ++lane) {
      router.assign(logits, panel, lane, assignments);
    }
  }
  if (experts.latent_down.exists()) {
    INGOT_TRY(const Panels narrow, layer_work.project(experts.latent_down, inputs));
    Panels sums(narrow.features(), narrow.panel_count());
    INGOT_TRY_VOID(apply_chosen(layer_work, experts.chosen, assignments, narrow, sums));
    layer_work.work.observe(experts.latent_up, 0, sums, layer_work.tokens);
    INGOT_TRY_VOID(layer_work.work.multiply(experts.latent_up, sums, outputs));
  } else {
    INGOT_TRY_VOID(apply_chosen(layer_work, experts.chosen, assignments, inputs, outputs));
  }
  if (!experts.shared.up.exists()) return {};
  return add_shared_expert(layer_work, experts, inputs, outputs);
}

}  // namespace ingot::evaluation
