// SPDX-License-Identifier: MIT
// Source: the graphs that llama.cpp 0.5.0 builds (src/models).
#include "estimate/graph_facts.hpp"

#include <array>

#include "base/ranges.hpp"

namespace ingot::estimate {
namespace {

constexpr std::array table = {
    GraphFacts{.name = "baichuan", .rotates = Rotates::if_32_layers},
    GraphFacts{.name = "bloom", .rotates = Rotates::none},
    GraphFacts{.name = "cohere2", .rotates = Rotates::in_windows},
    GraphFacts{.name = "exaone4", .rotates = Rotates::in_windows},
    GraphFacts{.name = "gemma-embedding", .window_period = 6},
    GraphFacts{.name = "gpt-oss", .selects = Selects::after_layers},
    GraphFacts{.name = "gpt2", .rotates = Rotates::none},
    GraphFacts{.name = "granitehybrid", .rotates = Rotates::if_finetuned},
    GraphFacts{.name = "jais", .rotates = Rotates::none},
    GraphFacts{.name = "jamba", .rotates = Rotates::none, .adds_to_input = true},
    GraphFacts{.name = "jina-bert-v2", .rotates = Rotates::none},
    GraphFacts{.name = "lfm2", .adds_to_input = true},
    GraphFacts{.name = "lfm2moe", .adds_to_input = true},
    GraphFacts{.name = "llama4",
               .rotates = Rotates::in_windows,
               .scales_queries = true,
               .weighs_expert_input = true},
    GraphFacts{.name = "minicpm3", .scales_before_output = true},
    GraphFacts{.name = "modern-bert", .window_period = 3, .is_full_first = true},
    GraphFacts{.name = "mpt", .rotates = Rotates::none},
    GraphFacts{.name = "nemotron_h", .rotates = Rotates::none, .selects = Selects::after_norm},
    GraphFacts{.name = "nemotron_h_moe", .rotates = Rotates::none, .selects = Selects::after_norm},
    GraphFacts{.name = "olmo", .has_plain_norms = true},
    GraphFacts{.name = "phi2", .adds_attention_first = true},
    GraphFacts{.name = "phi3", .adds_feed_forward_to_input = true},
    GraphFacts{.name = "qwen35", .selects = Selects::after_norm, .norms_first = true},
    GraphFacts{.name = "qwen35moe", .selects = Selects::after_norm, .norms_first = true},
    GraphFacts{.name = "qwen3next", .selects = Selects::after_norm, .norms_first = true},
    GraphFacts{.name = "refact", .rotates = Rotates::none},
    GraphFacts{
        .name = "smallthinker", .rotates = Rotates::in_windows, .chooses_experts_early = true},
    GraphFacts{.name = "starcoder", .rotates = Rotates::none},
};

}  // namespace

GraphFacts graph_facts_of(std::string_view architecture) noexcept {
  const GraphFacts* const found = find_row(table, &GraphFacts::name, architecture);
  return found != nullptr ? *found : GraphFacts{.name = architecture};
}

}  // namespace ingot::estimate
