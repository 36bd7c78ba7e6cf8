# SPDX-License-Identifier: MIT
"""Small model folders of every class that the import knows, made of its own tables.

The rules in src/huggingface/rules/ say which tensors a class has, and the tables there what they
are called in a folder. This file adds what they do not say: the shapes of tensors, the members of
config.json, and which of several spellings and parts a class uses.
"""
import json
import pathlib
import shutil
import struct

ROOT = pathlib.Path(__file__).resolve().parents[3]
RULES = ROOT / "src/huggingface/rules"
SIZES = {"width": 64, "inner": 96, "up": 96, "heads": 4, "q": 64, "k": 32,
         "qkv": 128, "o": 64, "q_norm": 16, "k_norm": 16, "positions": 512, "types": 2, "one": 1,
         "labels": 2, "layers": 2, "dense_layers": 0, "experts": 0, "expert_inner": 32,
         "shared_inner": 32, "q_rank": 24, "kv_rank": 32, "q_b": 96, "kv_a": 40, "kv_b": 112}
# Kind of a tensor -> its sizes. All others are norms, of one row.
SHAPES = {
    "token_embd": "tokens width", "output": "tokens width", "pos_embd": "positions width",
    "token_types": "types width", "cls": "labels width", "cls_out": "labels width",
    "attn_qkv": "qkv width", "attn_q": "q width", "attn_k": "k width", "attn_v": "k width",
    "attn_out": "width o", "attn_q_norm": "q_norm", "attn_k_norm": "k_norm", "attn_sinks": "heads",
    "attn_q_a": "q_rank width", "attn_q_b": "q_b q_rank", "attn_q_a_norm": "q_rank",
    "attn_kv_a_mqa": "kv_a width", "attn_kv_b": "kv_b kv_rank", "attn_kv_a_norm": "kv_rank",
    "ffn_gate": "inner width", "ffn_up": "up width", "ffn_down": "width inner",
    "ffn_gate_inp": "experts width", "ffn_exp_probs_b": "experts",
    "ffn_gate_exp": "expert_inner width", "ffn_up_exp": "expert_inner width",
    "ffn_down_exp": "width expert_inner", "ffn_gate_inp_shexp": "one width",
    "ffn_gate_shexp": "shared_inner width", "ffn_up_shexp": "shared_inner width",
    "ffn_down_shexp": "width shared_inner",
}
EXPERTS = {"ffn_gate_inp", "ffn_exp_probs_b", "ffn_gate_inp_shexp",
           *(f"ffn_{part}_{kind}" for part in ("gate", "up", "down") for kind in ("exp", "shexp"))}
# Tensors that folders have not, or only some; a class asks for the latter by `with`.
RARE = {"rope_freqs", "rope_factors_long", "rope_factors_short", "attn_rot_embd", "attn_qkv", "cls",
        "cls_out", "ffn_act", "attn_k_b", "attn_v_b", "nextn_eh_proj", "nextn_embed_tokens",
        "nextn_enorm", "nextn_hnorm", "nextn_shared_head_head", "nextn_shared_head_norm"}
SPLIT = "attn_q attn_k attn_v"
# First step of a rule's tokenizer -> the case of golden/hf that lends its files.
TOKENIZERS = {"llama": "llama-spm", "spm": "llama-spm", "gpt2": "qwen2", "spm_or_gpt2": "qwen2",
              "bert": "bert", "glm": "glm4", "xverse": "qwen2", "phi3": "phi3-longrope", "gemma3": "gemma3-vlm",
              "glm4": "glm4", "solar": "glm4", "t5": "../../hf2/cases/t5",
              "internlm2": "internlm2", "internlm3": "llama-spm", "gpt2_or_ranked": "qwen2",
              "qwen1": "qwen2", "hunyuan_moe": "qwen2", "plamo": "../../hf2/cases/plamo2",
              "none": "qwen2", "rwkv": "../../hf2/cases/rwkv7", "gemma4": "../../hf2/cases/gemma4"}
LAYER = "model.layers.{layer}."

BASE = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 512,
        "rms_norm_eps": 1e-5, "rope_theta": 10000.0}
HEADLESS = {"num_key_value_heads": None}
GPT2 = {"n_ctx": 512, "n_positions": 512, "n_embd": 64, "n_layer": 2, "n_head": 4,
        "layer_norm_epsilon": 1e-5}
LAYER_NORM = {"layer_norm_eps": 1e-5, "rms_norm_eps": None}
LLAMA3_ROPE = {"rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0, "low_freq_factor": 1.0,
               "high_freq_factor": 4.0, "original_max_position_embeddings": 64}
YARN = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 128, "beta_fast": 32,
        "beta_slow": 1, "mscale_all_dim": 1.0}
LONGROPE = {"type": "longrope", "long_factor": [1.5] * 8, "short_factor": [1.0] * 8,
            "original_max_position_embeddings": 128}
SECTIONS = {"rope_type": "default", "mrope_section": [4, 2, 2]}
NO_GQA = {"k": 64, "qkv": 192}
GPT_SIZES = {**NO_GQA, "inner": 256, "up": 256}
MLA = {"kv_lora_rank": 32, "q_lora_rank": 24, "qk_nope_head_dim": 16, "qk_rope_head_dim": 8,
       "v_head_dim": 12, "num_key_value_heads": 4, "rope_scaling": YARN}
DEEPSEEK_EXPERTS = {"n_routed_experts": 4, "n_shared_experts": 1, "num_experts_per_tok": 2,
                    "moe_intermediate_size": 32, "first_k_dense_replace": 1}
LOW_RANK = "attn_q_a attn_q_b attn_q_a_norm"
SHARED_EXPERTS = {f"ffn_{part}_shexp": LAYER + f"mlp.shared_experts.{part}_proj"
                  for part in ("gate", "up", "down")}
QK_NORMS = "attn_q_norm attn_k_norm"
ALL_BIASES = f"{SPLIT} attn_out ffn_gate ffn_up ffn_down"
BERT = {"styles": ["encoder.layer.", "encoder.layers.", "embeddings.", "emb_ln"], "sizes": NO_GQA}
MULTIMODAL = {"inner": "text_config", "rename": ("model.", "model.language_model."),
              "more": {"model.vision_tower.blocks.0.proj.weight": (8, 8)}}

# Class -> what its folders have beside the rule of the class, by these members:
# config: members of config.json (None: not written); inner: the member that holds them;
# sizes, layers: other sizes than above; tied: whether the output is the embedding, None for both;
# styles: what names of tensors begin with (the first that a table has counts); names: names by
# kind; rename: another beginning of all names; more: shapes of tensors with names of their own;
# with, without: kinds; only: no kinds but those of `with`; bias: kinds that have one;
# variants: the same once more, each with changes of its own.
MIXTRAL = {"sizes": {"experts": 4, "expert_inner": 96}, "without": "ffn_gate ffn_up ffn_down",
           "config": {"num_local_experts": 4, "num_experts_per_tok": 2},
           "names": {"ffn_gate_inp": LAYER + "block_sparse_moe.gate"}}
GLM4 = {"config": {"head_dim": 16, "partial_rotary_factor": 0.5},
        "sizes": {"up": 192},
        "names": {"ffn_up": LAYER + "mlp.gate_up_proj",
                  "attn_post_norm": LAYER + "post_self_attn_layernorm",
                  "ffn_post_norm": LAYER + "post_mlp_layernorm",
                  "ffn_norm": LAYER + "post_attention_layernorm"},
        "variants": [{"bias": SPLIT}]}
CLASSES = {
    "LlamaForCausalLM": {"variants": [{"bias": ALL_BIASES},
                                      {"config": {"rope_scaling": LLAMA3_ROPE}}]},
    "MistralForCausalLM": {"config": {"sliding_window": 32, "head_dim": 16}},
    "MixtralForCausalLM": MIXTRAL,
    "LlavaForConditionalGeneration": MULTIMODAL,
    "VoxtralForConditionalGeneration": {**MULTIMODAL, "rename": ("", "language_model.")},
    "VLlama3ForCausalLM": {"rename": ("model.", "model.text_model."), "inner": "text_config"},
    "LlamaModel": {"rename": ("model.", ""), "tied": True},
    "LlamaBidirectionalModel": {"tied": True},
    "NanbeigeForCausalLM": {"config": {"num_loops": 2}},
    "JanusForConditionalGeneration": {"rename": ("", "language_model."),
                                      "inner": "language_config"},
    "Sarashina2VisionForCausalLM": {"rename": ("", "llm."), "inner": "text_config"},
    "PanguEmbeddedForCausalLM": {"bias": f"{SPLIT} attn_out", "names": {"output": "lm_head"}},
    "MaincoderForCausalLM": {"config": {"head_dim": 16}},
    "GraniteSWAForCausalLM": {"config": {
        "logits_scaling": 8.0, "no_rope_layers": [1, 0],
        "layer_types": ["sliding_attention", "full_attention"]}, "without": "ffn_gate_up_exp"},
    "GraniteMoeSWAForCausalLM": {
        "config": {"num_local_experts": 4, "num_experts_per_tok": 2, "logits_scaling": 8.0, "no_rope_layers": [1, 0],
                   "layer_types": ["sliding_attention", "full_attention"]},
        "without": "ffn_gate ffn_down ffn_up ffn_gate_up_exp ffn_gate_exp ffn_up_exp ffn_down_exp",
        "more": {LAYER + "block_sparse_moe.router.layer.weight": (4, 64),
                 LAYER + "block_sparse_moe.input_linear.weight": (4, 192, 64),
                 LAYER + "block_sparse_moe.output_linear.weight": (4, 64, 96)}},
    "DreamModel": {"bias": SPLIT},
    "RND1": {"sizes": {"experts": 4}, "config": {
        "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32, "head_dim": 16}},
    "LLaDAMoEModelLM": {"sizes": {"experts": 4}, "config": {
        "num_experts": 4, "num_experts_per_tok": 2, "expert_intermediate_size": 32}},
    "MellumForCausalLM": {"sizes": {"experts": 4}, "config": {
        "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32, "head_dim": 16,
        "sliding_window": 32, "layer_types": ["sliding_attention", "full_attention"]}},
    "ArceeForCausalLM": {"config": {"rope_scaling": YARN}},
    "SmolLM3ForCausalLM": {"config": {"rope_scaling": LLAMA3_ROPE}},
    "Ministral3ForCausalLM": {"config": {"model_type": "ministral3", "head_dim": 16,
                                         "rope_parameters": {**YARN, "llama_4_scaling_beta": 0.1}}},
    "Mistral3ForConditionalGeneration": {**MULTIMODAL, "variants": [
        {"config": {"model_type": "ministral3", "head_dim": 16,
                    "rope_parameters": {**YARN, "llama_4_scaling_beta": 0.1}}}]},
    "GraniteForCausalLM": {"config": {"logits_scaling": 8.0, "embedding_multiplier": 12.0,
                                      "attention_multiplier": 0.1, "residual_multiplier": 0.2},
                           "variants": [{"bias": ALL_BIASES}]},
    "InternLM3ForCausalLM": {"config": {"head_dim": 16}, "variants": [{"bias": ALL_BIASES}]},
    "BaichuanForCausalLM": {"config": {**HEADLESS, "model_max_length": 512},
                            "without": SPLIT,
                            "more": {LAYER + "self_attn.W_pack.weight": (192, 64)}},
    "OrionForCausalLM": {"bias": "attn_norm ffn_norm output_norm"},
    "BertModel": {**BERT, "bias": f"{ALL_BIASES} token_embd_norm attn_out_norm layer_out_norm",
                  "without": "output_norm", "config": {**LAYER_NORM, **HEADLESS,
                                                             "type_vocab_size": 2}},
    "BertForMaskedLM": {"rename": ("", "bert."),
                        "more": {"cls.predictions.transform.dense.weight": (64, 64)}},
    "BertForSequenceClassification": {
        "with": "cls", "bias": "cls", "rename": ("", "bert."), "names": {"cls": "classifier"},
        "config": {"id2label": {"0": "no", "1": "yes"}},
        "more": {"bert.pooler.dense.weight": (64, 64), "bert.pooler.dense.bias": (64,)},
        "variants": [{"config": {"id2label": None}},
                     {"config": {"id2label": {"0": "LABEL_0"}}, "sizes": {"labels": 1}},
                     {"config": {"id2label": {"0": "LABEL_0", "1": "LABEL_1"}}}]},
    "DistilBertModel": {
        **BERT, "styles": ["transformer.layer.", "embeddings."], "without": "output_norm token_types",
        "bias": f"{ALL_BIASES} token_embd_norm attn_out_norm layer_out_norm",
        "config": {**LAYER_NORM, **HEADLESS}},
    "NomicBertModel": {
        **BERT, "with": "attn_qkv", "without": "pos_embd output_norm",
        "bias": "token_embd_norm attn_out_norm layer_out_norm",
        "names": {"ffn_up": "encoder.layers.{layer}.mlp.fc11",
                  "ffn_gate": "encoder.layers.{layer}.mlp.fc12",
                  "ffn_down": "encoder.layers.{layer}.mlp.fc2",
                  "layer_out_norm": "encoder.layers.{layer}.norm2"},
        "config": {**GPT2, **HEADLESS, "n_positions": 8192, "n_inner": 96, "type_vocab_size": 2,
                   "rotary_emb_base": 1000}},
    "CohereForCausalLM": {"config": {**LAYER_NORM, "logit_scale": 0.0625}, "without": QK_NORMS,
                          "variants": [{"layers": 64, "more": {
                              LAYER + "self_attn.q_norm.weight": (4, 16),
                              LAYER + "self_attn.k_norm.weight": (2, 16)}}]},
    "Cohere2ForCausalLM": {"config": {**LAYER_NORM, "logit_scale": 0.25, "sliding_window": 32,
                                      "rotary_pct": 1.0, "head_dim": 16}},
    "DeepseekForCausalLM": {"config": DEEPSEEK_EXPERTS, "names": SHARED_EXPERTS,
                            "sizes": {"experts": 4, "dense_layers": 1},
                            "without": "ffn_gate_inp_shexp"},
    "DeepseekV2ForCausalLM": {
        "config": {**MLA, **DEEPSEEK_EXPERTS, "q_lora_rank": None}, "names": SHARED_EXPERTS,
        "sizes": {"experts": 4, "dense_layers": 1, "q": 96, "o": 48},
        "without": f"attn_k attn_v {LOW_RANK} ffn_exp_probs_b", "layers": 27},
    "DeepseekV3ForCausalLM": {
        "config": {**MLA, **DEEPSEEK_EXPERTS, "scoring_func": "sigmoid", "n_group": 2,
                   "topk_group": 1, "norm_topk_prob": True, "routed_scaling_factor": 2.5},
        "names": {"ffn_exp_probs_b": LAYER + "mlp.gate.e_score_correction_bias"},
        "with": f"{LOW_RANK} ffn_exp_probs_b", "without": "attn_q", "layers": 2},
    "KimiVLForConditionalGeneration": {"inner": "text_config", "rename": ("", "language_model.")},
    "YoutuForCausalLM": {"config": {**dict.fromkeys(DEEPSEEK_EXPERTS), **MLA, "rope_scaling": None},
                         "with": LOW_RANK, "without": "attn_q", "sizes": {"experts": 0},
                         "layers": 2},
    "ExaoneForCausalLM": {
        "styles": ["transformer."], "config": {"layer_norm_epsilon": 1e-5, "num_layers": 2,
                                               "num_hidden_layers": None, "rms_norm_eps": None},
        "names": {"ffn_norm": "transformer.h.{layer}.ln_2",
                  "attn_out": "transformer.h.{layer}.attn.attention.out_proj",
                  "ffn_gate": "transformer.h.{layer}.mlp.c_fc_0",
                  "ffn_up": "transformer.h.{layer}.mlp.c_fc_1",
                  **{f"attn_{part}": f"transformer.h.{{layer}}.attn.attention.{part}_proj"
                     for part in "qkv"}},
        "variants": [{"config": {"rope_scaling": LLAMA3_ROPE}}]},
    "Exaone4ForCausalLM": {"config": {"head_dim": 16, "sliding_window": None},
                           "variants": [{"config": {"sliding_window": 32,
                                                    "sliding_window_pattern": "LLLG",
                                                    "rope_scaling": LLAMA3_ROPE}}]},
    "GemmaForCausalLM": {"config": {"head_dim": 16}},
    "Gemma2ForCausalLM": {"config": {"head_dim": 16, "sliding_window": 32,
                                     "attn_logit_softcapping": 50.0,
                                     "final_logit_softcapping": 30.0}},
    "Gemma3ForCausalLM": {"config": {"head_dim": 16, "sliding_window": 32}},
    "Gemma3ForConditionalGeneration": MULTIMODAL,
    "Glm4ForCausalLM": GLM4,
    "GlmOcrForConditionalGeneration": GLM4,
    "SolarOpenForCausalLM": {
        "config": {**DEEPSEEK_EXPERTS, "head_dim": 16, "norm_topk_prob": True,
                   "routed_scaling_factor": 1.0, "partial_rotary_factor": 1.0},
        "sizes": {"experts": 4, "dense_layers": 1}, "without": QK_NORMS,
        "names": {**SHARED_EXPERTS, "ffn_exp_probs_b": LAYER + "mlp.gate.e_score_correction_bias"}},
    "SarvamMoEForCausalLM": {
        "config": {"num_experts": 4, "num_shared_experts": 1, "num_experts_per_tok": 2,
                   "moe_intermediate_size": 32, "first_k_dense_replace": 1, "head_dim": 16,
                   "routed_scaling_factor": 2.5, "norm_topk_prob": True, "n_group": 1,
                   "topk_group": 1, "score_function": "sigmoid"},
        "sizes": {"experts": 4, "dense_layers": 1}, "with": "attn_qkv", "without": "layer_out_norm",
        "tied": False,
        "names": {**SHARED_EXPERTS, "token_embd": "model.word_embeddings",
                  "attn_qkv": LAYER + "attention.query_key_value",
                  "attn_out": LAYER + "attention.dense",
                  "attn_q_norm": LAYER + "attention.query_layernorm",
                  "attn_k_norm": LAYER + "attention.key_layernorm",
                  "ffn_exp_probs_b": LAYER + "mlp.gate.expert_bias"}},
    "Lfm2MoeForCausalLM": {
        "config": {"layer_types": ["conv", "full_attention"], "num_dense_layers": 1,
                   "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32,
                   "conv_L_cache": 3, "norm_eps": 1e-5},
        "tied": True, "styles": ["model."],
        "names": {"token_embd_norm": "model.embedding_norm"},
        "without": f"{SPLIT} {QK_NORMS} attn_out ffn_gate ffn_up ffn_down shortconv_conv "
                   "shortconv_inproj shortconv_outproj",
        "more": {"model.layers.0.conv.conv.weight": (64, 1, 3),
                 "model.layers.0.conv.in_proj.weight": (192, 64),
                 "model.layers.0.conv.out_proj.weight": (64, 64),
                 "model.layers.0.feed_forward.w1.weight": (96, 64),
                 "model.layers.0.feed_forward.w2.weight": (64, 96),
                 "model.layers.0.feed_forward.w3.weight": (96, 64),
                 "model.layers.1.self_attn.q_proj.weight": (64, 64),
                 "model.layers.1.self_attn.k_proj.weight": (32, 64),
                 "model.layers.1.self_attn.v_proj.weight": (32, 64),
                 "model.layers.1.self_attn.out_proj.weight": (64, 64),
                 "model.layers.1.self_attn.q_layernorm.weight": (16,),
                 "model.layers.1.self_attn.k_layernorm.weight": (16,),
                 "model.layers.1.feed_forward.gate.weight": (4, 64),
                 "model.layers.1.feed_forward.expert_bias": (4,),
                 **{f"model.layers.1.feed_forward.experts.{expert}.w{part}.weight":
                    (64, 32) if part == 2 else (32, 64)
                    for expert in range(4) for part in (1, 2, 3)}}},
    "GlmMoeDsaForCausalLM": {
        "config": {**MLA, **DEEPSEEK_EXPERTS, "rope_scaling": None, "scoring_func": "sigmoid",
                   "norm_topk_prob": True, "routed_scaling_factor": 2.5, "index_n_heads": 2,
                   "index_head_dim": 64, "index_topk": 8, "indexer_types": ["full", "shared"]},
        "sizes": {"experts": 4, "dense_layers": 1, "o": 48},
        "with": LOW_RANK, "without": "attn_q attn_k attn_v indexer_k_norm indexer_proj "
                                     "indexer_attn_k indexer_attn_q_b",
        "names": {**SHARED_EXPERTS, "ffn_exp_probs_b": LAYER + "mlp.gate.e_score_correction_bias"},
        "more": {"model.layers.0.self_attn.indexer.k_norm.weight": (64,),
                 "model.layers.0.self_attn.indexer.k_norm.bias": (64,),
                 "model.layers.0.self_attn.indexer.weights_proj.weight": (2, 64),
                 "model.layers.0.self_attn.indexer.wk.weight": (64, 64),
                 "model.layers.0.self_attn.indexer.wq_b.weight": (128, 24)}},
    "InternLM2ForCausalLM": {
        "without": SPLIT, "more": {LAYER + "attention.wqkv.weight": (128, 64)},
        "names": {"token_embd": "model.tok_embeddings", "output": "output",
                  "attn_out": LAYER + "attention.wo", "attn_norm": LAYER + "attention_norm",
                  "ffn_norm": LAYER + "ffn_norm", "ffn_gate": LAYER + "feed_forward.w1",
                  "ffn_up": LAYER + "feed_forward.w3", "ffn_down": LAYER + "feed_forward.w2"}},
    "Cohere2MoeForCausalLM": {
        "sizes": {"experts": 4, "expert_inner": 96, "shared_inner": 96, "dense_layers": 1},
        "without": "ffn_gate_up_exp",
        "config": {**LAYER_NORM, "head_dim": 16, "logit_scale": 0.25, "sliding_window": 32, "num_experts": 4,
                   "num_experts_per_tok": 2, "num_shared_experts": 1, "first_k_dense_replace": 1,
                   "layer_types": ["sliding_attention", "full_attention"]}},
    "MiniCPMForCausalLM": {"config": {"scale_emb": 12, "scale_depth": 1.4, "dim_model_base": 16},
                           "variants": [{"config": {"rope_scaling": LONGROPE}}]},
    "MiniCPM3ForCausalLM": {
        "config": {**MLA, "v_head_dim": 16, "rope_scaling": {**LONGROPE, "long_factor": [1.5] * 4,
                                                           "short_factor": [1.0] * 4}},
        "sizes": {"kv_b": 128}},
    "NemotronForCausalLM": {"config": {"norm_eps": 1e-5, "partial_rotary_factor": 0.5,
                                       "rms_norm_eps": None},
                            "bias": "attn_norm ffn_norm output_norm"},
    "OlmoForCausalLM": {"variants": [{"config": {"clip_qkv": 8.0}}]},
    "Olmo2ForCausalLM": {"sizes": {"q_norm": 64, "k_norm": 32}},
    "Olmo3ForCausalLM": {"config": {"sliding_window": 32, "layer_types": [
        "sliding_attention", "full_attention"]}},
    "OlmoeForCausalLM": {"sizes": {**NO_GQA, "q_norm": 64, "k_norm": 64, "experts": 4,
                                   "expert_inner": 96},
                         "config": {"num_experts": 4, "num_experts_per_tok": 2,
                                                  "num_key_value_heads": 4}},
    "PhiForCausalLM": {
        "config": {**LAYER_NORM, "partial_rotary_factor": 0.5}, "sizes": GPT_SIZES,
        "without": "ffn_norm",
        "bias": f"{SPLIT} attn_out ffn_up ffn_down attn_norm output_norm output",
        "names": {"attn_out": LAYER + "self_attn.dense", "ffn_up": LAYER + "mlp.fc1",
                  "ffn_down": LAYER + "mlp.fc2", "output_norm": "model.final_layernorm"}},
    "Phi3ForCausalLM": {"with": "attn_qkv", "sizes": {"up": 192},
                        "config": {"original_max_position_embeddings": 128},
                        "names": {"attn_qkv": LAYER + "self_attn.qkv_proj",
                                  "ffn_up": LAYER + "mlp.gate_up_proj"},
                        "variants": [{"config": {"rope_scaling": LONGROPE, "sliding_window": 64}}]},
    "Qwen2ForCausalLM": {"bias": SPLIT, "variants": [{"config": {"rope_scaling": YARN}}]},
    "KORMoForCausalLM": {"bias": "", "names": {"attn_norm": LAYER + "pre_attention_layernorm",
                                               "ffn_norm": LAYER + "pre_mlp_layernorm"}},
    "Qwen2Model": {"bias": SPLIT, "rename": ("model.", ""), "tied": True},
    "Qwen2MoeForCausalLM": {"bias": SPLIT, "sizes": {"experts": 4, "shared_inner": 48},
                            "config": {"num_experts": 4, "num_experts_per_tok": 2,
                                       "moe_intermediate_size": 32,
                                       "shared_expert_intermediate_size": 48}},
    "Qwen3MoeForCausalLM": {"sizes": {"experts": 4}, "config": {
        "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32, "head_dim": 16}},
    "Qwen3ForCausalLM": {"config": {"head_dim": 16}},
    "Qwen3Model": {"rename": ("model.", ""), "tied": True},
    "Qwen3ForSequenceClassification": {"config": {"head_dim": 16}},
    "SeedOssForCausalLM": {"config": {"head_dim": 16}, "bias": SPLIT},
    "StableLmForCausalLM": {
        "config": {**LAYER_NORM, "partial_rotary_factor": 0.25},
        "without": QK_NORMS, "bias": "attn_norm ffn_norm output_norm",
        "variants": [{"bias": SPLIT},
                     {"without": "ffn_norm", "more": {
                         **{LAYER + f"self_attn.q_layernorm.norms.{head}.weight": (16,)
                            for head in range(4)},
                         **{LAYER + f"self_attn.k_layernorm.norms.{head}.weight": (16,)
                            for head in range(2)}}}]},
    "Jais2ForCausalLM": {
        "config": LAYER_NORM, "names": {"ffn_up": LAYER + "mlp.up_proj"},
        "bias": f"{SPLIT} attn_out ffn_up ffn_down attn_norm ffn_norm output_norm"},
    "PLMForCausalLM": {
        "config": {"kv_lora_rank": 32, "qk_nope_head_dim": 16, "qk_rope_head_dim": 8,
                   "v_head_dim": 12, "num_key_value_heads": 4},
        "sizes": {"q": 96, "o": 48}, "tied": True},
    "CodeShellForCausalLM": {
        "styles": ["transformer."], "config": {**GPT2, "num_query_groups": 2}, "tied": False,
        "sizes": {**GPT_SIZES, "qkv": 128}, "with": "attn_qkv", "without": "pos_embd",
        "names": {"ffn_norm": "transformer.h.{layer}.ln_2"},
        "bias": "attn_qkv attn_out ffn_up ffn_down attn_norm ffn_norm output_norm"},
    "SmallThinkerForCausalLM": {
        "config": {"moe_num_primary_experts": 4, "moe_num_active_primary_experts": 2,
                   "moe_ffn_hidden_size": 32, "head_dim": 16, "sliding_window_layout": [0, 0]},
        "sizes": {"experts": 4}, "without": "ffn_gate ffn_up ffn_down",
        "names": {"ffn_gate_inp": LAYER + "block_sparse_moe.primary_router"}},
    "GroveMoeForCausalLM": {
        "config": {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32,
                   "head_dim": 16},
        "sizes": {"experts": 4}, "without": "ffn_gate_chexp ffn_down_chexp ffn_up_chexp",
        "more": {LAYER + f"mlp.chunk_experts.{expert}.{part}_proj.weight":
                 (64, 16) if part == "down" else (16, 64)
                 for expert in range(2) for part in ("gate", "up", "down")}},
    "NeoBERT": {
        "styles": ["transformer_encoder.", "encoder"], "with": "attn_qkv",
        "sizes": {"qkv": 192, "inner": 64, "up": 128}, "tied": True,
        "names": {"enc_output_norm": "layer_norm"},
        "config": {**HEADLESS, "norm_eps": 1e-6, "rms_norm_eps": None}},
    "T5EncoderModel": {
        "config": {"d_model": 64, "d_ff": 96, "d_kv": 16, "num_heads": 4, "num_layers": 2,
                   "layer_norm_epsilon": 1e-6, "relative_attention_num_buckets": 8},
        "tied": True, "names": {"token_embd": "shared"},
        "without": "enc_attn_norm enc_attn_q enc_attn_k enc_attn_v enc_attn_out enc_attn_rel_b "
                   "enc_ffn_norm enc_ffn_gate enc_ffn_down enc_ffn_up enc_output_norm",
        "more": {**{f"encoder.block.{{layer}}.layer.0.SelfAttention.{part}.weight": (64, 64)
                    for part in "qkvo"},
                 "encoder.block.{layer}.layer.0.layer_norm.weight": (64,),
                 "encoder.block.{layer}.layer.1.layer_norm.weight": (64,),
                 "encoder.block.{layer}.layer.1.DenseReluDense.wi.weight": (96, 64),
                 "encoder.block.{layer}.layer.1.DenseReluDense.wo.weight": (64, 96),
                 "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight": (8, 4),
                 "encoder.final_layer_norm.weight": (64,)}},
    "GPTBigCodeForCausalLM": {
        "styles": ["transformer."], "config": GPT2, "sizes": {**GPT_SIZES, "qkv": 96},
        "names": {"ffn_norm": "transformer.h.{layer}.ln_2"}, "with": "attn_qkv",
        "bias": "attn_qkv attn_out ffn_up ffn_down attn_norm ffn_norm output_norm"},
    "Starcoder2ForCausalLM": {
        "config": {"norm_epsilon": 1e-5, "rms_norm_eps": None},
        "names": {"ffn_up": LAYER + "mlp.c_fc", "ffn_down": LAYER + "mlp.c_proj"},
        "bias": f"{SPLIT} attn_out ffn_up ffn_down attn_norm ffn_norm output_norm"},
    "GPT2LMHeadModel": {
        "styles": ["transformer."], "config": GPT2, "sizes": GPT_SIZES, "with": "attn_qkv",
        "bias": "attn_qkv attn_out ffn_up ffn_down attn_norm ffn_norm output_norm",
        "variants": [{"rename": ("transformer.", ""),
                      "more": {"h.{layer}.attn.bias": (1, 1, 8, 8)}}]},
    "GPTNeoXForCausalLM": {
        "styles": ["gpt_neox."], "config": {**LAYER_NORM, "rotary_pct": 0.25}, "with": "attn_qkv",
        "sizes": NO_GQA, "names": {"output": "embed_out"},
        "bias": "attn_qkv attn_out ffn_up ffn_down attn_norm ffn_norm output_norm",
        "variants": [{"config": {"use_parallel_residual": False}}]},
    "BloomForCausalLM": {
        "styles": ["h.", "word_emb", "ln_f"], "with": "attn_qkv", "sizes": GPT_SIZES,
        "rename": ("", "transformer."), "config": {"n_head": 4, "n_layer": 2,
                                                   "layer_norm_epsilon": 1e-5},
        "bias": "attn_qkv attn_out ffn_up ffn_down attn_norm ffn_norm output_norm token_embd_norm"},
    "BloomModel": {"rename": ("", ""), "tied": True},
    "FalconForCausalLM": {
        "styles": ["transformer."], "with": "attn_qkv", "sizes": {**GPT_SIZES, "qkv": 96},
        "without": "attn_norm_2", "config": {"layer_norm_epsilon": 1e-5},
        "names": {"attn_norm": "transformer.h.{layer}.input_layernorm"},
        "bias": "attn_norm attn_norm_2 output_norm",
        "variants": [{"with": "attn_norm_2", "config": {"num_kv_heads": 2}, "sizes": {"qkv": 128},
                      "names": {"attn_norm": "transformer.h.{layer}.ln_mlp"}}]},
    "MPTForCausalLM": {
        "styles": ["transformer."], "with": "attn_qkv", "sizes": {**GPT_SIZES, "q_norm": 64,
                                                                  "k_norm": 64},
        "without": f"pos_embd {QK_NORMS}",
        "config": {"d_model": 64, "n_heads": 4, "n_layers": 2, "max_seq_len": 512,
                   "attn_config": {"alibi": True, "alibi_bias_max": 8, "clip_qkv": None}},
        "variants": [{"config": {"attn_config": {"alibi": True, "alibi_bias_max": 8,
                                                 "clip_qkv": 6.0}}}, {"with": QK_NORMS}]},
    "Exaone4_5_ForConditionalGeneration": {"config": {"head_dim": 16, "sliding_window": None}},
    "HYV3ForCausalLM": {"sizes": {"experts": 4}, "names": {
        **SHARED_EXPERTS, "ffn_exp_probs_b": LAYER + "mlp.expert_bias"}, "config": {
        "head_dim": 16, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32,
        "num_shared_experts": 1}},
    "HunYuanMoEV1ForCausalLM": {
        "sizes": {"experts": 4, "shared_inner": 96, "expert_inner": 96}, "config": {
            "head_dim": 16, "num_experts": 4, "moe_topk": [2, 2], "moe_intermediate_size": [96, 96],
            "num_shared_expert": [1, 1]},
        "names": {**SHARED_EXPERTS, "ffn_gate_inp": LAYER + "mlp.gate.wg",
                  "attn_q_norm": LAYER + "self_attn.query_layernorm",
                  "attn_k_norm": LAYER + "self_attn.key_layernorm"}},
    "Plamo3ForCausalLM": {
        "config": {"head_dim": 16, "window_size": 32, "sliding_window_pattern": 2},
        "names": {kind: "model.layers.layers.{layer}." + name for kind, name in {
            "attn_norm": "pre_mixer_norm", "attn_qkv": "mixer.qkv_proj",
            "attn_q_norm": "mixer.q_norm", "attn_k_norm": "mixer.k_norm",
            "attn_out": "mixer.o_proj", "attn_post_norm": "post_mixer_norm",
            "ffn_norm": "pre_mlp_norm", "ffn_up": "mlp.gate_up_proj", "ffn_down": "mlp.down_proj",
            "ffn_post_norm": "post_mlp_norm"}.items()},
        "with": "attn_qkv", "tied": True, "sizes": {"up": 192}},
    "Gemma4UnifiedForConditionalGeneration": {
        "tied": True, "without": "output ffn_gate_up_exp ffn_pre_norm_2 ffn_post_norm_1 ffn_post_norm_2 layer_out_scale "
        "per_layer_token_embd per_layer_model_proj per_layer_inp_gate per_layer_proj per_layer_proj_norm "
        "per_layer_post_norm",
        "config": {"head_dim": 16, "global_head_dim": 16, "num_kv_shared_layers": 0, "sliding_window": 32,
                   "layer_types": ["sliding_attention", "full_attention"]}},
    "Qwen3ASRForConditionalGeneration": {
        "rename": ("", "thinker."), "config": {"head_dim": 16, "rope_scaling": SECTIONS}},
    "Qwen3OmniMoeForConditionalGeneration": {
        "rename": ("", "thinker."), "sizes": {"experts": 4}, "config": {
            "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32, "head_dim": 16,
            "rope_scaling": SECTIONS}},
    "XverseForCausalLM": {},
    "JAISLMHeadModel": {
        "styles": ["transformer."], "config": {**GPT2, "n_inner": 96, "embeddings_scale": 14.6, "width_scale": 0.5,
                                                "activation_function": "swiglu", "position_embedding_type": "alibi"},
        "sizes": NO_GQA, "with": "attn_qkv", "tied": False, "names": {"ffn_norm": "transformer.h.{layer}.ln_2"},
        "bias": "attn_qkv attn_out ffn_gate ffn_up ffn_down attn_norm ffn_norm output_norm"},
    "ChameleonForConditionalGeneration": {
        # The engine sets the scores of the tokens of images, which end at 8,196.
        "tied": False, "config": {"num_key_value_heads": 4}, "without": QK_NORMS,
        "sizes": {**NO_GQA, "tokens": 8200}, "more": {LAYER + "self_attn.q_norm.weight": (4, 16),
                                  LAYER + "self_attn.k_norm.weight": (4, 16)}},
    "DbrxForCausalLM": {
        "styles": ["transformer."], "tied": False,
        "config": {"d_model": 64, "n_heads": 4, "n_layers": 2, "max_seq_len": 512,
                   "attn_config": {"kv_n_heads": 2, "clip_qkv": 8.0, "rope_theta": 500000.0},
                   "ffn_config": {"ffn_hidden_size": 32, "moe_num_experts": 4, "moe_top_k": 2}},
        "sizes": {"experts": 4}, "with": "attn_qkv",
        "without": "ffn_gate_exp ffn_down_exp ffn_up_exp",
        "names": {"attn_norm": "transformer.blocks.{layer}.norm_attn_norm.norm_1",
                  "attn_qkv": "transformer.blocks.{layer}.norm_attn_norm.attn.Wqkv",
                  "attn_out": "transformer.blocks.{layer}.norm_attn_norm.attn.out_proj",
                  "attn_out_norm": "transformer.blocks.{layer}.norm_attn_norm.norm_2"},
        "more": {f"transformer.blocks.{{layer}}.ffn.experts.mlp.{part}": (128, 64)
                 for part in ("w1", "v1", "w2")}},
    # The engine takes each 8th layer for one with softmax.
    "MiniMaxText01ForCausalLM": {
        "layers": 8, "config": {"head_dim": 16, "rotary_dim": 8, "num_local_experts": 4, "num_experts_per_tok": 2,
                   **{f"layernorm_{part}_{name}": value for part in ("full_attention", "linear_attention", "mlp")
                      for name, value in (("alpha", 3.5), ("beta", 1.0))}},
        "sizes": {"experts": 4, "expert_inner": 96}, "tied": False,
        "names": {"ffn_gate_inp": LAYER + "block_sparse_moe.gate"},
        "without": f"{SPLIT} attn_out attn_gate attn_norm_2",
        "more": {**{f"model.layers.{layer}.self_attn.{name}.weight": shape for layer in range(7)
                    for name, shape in (("qkv_proj", (192, 64)), ("out_proj", (64, 64)),
                                        ("output_gate", (64, 64)), ("norm", (64,)))},
                 "model.layers.7.self_attn.q_proj.weight": (64, 64),
                 "model.layers.7.self_attn.k_proj.weight": (32, 64),
                 "model.layers.7.self_attn.v_proj.weight": (32, 64),
                 "model.layers.7.self_attn.o_proj.weight": (64, 64)}},
    "LagunaForCausalLM": {
        "sizes": {"experts": 4, "dense_layers": 1}, "without": "attn_gate", "config": {
            "head_dim": 16, "sliding_window": 32, "num_experts": 4, "num_experts_per_tok": 2, "gating": True,
            "moe_intermediate_size": 32, "shared_expert_intermediate_size": 32, "moe_routed_scaling_factor": 1.5,
            "mlp_layer_types": ["dense", "sparse"], "num_attention_heads_per_layer": [4, 4],
            "rope_parameters": {"full_attention": {"rope_theta": 10000.0, "partial_rotary_factor": 0.5},
                                "sliding_attention": {"rope_theta": 1000.0}}},
        "names": {"ffn_exp_probs_b": LAYER + "mlp.experts.e_score_correction_bias"},
        "more": {LAYER + "self_attn.g_proj.weight": (4, 64)}},
    "GraniteSwitchForCausalLM": {
        "tied": True, "config": {
            "num_hidden_layers": 3, "logits_scaling": 8.0, "shared_intermediate_size": 96, "num_adapters": 2,
            "max_lora_rank": 8, "adapter_token_ids": [3, 4], "adapter_substitute_token_ids": [5, 6]},
        "more": {LAYER + name: shape for name, shape in (
            ("self_attn.qkv_proj.base_layer.weight", (128, 64)), ("self_attn.o_proj.base_layer.weight", (64, 64)),
            ("shared_mlp.input_linear.base_layer.weight", (192, 64)),
            ("shared_mlp.output_linear.base_layer.weight", (64, 96)),
            *((f"self_attn.qkv_proj.lora_A_slices.{i}", (2, 1, 8, 64)) for i in range(3)),
            *((f"self_attn.qkv_proj.lora_B_slices.{i}", (2, 1, rows, 8)) for i, rows in enumerate((64, 32, 32))),
            *((f"shared_mlp.input_linear.lora_A_slices.{i}", (2, 1, 8, 64)) for i in range(2)),
            *((f"shared_mlp.input_linear.lora_B_slices.{i}", (2, 1, 96, 8)) for i in range(2)),
            ("self_attn.o_proj.lora_A", (2, 1, 8, 64)), ("self_attn.o_proj.lora_B", (2, 1, 64, 8)),
            ("shared_mlp.output_linear.lora_A", (2, 1, 8, 96)), ("shared_mlp.output_linear.lora_B", (2, 1, 64, 8)))}},
    "RuGPT3XLForCausalLM": {
        "config": {**LAYER_NORM, **HEADLESS}, "sizes": NO_GQA, "names": {"pos_embd": "model.embed_positions"},
        "bias": "attn_out ffn_up ffn_down attn_norm ffn_norm output_norm",
        "more": {f"{LAYER}self_attn.{part}_proj.{kind}": shape for part in "qkv"
                 for kind, shape in (("weight", (64, 64)), ("bias", (64,)))}},
    "RwkvHybridForCausalLM": {
        "tied": False, "with": "token_embd output output_norm attn_norm ffn_norm ffn_gate ffn_up ffn_down",
        "only": True, "config": {"head_size": 16, "wkv_has_gate": True, "wkv_version": 7},
        "more": {f"{LAYER}self_attn.time_mixer.{name}": shape for name, shape in (
            *((f"x_{part}", (1, 1, 64)) for part in "rwkvag"),
            *((f"{part}.weight", (64, 64)) for part in ("receptance", "key", "value", "output")),
            *((f"{part}0", (1, 1, 64)) for part in "wav"), ("k_k", (1, 1, 64)), ("k_a", (1, 1, 64)), ("r_k", (4, 16)),
            ("w1", (64, 64)), ("w2", (64, 64)), ("a1", (64, 64)), ("a2", (64, 64)), ("v1", (64, 32)), ("v2", (32, 64)),
            ("g1", (64, 128)), ("g2", (128, 64)))}},
    "RWKV6Qwen2ForCausalLM": {
        "tied": False, "with": "token_embd output output_norm attn_norm ffn_norm ffn_gate ffn_up ffn_down",
        "only": True, "more": {f"{LAYER}self_attn.{name}": shape for name, shape in (
            *((f"time_maa_{part}", (1, 1, 64)) for part in "xwkvrg"), ("time_decay", (1, 1, 64)),
            ("time_maa_w1", (64, 160)), ("time_maa_w2", (5, 32, 64)), ("time_decay_w1", (64, 64)),
            ("time_decay_w2", (64, 64)), ("gate.weight", (64, 64)), ("o_proj.weight", (64, 64)),
            *((f"{part}_proj.weight", (rows, 64)) for part, rows in (("q", 64), ("k", 32), ("v", 32))),
            *((f"{part}_proj.bias", (rows,)) for part, rows in (("q", 64), ("k", 32), ("v", 32))))}},
    "TalkieForCausalLM": {
        "tied": False, "with": "", "only": True, "config": {"head_dim": 16, "num_key_value_heads": 4, "rms_norm_eps": None},
        "more": {"model.embed.weight": ("tokens", 64), "lm_head": ("tokens", 64), "lm_head_gain.w_g": (1,),
                 **{f"model.blocks.{{layer}}.{name}": shape for name, shape in (
                     *((f"attn.attn_{part}.weight", (64, 64)) for part in ("query", "key", "value", "resid")),
                     ("mlp.mlp_gate.weight", (96, 64)), ("mlp.mlp_linear.weight", (96, 64)),
                     ("mlp.mlp_resid.weight", (64, 96)), ("attn.head_gain.head_g", (4,)), ("attn_gain.a_g", (1,)),
                     ("mlp_gain.a_g", (1,)), ("embed_skip.a_g", (1,)))}}},
    "WavTokenizerDec": {
        "tied": True, "with": "", "only": True, "layers": 6, "config": {
            "rms_norm_eps": None, "layer_norm_epsilon": 1e-6, "group_norm_epsilon": 1e-6, "group_norm_groups": 32,
            "n_embd_features": 32, "n_ff": 96, "vocab_size": 40, "posnet": {"n_embd": 64, "n_layer": 6},
            "convnext": {"n_embd": 64, "n_layer": 2}},
        "more": {"token_embd.weight": (40, 32), "backbone.embed.weight": (64, 32, 7), "backbone.embed.bias": (64, 1),
                 "head.out.weight": (64, 64), "head.out.bias": (64,),
                 **{f"backbone.{name}.{kind}": (64,) for name in ("norm", "final_layer_norm")
                    for kind in ("weight", "bias")},
                 **{f"backbone.posnet.{i}.{name}.{kind}": shape for i in (0, 1, 3, 4) for name, kind, shape in (
                     *((f"norm{j}", kind, (64, 1)) for j in (1, 2) for kind in ("weight", "bias")),
                     *((f"conv{j}", "weight", (64, 64, 3)) for j in (1, 2)),
                     *((f"conv{j}", "bias", (64, 1)) for j in (1, 2)))},
                 **{f"backbone.posnet.{i}.norm.{kind}": (64, 1) for i in (2, 5) for kind in ("weight", "bias")},
                 **{f"backbone.posnet.2.{name}.{kind}": shape for name in ("q", "k", "v", "proj_out")
                    for kind, shape in (("weight", (64, 64, 1)), ("bias", (64, 1)))},
                 **{f"backbone.convnext.{i}.{name}": shape for i in range(2) for name, shape in (
                     ("dwconv.weight", (64, 1, 7)), ("dwconv.bias", (64, 1)), ("norm.weight", (64,)),
                     ("norm.bias", (64,)), ("pwconv1.weight", (96, 64)), ("pwconv1.bias", (96,)),
                     ("pwconv2.weight", (64, 96)), ("pwconv2.bias", (64,)), ("gamma.weight", (64,)))}}},
    "GptOssForCausalLM": {
        "config": {"head_dim": 16, "sliding_window": 32, "num_local_experts": 4,
                   "num_experts_per_tok": 2, "intermediate_size": 32, "rope_scaling": YARN},
        "sizes": {"experts": 4}, "names": {"ffn_gate_inp": LAYER + "mlp.router",
                                           "attn_sinks": LAYER + "self_attn.sinks"},
        "without": "ffn_gate_exp ffn_up_exp ffn_down_exp",
        "bias": f"{SPLIT} attn_out ffn_gate_inp",
        "more": {LAYER + "mlp.experts.gate_up_proj": (4, 64, 64),
                 LAYER + "mlp.experts.gate_up_proj_bias": (4, 64),
                 LAYER + "mlp.experts.down_proj": (4, 32, 64),
                 LAYER + "mlp.experts.down_proj_bias": (4, 64)}},
}


def read_rules():
    """Every class -> its rule, which has the name of its entry as `entry`."""
    classes = {}
    for path in sorted(RULES.glob("*.json")):
        if path.stem == "shared":
            continue
        entries = json.loads(path.read_text())
        for name, entry in entries.items():
            if ":" in name:  # a variant of a class, which golden/hf2 has
                continue
            base = entries[entry["like"]] if "like" in entry else {}
            rule = {**base, **entry, "entry": name}
            while "like" in base:
                base = entries[base["like"]]
                rule = {**base, **rule}
            for model_class in [name, *entry.get("classes", [])]:
                classes[model_class] = rule
    return classes


CLASS_RULES = read_rules()
SHARED = json.loads((RULES / "shared.json").read_text())
FOLDER_NAMES = json.loads((RULES / "names/folders.json").read_text())["names"]
NAMES = {kind: row["from"] for path in RULES.glob("names/tensors*.json")
         for kind, row in json.loads(path.read_text()).items()}


def merged(base, change):
    """A row of the table with the changes of another."""
    row = {**base, **change}
    for name in ("config", "sizes", "names", "more"):
        row[name] = {**base.get(name, {}), **change.get(name, {})}
    for name in ("with", "without", "bias"):
        row[name] = f"{base.get(name, '')} {change.get(name, '')}"
    return row


def rows_of(model_class):
    """The rows of the samples of a class; its own change those of its entry's class."""
    entry = CLASS_RULES[model_class]["entry"]
    if entry not in CLASSES:
        return []
    row = CLASSES[entry] if entry == model_class else \
        merged({**CLASSES[entry], "variants": []}, CLASSES.get(model_class, {}))
    plain = merged(row, {"variants": []})
    return [plain, *(merged(plain, change) for change in row.get("variants", []))]


class Sample:
    """A folder of a class: config.json, one file of zeros, and the files of a tokenizer."""

    def __init__(self, model_class, row, is_tied):
        self.rule, self.row, self.is_tied = CLASS_RULES[model_class], row, is_tied
        self.model_class = model_class
        self.sizes = {**SIZES, **row["sizes"], "layers": row.get("layers", SIZES["layers"])}

    def kinds(self):
        wanted = set(self.row["with"].split())
        absent = set(self.row["without"].split()) | RARE
        if not self.sizes["experts"]:
            absent |= EXPERTS
        if "attn_qkv" in wanted:
            absent |= set(SPLIT.split())
        if self.is_tied:
            absent.add("output")
        if self.row.get("only"):
            return [kind for kind in self.rule["tensors"] if kind in wanted]
        return [kind for kind in self.rule["tensors"] if kind in wanted or kind not in absent]

    def name_of(self, kind):
        """The name in a folder, without a suffix; experts have a name each."""
        if kind in self.row["names"]:
            return self.row["names"][kind]
        for transform in self.transforms():
            if transform["op"] == "stack":
                for part in transform.get("parts", []):
                    if transform["to"][0].replace("{part}", part).removesuffix(".weight") \
                            in NAMES[kind]:
                        return transform["names"][0].replace("{part}", part).removesuffix(".weight")
        if "styles" not in self.row:
            usual = FOLDER_NAMES
            return usual[kind] if kind in usual else next(
                name for name in NAMES[kind] if name.startswith(LAYER))
        return next(name for name in NAMES[kind]
                    if name == "lm_head" or any(map(name.startswith, self.row["styles"])))

    def transforms(self, rules=None):
        for transform in self.rule.get("transforms", []) if rules is None else rules:
            if isinstance(transform, str):
                yield from self.transforms(SHARED["transforms"][transform])
            else:
                yield transform

    def tensors(self, tokens):
        sizes = {**self.sizes, "tokens": tokens}
        found = {name: [sizes.get(size, size) for size in shape] for name, shape in self.row["more"].items()}
        biased = self.row["bias"].split()
        for kind in self.kinds():
            name = self.name_of(kind)
            shape = [sizes[size] for size in SHAPES.get(kind, "width").split()]
            found[name + ("" if name.endswith(("_bias", "sinks")) else ".weight")] = shape
            if kind in biased:
                found[name + ".bias"] = shape[:1]
        turned = tuple(name.strip("*") for transform in self.transforms()
                       if transform["op"] == "transpose" for name in transform["names"]
                       if name.startswith("*"))
        found.update({name: shape[::-1] for name, shape in found.items() if name.endswith(turned)})
        before, after = self.row.get("rename", ("", ""))
        spread = {}
        for name, shape in found.items():
            if name.startswith(before) and name not in self.row["more"]:
                name = after + name[len(before):]
            for layer in range(self.sizes["layers"] if "{layer}" in name else 1):
                if self.sizes["experts"] and self.is_absent(name, layer):
                    continue
                for expert in range(self.sizes["experts"] if "{expert}" in name else 1):
                    spread[name.format(layer=layer, expert=expert)] = shape
        return spread

    def is_absent(self, name, layer):
        """Whether a layer before those with experts has no such tensor, or one after them."""
        is_dense = layer < self.sizes["dense_layers"]
        is_expert = any(text in name for text in ("expert", "mlp.gate.", "moe", "router"))
        return ".mlp." in name and is_expert == is_dense

    def write(self, folder, cases):
        source = next(path for path in (cases / TOKENIZERS[self.rule["tokenizer"][0]]).iterdir()
                      if path.is_dir())
        folder.mkdir()
        for path in source.iterdir():
            if path.is_dir():
                shutil.copytree(path, folder / path.name)
            elif ".safetensors" not in path.name and path.name != "config.json":
                shutil.copyfile(path, folder / path.name)
        lent = json.loads((source / "config.json").read_text())
        tokens = self.sizes.get("tokens") or {**lent, **lent.get("text_config", {})}["vocab_size"]
        if any("tokens" in transform for transform in self.transforms()):
            self.add_tokens(folder / "tokenizer.json", tokens)
        config = {**BASE, "num_hidden_layers": self.sizes["layers"], "vocab_size": tokens, **self.row["config"],
                  "tie_word_embeddings": self.is_tied}
        config = {name: value for name, value in config.items() if value is not None}
        if "inner" in self.row:
            config = {self.row["inner"]: config}
        (folder / "config.json").write_text(json.dumps({"architectures": [self.model_class],
                                                        **config}))
        write_safetensors(folder / "model.safetensors", self.tensors(tokens))


    def add_tokens(self, path, limit):
        """Those whose rows become a classifier, as the last of the vocabulary."""
        tokenizer = json.loads(path.read_text())
        wanted = next(one["tokens"] for one in self.transforms() if "tokens" in one)
        tokenizer["added_tokens"] += [{"id": limit - 1 - i, "content": token, "special": False}
                                      for i, token in enumerate(wanted)]
        path.write_text(json.dumps(tokenizer))


def write_safetensors(path, shapes):
    header, at = {}, 0
    for name, shape in shapes.items():
        size = 4
        for count in shape:
            size *= count
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(at))


def samples_of(model_class):
    """Pairs of a name and a sample."""
    for number, row in enumerate(rows_of(model_class)):
        can_be = [True] if "output" not in CLASS_RULES[model_class]["tensors"] else [True, False] \
            if row.get("tied") is None else [row["tied"]]
        for is_tied in can_be if number == 0 else can_be[-1:]:
            name = model_class + ("" if number == 0 else f" {number + 1}") + \
                (" tied" if is_tied and len(can_be) > 1 else "")
            yield name, Sample(model_class, row, is_tied)
