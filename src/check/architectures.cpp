// SPDX-License-Identifier: MIT
// Sources: the names of architectures and tensors in gguf-py's constants. Where layers of a model
// may differ from one another, or several layouts are in use, only the name is here.
#include "check/architectures.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace ingot::check {
namespace {

constexpr std::string_view usual_whole = "token_embd output_norm";
constexpr std::string_view gated_layer =
    "attn_norm attn_q+attn_k+attn_v|attn_qkv attn_output ffn_norm "
    "ffn_gate+ffn_up+ffn_down|ffn_gate_inp+ffn_gate_exps+ffn_up_exps+ffn_down_exps"
    "|ffn_gate_inp+ffn_gate.0+ffn_up.0+ffn_down.0|ffn_gate_inp+ffn_gate_up_exps+ffn_down_exps";
constexpr std::string_view normed_layer =
    "attn_norm attn_q+attn_k+attn_v|attn_qkv attn_q_norm attn_k_norm attn_output ffn_norm "
    "ffn_gate+ffn_up+ffn_down|ffn_gate_inp+ffn_gate_exps+ffn_up_exps+ffn_down_exps"
    "|ffn_gate_inp+ffn_gate_up_exps+ffn_down_exps";

constexpr std::array architectures = {
    Architecture{"llama", true, usual_whole, gated_layer},
    Architecture{"baichuan", true, usual_whole, gated_layer},
    Architecture{"qwen2", true, usual_whole, gated_layer},
    Architecture{"qwen2moe", true, usual_whole, gated_layer},
    Architecture{"qwen3", true, usual_whole, normed_layer},
    Architecture{"qwen3moe", true, usual_whole, normed_layer},
    Architecture{"internlm2", true, usual_whole, gated_layer},
    Architecture{"gemma", true, usual_whole, gated_layer},
    Architecture{"gemma2", true, usual_whole,
                 "attn_norm attn_q attn_k attn_v attn_output post_attention_norm ffn_norm ffn_gate "
                 "ffn_up ffn_down post_ffw_norm"},
    Architecture{"gemma3", true, usual_whole,
                 "attn_norm attn_q attn_k attn_v attn_q_norm attn_k_norm attn_output "
                 "post_attention_norm ffn_norm ffn_gate ffn_up ffn_down post_ffw_norm"},
    Architecture{"phi3", true, usual_whole,
                 "attn_norm attn_q+attn_k+attn_v|attn_qkv attn_output ffn_norm ffn_up ffn_down"},
    Architecture{"gpt2", true, "token_embd position_embd output_norm",
                 "attn_norm attn_qkv|attn_q+attn_k+attn_v attn_output ffn_norm ffn_up ffn_down"},
    Architecture{"starcoder2", true, usual_whole,
                 "attn_norm attn_q+attn_k+attn_v|attn_qkv attn_output ffn_norm ffn_up ffn_down"},
    Architecture{"falcon", true, usual_whole,
                 "attn_norm attn_qkv|attn_q+attn_k+attn_v attn_output ffn_up ffn_down"},
};

/// Architectures of which only the name is known, between blanks.
constexpr std::string_view with_attention =
    " apertus arctic arcee bailingmoe bailingmoe2 bert bitnet bloom chameleon chatglm"
    " codeshell cogvlm cohere2 command-r dbrx deci deepseek deepseek2 dots1 dream ernie4_5"
    " ernie4_5-moe exaone exaone4 gemma3n gemma-embedding glm4 glm4moe gpt-oss gptj gptneox"
    " granite granitemoe grok grovemoe hunyuan-dense hunyuan-moe jais jina-bert-v2"
    " jina-bert-v3 llada llada-moe llama4 minicpm minicpm3 minimax-m2 mistral3 mpt nemotron"
    " neo-bert nomic-bert nomic-bert-moe olmo olmo2 olmoe openelm orion pangu-embedded phi2"
    " phimoe plamo plm qwen qwen2vl qwen3vl qwen3vlmoe refact seed_oss smallthinker smollm3"
    " stablelm starcoder t5 t5encoder xverse ";
constexpr std::string_view without_attention =
    " arwkv7 clip falcon-h1 granitehybrid jamba kimi-linear lfm2 lfm2moe mamba mamba2"
    " nemotron_h plamo2 qwen3next rwkv6 rwkv6qwen2 rwkv7 wavtokenizer-dec ";

bool lists(std::string_view names, std::string_view name) {
  return name.find(' ') == name.npos && names.find(" " + std::string(name) + " ") != names.npos;
}

}  // namespace

const Architecture* find_architecture(std::string_view name) {
  static constexpr Architecture other{.has_attention = true};
  static constexpr Architecture other_without{.has_attention = false};
  const auto found = std::ranges::find(architectures, name, &Architecture::name);
  if (found != architectures.end()) return &*found;
  if (lists(with_attention, name)) return &other;
  return lists(without_attention, name) ? &other_without : nullptr;
}

}  // namespace ingot::check
