// SPDX-License-Identifier: MIT
// Tiny model folders of the architectures whose layers have names or parts that Llama's have not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "huggingface/export/tiny_model_folders.hpp"

namespace ingot::test {

using TensorSketches = std::vector<TensorSketch>;

inline TensorSketches joined(std::initializer_list<TensorSketches> parts) {
  TensorSketches all;
  for (const TensorSketches& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

/// A weight of `rows` and `columns`, and the bias behind it.
inline TensorSketches tiny_linear(const std::string& name, std::uint64_t rows,
                                  std::uint64_t columns) {
  return {{name + ".weight", {rows, columns}}, {name + ".bias", {rows}}};
}

inline TensorSketches tiny_norms(std::initializer_list<const char*> names, bool has_bias = false) {
  TensorSketches norms;
  for (const std::string name : names) {
    norms.push_back({name + ".weight", {tiny_width}});
    if (has_bias) norms.push_back({name + ".bias", {tiny_width}});
  }
  return norms;
}

/// The attention of a layer with 4 heads of 8, and 2 of keys and values.
inline TensorSketches tiny_attention(bool has_bias, const std::string& out = "self_attn.o_proj") {
  const TensorSketches all = joined({tiny_linear("self_attn.q_proj", tiny_width, tiny_width),
                                     tiny_linear("self_attn.k_proj", 16, tiny_width),
                                     tiny_linear("self_attn.v_proj", 16, tiny_width),
                                     tiny_linear(out, tiny_width, tiny_width)});
  if (has_bias) return all;
  return {all[0], all[2], all[4], all[6]};
}

/// The three weights of a feed-forward network: gate, down and up.
inline TensorSketches tiny_feed_forward(const std::string& prefix, std::uint64_t size,
                                        const std::array<const char*, 3>& names = {
                                            "gate_proj", "down_proj", "up_proj"}) {
  return {{prefix + names[0] + ".weight", {size, tiny_width}},
          {prefix + names[1] + ".weight", {tiny_width, size}},
          {prefix + names[2] + ".weight", {size, tiny_width}}};
}

inline TensorSketches tiny_experts(const std::string& prefix,
                                   const std::array<const char*, 3>& names = {
                                       "gate_proj", "down_proj", "up_proj"}) {
  TensorSketches all = {{prefix + "gate.weight", {3, tiny_width}}};
  for (int expert = 0; expert < 3; ++expert) {
    const std::string place = prefix + "experts." + std::to_string(expert) + ".";
    all = joined({all, tiny_feed_forward(place, 64, names)});
  }
  return all;
}

/// The tensors `ends` of the model, and those of its layers.
inline TensorSketches tiny_layers(TensorSketches ends, const std::vector<TensorSketches>& layers) {
  ends.push_back({"model.embed_tokens.weight", {tiny_tokens, tiny_width}});
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    for (const TensorSketch& tensor : layers[layer]) {
      ends.push_back({"model.layers." + std::to_string(layer) + "." + tensor.name, tensor.shape});
    }
  }
  return ends;
}

inline const TensorSketch tiny_output = {"lm_head.weight", {tiny_tokens, tiny_width}};
inline const TensorSketch tiny_output_norm = {"model.norm.weight", {tiny_width}};

inline TinyModel tiny_starcoder2() {
  const TensorSketches layer = joined(
      {tiny_norms({"input_layernorm", "post_attention_layernorm"}, true), tiny_attention(true),
       tiny_linear("mlp.c_fc", 64, tiny_width), tiny_linear("mlp.c_proj", tiny_width, 64)});
  return {"Starcoder2ForCausalLM",
          R"("architectures": ["Starcoder2ForCausalLM"], "hidden_size": 32,
             "intermediate_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2,
             "num_hidden_layers": 2, "max_position_embeddings": 256, "norm_epsilon": 1e-05,
             "rope_theta": 999999.4420358813, "sliding_window": 128, "use_bias": true,
             "vocab_size": 24, "bos_token_id": 1, "eos_token_id": 2)",
          TinyTokenizer::bpe, tiny_layers(tiny_norms({"model.norm"}, true), {layer, layer})};
}

inline TinyModel tiny_hunyuan_dense() {
  const TensorSketches layer =
      joined({tiny_norms({"input_layernorm", "post_attention_layernorm"}),
              tiny_attention(false),
              {{"self_attn.query_layernorm.weight", {8}}, {"self_attn.key_layernorm.weight", {8}}},
              tiny_feed_forward("mlp.", 64)});
  return {"HunYuanDenseV1ForCausalLM",
          tiny_config("HunYuanDenseV1ForCausalLM",
                      R"("head_dim": 8, "use_qk_norm": true, "rope_theta": 10000.0,
                         "tie_word_embeddings": true,
                         "rope_scaling": {"type": "dynamic", "alpha": 1000.0, "factor": 1.0})"),
          TinyTokenizer::bpe, tiny_layers({tiny_output_norm}, {layer, layer})};
}

/// The first layer has no experts, and the last one predicts the token after the next.
inline TinyModel tiny_glm4_moe() {
  const TensorSketches attention =
      joined({tiny_norms({"input_layernorm", "post_attention_layernorm"}),
              tiny_attention(false),
              {{"self_attn.q_norm.weight", {8}}, {"self_attn.k_norm.weight", {8}}}});
  const TensorSketches layer = joined({attention,
                                       tiny_experts("mlp."),
                                       {{"mlp.gate.e_score_correction_bias", {3}}},
                                       tiny_feed_forward("mlp.shared_experts.", 64)});
  const TensorSketches last = joined({layer,
                                      tiny_norms({"enorm", "hnorm", "shared_head.norm"}),
                                      {{"eh_proj.weight", {tiny_width, 64}},
                                       {"embed_tokens.weight", {tiny_tokens, tiny_width}},
                                       {"shared_head.head.weight", {tiny_tokens, tiny_width}}}});
  return {"Glm4MoeForCausalLM",
          tiny_config("Glm4MoeForCausalLM",
                      R"("head_dim": 8, "partial_rotary_factor": 0.5, "rope_theta": 1000000,
                         "n_routed_experts": 3, "num_experts_per_tok": 2, "n_shared_experts": 1,
                         "moe_intermediate_size": 64, "first_k_dense_replace": 1, "n_group": 1,
                         "topk_group": 1, "norm_topk_prob": true, "routed_scaling_factor": 2.5,
                         "num_nextn_predict_layers": 1)"),
          TinyTokenizer::bpe,
          tiny_layers({tiny_output_norm, tiny_output},
                      {joined({attention, tiny_feed_forward("mlp.", 64)}), layer, last})};
}

inline TinyModel tiny_ernie_moe() {
  const TensorSketches attention =
      joined({tiny_norms({"input_layernorm", "post_attention_layernorm"}), tiny_attention(false)});
  return {"Ernie4_5_MoeForCausalLM",
          tiny_config("Ernie4_5_MoeForCausalLM",
                      R"("head_dim": 8, "rope_theta": 500000, "moe_num_experts": 3, "moe_k": 2,
                         "moe_layer_interval": 1, "moe_layer_start_index": 1,
                         "moe_intermediate_size": 64, "moe_num_shared_experts": 1)"),
          TinyTokenizer::sentencepiece,
          tiny_layers({tiny_output_norm},
                      {joined({attention, tiny_feed_forward("mlp.", 64)}),
                       joined({attention,
                               tiny_experts("mlp."),
                               {{"mlp.moe_statics.e_score_correction_bias", {1, 3}}},
                               tiny_feed_forward("mlp.shared_experts.", 32)})})};
}

inline TinyModel tiny_minimax_m2() {
  const TensorSketches layer =
      joined({tiny_norms({"input_layernorm", "post_attention_layernorm", "self_attn.q_norm"}),
              {{"self_attn.k_norm.weight", {16}}},
              tiny_attention(false),
              tiny_experts("block_sparse_moe.", {"w1", "w2", "w3"}),
              {{"block_sparse_moe.e_score_correction_bias", {3}}}});
  return {"MiniMaxM2ForCausalLM",
          tiny_config("MiniMaxM2ForCausalLM",
                      R"("head_dim": 8, "rotary_dim": 4, "rope_theta": 5000000,
                         "num_local_experts": 3, "num_experts_per_tok": 2,
                         "scoring_func": "sigmoid")"),
          TinyTokenizer::bpe, tiny_layers({tiny_output_norm, tiny_output}, {layer, layer})};
}

inline TinyModel tiny_phi_moe() {
  const TensorSketches layer =
      joined({tiny_norms({"input_layernorm", "post_attention_layernorm"}, true),
              tiny_attention(true), tiny_experts("block_sparse_moe.", {"w1", "w2", "w3"})});
  return {"PhiMoEForCausalLM",
          tiny_config("PhiMoEForCausalLM",
                      R"("num_local_experts": 3, "num_experts_per_tok": 2, "rope_theta": 10000.0,
                         "original_max_position_embeddings": 64, "sliding_window": 63,
                         "rope_scaling": {"type": "longrope",
                                          "long_factor": [1.0, 1.5, 2.0, 2.5],
                                          "short_factor": [1.0, 1.05, 1.1, 1.15]})"),
          TinyTokenizer::sentencepiece,
          tiny_layers(joined({tiny_norms({"model.norm"}, true),
                              tiny_linear("lm_head", tiny_tokens, tiny_width)}),
                      {layer, layer})};
}

/// The first layer convolves in the place of attention.
inline TinyModel tiny_lfm2() {
  const TensorSketches both = joined({tiny_norms({"operator_norm", "ffn_norm"}),
                                      tiny_feed_forward("feed_forward.", 48, {"w1", "w2", "w3"})});
  return {"Lfm2ForCausalLM",
          R"("architectures": ["Lfm2ForCausalLM"], "hidden_size": 32, "block_ff_dim": 64,
             "block_auto_adjust_ff_dim": true, "block_ffn_dim_multiplier": 1.0,
             "block_multiple_of": 16, "conv_L_cache": 3,
             "layer_types": ["conv", "full_attention"], "num_attention_heads": 4,
             "num_key_value_heads": 2, "num_hidden_layers": 2, "max_position_embeddings": 256,
             "norm_eps": 1e-05, "rope_theta": 1000000.0, "vocab_size": 24, "bos_token_id": 1,
             "eos_token_id": 2)",
          TinyTokenizer::bpe,
          tiny_layers({{"model.embedding_norm.weight", {tiny_width}}},
                      {joined({both,
                               {{"conv.conv.weight", {tiny_width, 1, 3}},
                                {"conv.in_proj.weight", {96, tiny_width}},
                                {"conv.out_proj.weight", {tiny_width, tiny_width}}}}),
                       joined({both,
                               tiny_attention(false, "self_attn.out_proj"),
                               {{"self_attn.q_layernorm.weight", {8}},
                                {"self_attn.k_layernorm.weight", {8}}}})})};
}

}  // namespace ingot::test
