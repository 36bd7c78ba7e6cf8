// SPDX-License-Identifier: MIT
// Sources: the names of architectures and tensors in gguf-py's constants. Where layers of a model
// may differ from one another, or several layouts are in use, only the name is here.
#include "check/architectures.hpp"

#include <algorithm>
#include <array>

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
    // By name only.
    Architecture{"apertus"},
    Architecture{"arctic"},
    Architecture{"arcee"},
    Architecture{"arwkv7", false},
    Architecture{"bailingmoe"},
    Architecture{"bailingmoe2"},
    Architecture{"bert"},
    Architecture{"bitnet"},
    Architecture{"bloom"},
    Architecture{"chameleon"},
    Architecture{"chatglm"},
    Architecture{"clip", false},
    Architecture{"codeshell"},
    Architecture{"cogvlm"},
    Architecture{"cohere2"},
    Architecture{"command-r"},
    Architecture{"dbrx"},
    Architecture{"deci"},
    Architecture{"deepseek"},
    Architecture{"deepseek2"},
    Architecture{"dots1"},
    Architecture{"dream"},
    Architecture{"ernie4_5"},
    Architecture{"ernie4_5-moe"},
    Architecture{"exaone"},
    Architecture{"exaone4"},
    Architecture{"falcon-h1", false},
    Architecture{"gemma3n"},
    Architecture{"gemma-embedding"},
    Architecture{"glm4"},
    Architecture{"glm4moe"},
    Architecture{"gpt-oss"},
    Architecture{"gptj"},
    Architecture{"gptneox"},
    Architecture{"granite"},
    Architecture{"granitehybrid", false},
    Architecture{"granitemoe"},
    Architecture{"grok"},
    Architecture{"grovemoe"},
    Architecture{"hunyuan-dense"},
    Architecture{"hunyuan-moe"},
    Architecture{"jais"},
    Architecture{"jamba", false},
    Architecture{"jina-bert-v2"},
    Architecture{"jina-bert-v3"},
    Architecture{"kimi-linear", false},
    Architecture{"lfm2", false},
    Architecture{"lfm2moe", false},
    Architecture{"llada"},
    Architecture{"llada-moe"},
    Architecture{"llama4"},
    Architecture{"mamba", false},
    Architecture{"mamba2", false},
    Architecture{"minicpm"},
    Architecture{"minicpm3"},
    Architecture{"minimax-m2"},
    Architecture{"mistral3"},
    Architecture{"mpt"},
    Architecture{"nemotron"},
    Architecture{"nemotron_h", false},
    Architecture{"neo-bert"},
    Architecture{"nomic-bert"},
    Architecture{"nomic-bert-moe"},
    Architecture{"olmo"},
    Architecture{"olmo2"},
    Architecture{"olmoe"},
    Architecture{"openelm"},
    Architecture{"orion"},
    Architecture{"pangu-embedded"},
    Architecture{"phi2"},
    Architecture{"phimoe"},
    Architecture{"plamo"},
    Architecture{"plamo2", false},
    Architecture{"plm"},
    Architecture{"qwen"},
    Architecture{"qwen2vl"},
    Architecture{"qwen3next", false},
    Architecture{"qwen3vl"},
    Architecture{"qwen3vlmoe"},
    Architecture{"refact"},
    Architecture{"rwkv6", false},
    Architecture{"rwkv6qwen2", false},
    Architecture{"rwkv7", false},
    Architecture{"seed_oss"},
    Architecture{"smallthinker"},
    Architecture{"smollm3"},
    Architecture{"stablelm"},
    Architecture{"starcoder"},
    Architecture{"t5"},
    Architecture{"t5encoder"},
    Architecture{"wavtokenizer-dec", false},
    Architecture{"xverse"},
};

}  // namespace

const Architecture* find_architecture(std::string_view name) noexcept {
  const auto found =
      std::find_if(architectures.begin(), architectures.end(),
                   [&](const Architecture& architecture) { return architecture.name == name; });
  return found == architectures.end() ? nullptr : &*found;
}

}  // namespace ingot::check
