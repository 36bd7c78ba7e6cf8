// SPDX-License-Identifier: MIT
// Tiny model folders of architectures whose import cuts tensors apart, reorders them or changes
// their numbers.
#pragma once

#include <string>

#include "huggingface/export/tiny_later_folders.hpp"

namespace ingot::test {

/// Mamba 2 with 4 heads of 16, 2 groups and a state of 8.
inline TensorSketches tiny_mamba2(const std::string& prefix) {
  return {{prefix + "in_proj.weight", {164, tiny_width}},
          {prefix + "conv1d.weight", {96, 1, 4}},
          {prefix + "conv1d.bias", {96}},
          {prefix + "dt_bias", {4}},
          {prefix + "A_log", {4}},
          {prefix + "D", {4}},
          {prefix + "norm.weight", {64}},
          {prefix + "out_proj.weight", {32, 64}}};
}

/// Layers below `backbone`, as Mamba 2 and Nemotron-H have them.
inline TensorSketches tiny_backbone(const std::vector<TensorSketches>& layers) {
  TensorSketches all = {{"backbone.embeddings.weight", {tiny_tokens, tiny_width}},
                        {"backbone.norm_f.weight", {tiny_width}},
                        tiny_output};
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    const std::string prefix = "backbone.layers." + std::to_string(layer) + ".";
    all.push_back({prefix + "norm.weight", {tiny_width}});
    for (const TensorSketch& tensor : layers[layer]) {
      all.push_back({prefix + tensor.name, tensor.shape});
    }
  }
  return all;
}

inline TinyModel tiny_mamba2_model() {
  return {"Mamba2ForCausalLM",
          R"("architectures": ["Mamba2ForCausalLM"], "hidden_size": 32, "expand": 2,
             "num_heads": 4, "head_dim": 16, "n_groups": 2, "state_size": 8, "conv_kernel": 4,
             "intermediate_size": 64, "num_hidden_layers": 2, "layer_norm_epsilon": 1e-05,
             "vocab_size": 24, "pad_vocab_size_multiple": 1, "bos_token_id": 1,
             "eos_token_id": 2)",
          TinyTokenizer::bpe, tiny_backbone({tiny_mamba2("mixer."), tiny_mamba2("mixer.")})};
}

inline const std::string tiny_nemotron_sizes =
    R"("hidden_size": 32, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8,
       "num_hidden_layers": 3, "max_position_embeddings": 256, "layer_norm_epsilon": 1e-05,
       "norm_eps": 1e-05, "mamba_num_heads": 4, "mamba_head_dim": 16, "n_groups": 2,
       "ssm_state_size": 8, "conv_kernel": 4, "vocab_size": 24, "bos_token_id": 1,
       "eos_token_id": 2, "architectures": ["NemotronHForCausalLM"])";

inline TensorSketches tiny_mixer_attention() {
  return {{"mixer.q_proj.weight", {tiny_width, tiny_width}},
          {"mixer.k_proj.weight", {16, tiny_width}},
          {"mixer.v_proj.weight", {16, tiny_width}},
          {"mixer.o_proj.weight", {tiny_width, tiny_width}}};
}

inline TinyModel tiny_nemotron_h() {
  return {"NemotronHForCausalLM",
          tiny_nemotron_sizes + R"(, "hybrid_override_pattern": "M*-", "intermediate_size": 64)",
          TinyTokenizer::bpe,
          tiny_backbone({tiny_mamba2("mixer."),
                         tiny_mixer_attention(),
                         {{"mixer.up_proj.weight", {64, tiny_width}},
                          {"mixer.down_proj.weight", {tiny_width, 64}}}})};
}

inline TinyModel tiny_nemotron_h_moe() {
  TensorSketches experts = {{"mixer.gate.weight", {3, tiny_width}},
                            {"mixer.gate.e_score_correction_bias", {3}},
                            {"mixer.shared_experts.up_proj.weight", {48, tiny_width}},
                            {"mixer.shared_experts.down_proj.weight", {tiny_width, 48}}};
  for (int i = 0; i < 3; ++i) {
    const std::string place = "mixer.experts." + std::to_string(i) + ".";
    experts.push_back({place + "up_proj.weight", {64, tiny_width}});
    experts.push_back({place + "down_proj.weight", {tiny_width, 64}});
  }
  return {"NemotronHForCausalLM with experts",
          tiny_nemotron_sizes +
              R"(, "hybrid_override_pattern": "M*E", "intermediate_size": 64,
                 "moe_intermediate_size": 64, "moe_shared_expert_intermediate_size": 48,
                 "n_routed_experts": 3, "n_shared_experts": 1, "num_experts_per_tok": 2,
                 "n_group": 1, "topk_group": 1, "norm_topk_prob": true,
                 "routed_scaling_factor": 2.5)",
          TinyTokenizer::bpe,
          tiny_backbone({tiny_mamba2("mixer."), tiny_mixer_attention(), experts})};
}

/// Weights that the import multiplies come back multiplied, with multipliers of 1.
inline TinyModel tiny_falcon_h1() {
  const TensorSketches layer =
      joined({tiny_norms({"input_layernorm", "pre_ff_layernorm"}), tiny_attention(false),
              tiny_mamba2("mamba."), tiny_feed_forward("feed_forward.", 64)});
  return {
      "FalconH1ForCausalLM",
      tiny_config("FalconH1ForCausalLM",
                  R"("head_dim": 8, "rope_theta": 100000000000.0, "mamba_d_ssm": 64,
                         "mamba_d_head": 16, "mamba_n_heads": 4, "mamba_n_groups": 2,
                         "mamba_d_state": 8, "mamba_d_conv": 4, "mamba_expand": 2,
                         "mlp_multipliers": [0.5, 0.75], "key_multiplier": 0.375,
                         "attention_in_multiplier": 1.5, "attention_out_multiplier": 0.9,
                         "ssm_in_multiplier": 1.25, "ssm_out_multiplier": 0.25,
                         "ssm_multipliers": [0.5, 0.25, 0.3, 0.4, 0.7],
                         "lm_head_multiplier": 0.0625, "embedding_multiplier": 5.65)"),
      TinyTokenizer::bpe,
      tiny_layers({{"model.final_layernorm.weight", {tiny_width}}, tiny_output}, {layer, layer})};
}

inline TinyModel tiny_granite_hybrid(bool has_experts) {
  const TensorSketches shared = {{"shared_mlp.input_linear.weight", {128, tiny_width}},
                                 {"shared_mlp.output_linear.weight", {tiny_width, 64}}};
  const TensorSketches experts = {{"block_sparse_moe.router.layer.weight", {3, tiny_width}},
                                  {"block_sparse_moe.input_linear.weight", {3, 96, tiny_width}},
                                  {"block_sparse_moe.output_linear.weight", {3, tiny_width, 48}}};
  const TensorSketches both = joined({tiny_norms({"input_layernorm", "post_attention_layernorm"}),
                                      shared, has_experts ? experts : TensorSketches()});
  const std::string more =
      R"("layer_types": ["mamba", "attention"], "mamba_d_conv": 4, "mamba_d_state": 8,
         "mamba_n_heads": 4, "mamba_d_head": 16, "mamba_n_groups": 2, "mamba_expand": 2,
         "embedding_multiplier": 12.0, "attention_multiplier": 0.015625,
         "residual_multiplier": 0.22, "logits_scaling": 6.0, "rope_theta": 10000.0,
         "shared_intermediate_size": 64, )";
  return {has_experts ? "GraniteMoeHybridForCausalLM with experts" : "GraniteMoeHybridForCausalLM",
          tiny_config("GraniteMoeHybridForCausalLM",
                      more + (has_experts ? R"("num_local_experts": 3, "num_experts_per_tok": 2)"
                                          : R"("num_local_experts": 0, "num_experts_per_tok": 0)")),
          TinyTokenizer::bpe,
          tiny_layers({tiny_output_norm}, {joined({both, tiny_mamba2("mamba.")}),
                                           joined({both, tiny_attention(false)})})};
}

/// Linear attention of 2 heads of keys and 4 of values, of 8 each.
inline TensorSketches tiny_linear_attention(bool is_fused) {
  const TensorSketches apart = {{"linear_attn.in_proj_qkv.weight", {64, tiny_width}},
                                {"linear_attn.in_proj_z.weight", {32, tiny_width}},
                                {"linear_attn.in_proj_a.weight", {4, tiny_width}},
                                {"linear_attn.in_proj_b.weight", {4, tiny_width}}};
  const TensorSketches fused = {{"linear_attn.in_proj_qkvz.weight", {96, tiny_width}},
                                {"linear_attn.in_proj_ba.weight", {8, tiny_width}}};
  return joined({is_fused ? fused : apart,
                 {{"linear_attn.conv1d.weight", {64, 1, 4}},
                  {"linear_attn.A_log", {4}},
                  {"linear_attn.dt_bias", {4}},
                  {"linear_attn.norm.weight", {8}},
                  {"linear_attn.out_proj.weight", {tiny_width, 32}}}});
}

inline const std::string tiny_linear_sizes =
    R"("head_dim": 8, "linear_conv_kernel_dim": 4, "linear_key_head_dim": 8,
       "linear_value_head_dim": 8, "linear_num_key_heads": 2, "linear_num_value_heads": 4,
       "full_attention_interval": 2, "partial_rotary_factor": 0.5, "rope_theta": 10000000.0)";

inline const std::string tiny_sections =
    R"(, "rope_scaling": {"rope_type": "default", "mrope_section": [1, 1, 0]})";

inline TensorSketches tiny_gated_attention() {
  return {{"self_attn.q_proj.weight", {64, tiny_width}},
          {"self_attn.k_proj.weight", {16, tiny_width}},
          {"self_attn.v_proj.weight", {16, tiny_width}},
          {"self_attn.o_proj.weight", {tiny_width, tiny_width}},
          {"self_attn.q_norm.weight", {8}},
          {"self_attn.k_norm.weight", {8}}};
}

inline TinyModel tiny_qwen3_next() {
  const TensorSketches both = joined({tiny_norms({"input_layernorm", "post_attention_layernorm"}),
                                      tiny_experts("mlp."),
                                      tiny_feed_forward("mlp.shared_expert.", 64),
                                      {{"mlp.shared_expert_gate.weight", {1, tiny_width}}}});
  return {"Qwen3NextForCausalLM",
          tiny_config("Qwen3NextForCausalLM",
                      tiny_linear_sizes + R"(, "num_experts": 3, "num_experts_per_tok": 2,
                         "moe_intermediate_size": 64, "shared_expert_intermediate_size": 64)"),
          TinyTokenizer::bpe,
          tiny_layers({tiny_output_norm, tiny_output}, {joined({both, tiny_linear_attention(true)}),
                                                        joined({both, tiny_gated_attention()})})};
}

/// The last layer predicts the token after the next.
inline TinyModel tiny_qwen35() {
  const TensorSketches both = joined(
      {tiny_norms({"input_layernorm", "post_attention_layernorm"}), tiny_feed_forward("mlp.", 64)});
  TensorSketches tensors = tiny_layers(
      {tiny_output_norm, tiny_output},
      {joined({both, tiny_linear_attention(false)}), joined({both, tiny_gated_attention()})});
  for (const TensorSketch& tensor : joined({both, tiny_gated_attention()})) {
    tensors.push_back({"mtp.layers.0." + tensor.name, tensor.shape});
  }
  tensors = joined({tensors,
                    tiny_norms({"mtp.norm", "mtp.pre_fc_norm_embedding", "mtp.pre_fc_norm_hidden"}),
                    {{"mtp.fc.weight", {tiny_width, 64}}}});
  return {"Qwen3_5ForCausalLM",
          tiny_config("Qwen3_5ForCausalLM",
                      tiny_linear_sizes + tiny_sections + R"(, "mtp_num_hidden_layers": 1)"),
          TinyTokenizer::bpe, tensors};
}

/// Gate and up matrices of all experts are one tensor.
inline TinyModel tiny_qwen35_moe() {
  const TensorSketches both = joined({tiny_norms({"input_layernorm", "post_attention_layernorm"}),
                                      {{"mlp.gate.weight", {3, tiny_width}},
                                       {"mlp.experts.gate_up_proj", {3, 128, tiny_width}},
                                       {"mlp.experts.down_proj", {3, tiny_width, 64}},
                                       {"mlp.shared_expert_gate.weight", {1, tiny_width}}},
                                      tiny_feed_forward("mlp.shared_expert.", 64)});
  return {
      "Qwen3_5MoeForCausalLM",
      tiny_config("Qwen3_5MoeForCausalLM", tiny_linear_sizes + tiny_sections +
                                               R"(, "num_experts": 3, "num_experts_per_tok": 2,
                         "moe_intermediate_size": 64, "shared_expert_intermediate_size": 64)"),
      TinyTokenizer::bpe,
      tiny_layers({tiny_output_norm, tiny_output}, {joined({both, tiny_linear_attention(false)}),
                                                    joined({both, tiny_gated_attention()})})};
}

/// Latent attention of 4 heads: 8 numbers without a position and 4 with one, values of 6.
inline TensorSketches tiny_latent_attention() {
  return {{"self_attn.q_a_proj.weight", {24, tiny_width}},
          {"self_attn.q_a_layernorm.weight", {24}},
          {"self_attn.q_b_proj.weight", {48, 24}},
          {"self_attn.kv_a_proj_with_mqa.weight", {20, tiny_width}},
          {"self_attn.kv_a_layernorm.weight", {16}},
          {"self_attn.kv_b_proj.weight", {56, 16}},
          {"self_attn.o_proj.weight", {tiny_width, 24}}};
}

inline TinyModel tiny_deepseek(const std::string& model_class, bool has_indexer) {
  const TensorSketches indexer = {{"self_attn.indexer.k_norm.weight", {8}},
                                  {"self_attn.indexer.k_norm.bias", {8}},
                                  {"self_attn.indexer.wk.weight", {8, tiny_width}},
                                  {"self_attn.indexer.wq_b.weight", {16, 24}},
                                  {"self_attn.indexer.weights_proj.weight", {2, tiny_width}}};
  const TensorSketches attention =
      joined({tiny_norms({"input_layernorm", "post_attention_layernorm"}), tiny_latent_attention(),
              has_indexer ? indexer : TensorSketches()});
  const TensorSketches experts = joined({attention,
                                         tiny_experts("mlp."),
                                         {{"mlp.gate.e_score_correction_bias", {3}}},
                                         tiny_feed_forward("mlp.shared_experts.", 64)});
  return {model_class,
          tiny_config(model_class,
                      R"("q_lora_rank": 24, "kv_lora_rank": 16, "qk_nope_head_dim": 8,
                         "qk_rope_head_dim": 4, "v_head_dim": 6, "first_k_dense_replace": 1,
                         "n_routed_experts": 3, "n_shared_experts": 1, "num_experts_per_tok": 2,
                         "moe_intermediate_size": 64, "n_group": 1, "topk_group": 1,
                         "norm_topk_prob": true, "routed_scaling_factor": 2.5,
                         "scoring_func": "sigmoid", "rope_theta": 10000.0, "index_head_dim": 8,
                         "index_n_heads": 2, "index_topk": 64, "num_key_value_heads": 4)"),
          TinyTokenizer::bpe,
          tiny_layers({tiny_output_norm, tiny_output},
                      {joined({attention, tiny_feed_forward("mlp.", 64)}), experts})};
}

inline TinyModel tiny_llama4() {
  const TensorSketches attention =
      joined({tiny_norms({"input_layernorm", "post_attention_layernorm"}), tiny_attention(false)});
  return {"Llama4ForCausalLM",
          tiny_config("Llama4ForCausalLM",
                      R"("head_dim": 8, "intermediate_size_mlp": 96, "num_local_experts": 3,
                         "num_experts_per_tok": 1, "interleave_moe_layer_step": 2,
                         "rope_theta": 500000.0)"),
          TinyTokenizer::bpe,
          tiny_layers({tiny_output_norm, tiny_output},
                      {joined({attention, tiny_feed_forward("feed_forward.", 96)}),
                       joined({attention,
                               {{"feed_forward.router.weight", {3, tiny_width}},
                                {"feed_forward.experts.gate_up_proj", {3, tiny_width, 128}},
                                {"feed_forward.experts.down_proj", {3, 64, tiny_width}}},
                               tiny_feed_forward("feed_forward.shared_expert.", 64)})})};
}

/// Experts are transposed, and gates and ups take turns.
inline TinyModel tiny_gpt_oss() {
  const TensorSketches layer = joined({tiny_norms({"input_layernorm", "post_attention_layernorm"}),
                                       tiny_attention(true),
                                       tiny_linear("mlp.router", 3, tiny_width),
                                       {{"self_attn.sinks", {4}},
                                        {"mlp.experts.gate_up_proj", {3, tiny_width, 128}},
                                        {"mlp.experts.gate_up_proj_bias", {3, 128}},
                                        {"mlp.experts.down_proj", {3, 64, tiny_width}},
                                        {"mlp.experts.down_proj_bias", {3, tiny_width}}}});
  return {"GptOssForCausalLM",
          tiny_config("GptOssForCausalLM",
                      R"("head_dim": 8, "num_local_experts": 3, "num_experts_per_tok": 2,
                         "sliding_window": 128, "rope_theta": 150000.0)"),
          TinyTokenizer::bpe, tiny_layers({tiny_output_norm, tiny_output}, {layer, layer})};
}

inline TensorSketches tiny_gemma_layer(std::uint64_t head_size, std::uint64_t kv_heads) {
  return joined({tiny_norms({"input_layernorm", "post_attention_layernorm",
                             "pre_feedforward_layernorm", "post_feedforward_layernorm"}),
                 {{"self_attn.q_proj.weight", {4 * head_size, tiny_width}},
                  {"self_attn.k_proj.weight", {kv_heads * head_size, tiny_width}},
                  {"self_attn.v_proj.weight", {kv_heads * head_size, tiny_width}},
                  {"self_attn.o_proj.weight", {tiny_width, 4 * head_size}},
                  {"self_attn.q_norm.weight", {head_size}},
                  {"self_attn.k_norm.weight", {head_size}}},
                 tiny_feed_forward("mlp.", 64)});
}

inline TinyModel tiny_gemma4() {
  const TensorSketches more =
      joined({tiny_norms({"pre_feedforward_layernorm_2", "post_feedforward_layernorm_1",
                          "post_feedforward_layernorm_2"}),
              {{"layer_scalar", {1}},
               {"router.scale", {tiny_width}},
               {"router.per_expert_scale", {3}},
               {"router.proj.weight", {3, tiny_width}},
               {"experts.gate_up_proj", {3, 128, tiny_width}},
               {"experts.down_proj", {3, tiny_width, 64}}}});
  return {"Gemma4ForCausalLM",
          tiny_config("Gemma4ForCausalLM",
                      R"("head_dim": 8, "global_head_dim": 16, "num_global_key_value_heads": 1,
                         "num_kv_shared_layers": 0, "hidden_size_per_layer_input": 0,
                         "layer_types": ["sliding_attention", "full_attention"],
                         "sliding_window": 64, "final_logit_softcapping": 30.0,
                         "enable_moe_block": true, "num_experts": 3, "top_k_experts": 2,
                         "moe_intermediate_size": 64, "rope_parameters": {
                           "full_attention": {"rope_type": "proportional", "rope_theta": 1000000.0,
                                              "partial_rotary_factor": 0.25},
                           "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}})"),
          TinyTokenizer::llama_json,
          tiny_layers({tiny_output_norm}, {joined({tiny_gemma_layer(8, 2), more}),
                                           joined({tiny_gemma_layer(16, 1), more})})};
}

inline TinyModel tiny_gemma3n() {
  const TensorSketches layer = joined(
      {tiny_gemma_layer(8, 2),
       tiny_norms({"post_per_layer_input_norm", "laurel.post_laurel_norm", "altup.router_norm"}),
       {{"altup.correct_output_scale", {tiny_width}},
        {"altup.correction_coefs.weight", {4, 4}},
        {"altup.prediction_coefs.weight", {16, 4}},
        {"altup.modality_router.weight", {4, tiny_width}},
        {"laurel.linear_left.weight", {8, tiny_width}},
        {"laurel.linear_right.weight", {tiny_width, 8}},
        {"per_layer_input_gate.weight", {8, tiny_width}},
        {"per_layer_projection.weight", {tiny_width, 8}}}});
  TensorSketches ends = {tiny_output_norm,
                         {"model.embed_tokens_per_layer.weight", {tiny_tokens, 16}},
                         {"model.per_layer_model_projection.weight", {16, tiny_width}},
                         {"model.per_layer_projection_norm.weight", {8}}};
  for (const std::string name : {"altup_projections", "altup_unembed_projections"}) {
    for (int i = 0; i < 3; ++i) {
      ends.push_back(
          {"model." + name + "." + std::to_string(i) + ".weight", {tiny_width, tiny_width}});
    }
  }
  return {"Gemma3nForCausalLM",
          tiny_config("Gemma3nForCausalLM",
                      R"("head_dim": 8, "altup_active_idx": 0, "altup_num_inputs": 4,
                         "hidden_size_per_layer_input": 8, "num_kv_shared_layers": 0,
                         "activation_sparsity_pattern": [0.95, 0.0], "laurel_rank": 8,
                         "layer_types": ["sliding_attention", "full_attention"],
                         "sliding_window": 64, "rope_theta": 1000000.0,
                         "rope_local_base_freq": 10000.0, "final_logit_softcapping": 30.0)"),
          TinyTokenizer::sentencepiece, tiny_layers(ends, {layer, layer})};
}

inline std::vector<TinyModel> tiny_mixed_models() {
  return {tiny_mamba2_model(),
          tiny_nemotron_h(),
          tiny_nemotron_h_moe(),
          tiny_falcon_h1(),
          tiny_granite_hybrid(false),
          tiny_granite_hybrid(true),
          tiny_qwen3_next(),
          tiny_qwen35(),
          tiny_qwen35_moe(),
          tiny_deepseek("DeepseekV2ForCausalLM", false),
          tiny_deepseek("DeepseekV3ForCausalLM", false),
          tiny_deepseek("DeepseekV32ForCausalLM", true),
          tiny_llama4(),
          tiny_gpt_oss(),
          tiny_gemma4(),
          tiny_gemma3n()};
}

}  // namespace ingot::test
