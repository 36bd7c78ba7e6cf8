// SPDX-License-Identifier: MIT
// Source of the switches: the graphs of llama.cpp (src/models) as of September 2026.
#include "evaluation/architecture.hpp"

#include <array>

#include "base/ranges.hpp"

namespace ingot::evaluation {
namespace {

constexpr auto table = std::to_array<Architecture>({
    // Mistral and Mixtral are files of this architecture, too.
    {.name = "llama",
     .pairing = Pairing::neighbours,
     .attention_scale = AttentionScale::key,
     .expert_weights = ExpertWeights::normalised,
     .may_lack_experts = true},
    {.name = "qwen2"},
    {.name = "qwen2moe",
     .expert_weights = ExpertWeights::shares,
     .has_shared_expert = true,
     .needs_output = true},
    {.name = "qwen3", .head_norm = HeadNorm::each},
    {.name = "qwen3moe", .head_norm = HeadNorm::each, .expert_weights = ExpertWeights::normalised},
    {.name = "smollm3",
     .pairing = Pairing::neighbours,
     .attention_scale = AttentionScale::key,
     .unrotated_period = 4},
    {.name = "gemma",
     .gate = Gate::gelu,
     .embedding_scale = EmbeddingScale::root,
     .is_always_tied = true},
    {.name = "gemma2",
     .gate = Gate::gelu,
     .attention_scale = AttentionScale::gemma2,
     .embedding_scale = EmbeddingScale::root,
     .has_post_norms = true,
     .is_always_tied = true,
     .caps_logits = true,
     .window_period = 2,
     .usual_window = 4096,
     .window_is_scaled = true},
    {.name = "gemma3",
     .gate = Gate::gelu,
     .head_norm = HeadNorm::each,
     .attention_scale = AttentionScale::gemma3,
     .embedding_scale = EmbeddingScale::root,
     .has_post_norms = true,
     .window_period = 6,
     .window_rope_base = 10000.0},
    {.name = "phi3", .has_fused_gate = true},
    {.name = "granite",
     .pairing = Pairing::neighbours,
     .attention_scale = AttentionScale::key,
     .embedding_scale = EmbeddingScale::key,
     .has_granite_scales = true},
    {.name = "olmo2",
     .head_norm = HeadNorm::whole,
     .has_pre_norms = false,
     .has_post_norms = true,
     .needs_output = true,
     .window_period = 4},
    {.name = "stablelm",
     .norm = NormKind::layer,
     .head_norm = HeadNorm::optional,
     .may_be_parallel = true,
     .needs_output = true},
});

}  // namespace

std::span<const Architecture> known_architectures() noexcept { return table; }

const Architecture* find_architecture(std::string_view name) noexcept {
  return find_row(table, &Architecture::name, name);
}

std::string names_of_known_architectures() {
  std::string names;
  for (const Architecture& architecture : table) {
    if (!names.empty()) names += ", ";
    names += architecture.name;
  }
  return names;
}

}  // namespace ingot::evaluation
