// SPDX-License-Identifier: MIT
// A tiny random model of every architecture that can be evaluated, with all that its files can
// have.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "ingot/evaluate.hpp"
#include "support/model_sketch.hpp"

namespace ingot::test {

inline constexpr std::uint32_t tiny_vocabulary = 41;

/// The features of a tiny model.
struct TinyNetwork {
  std::string architecture = "llama";
  std::uint32_t layers = 4;
  std::uint32_t width = 48;
  std::uint32_t heads = 4;
  std::uint32_t kv_heads = 2;
  std::uint32_t head_size = 12;  ///< Written as a key unless it is width / heads.
  std::uint32_t inner = 80;
  std::uint32_t experts = 0;
  bool has_attention_bias = false;
  bool has_head_norms = false;  ///< Of head_size elements; `whole` and `by_head` change that.
  bool has_whole_norms = false;
  bool has_norms_by_head = false;
  bool has_pre_norms = true;
  bool has_feed_forward_norm = true;
  bool has_post_norms = false;
  bool has_norm_bias = false;
  bool is_fused = false;
  bool has_output = true;
  bool has_shared_expert = false;
  bool has_rope_factors = false;
  bool has_long_factors = false;
};

class TinyModel {
 public:
  explicit TinyModel(const TinyNetwork& network)
      : network_(network), prefix_(network.architecture + ".") {
    set_keys();
    matrix("token_embd", network.width, tiny_vocabulary);
    for (std::uint32_t i = 0; i < network.layers; ++i) add_layer("blk." + std::to_string(i) + ".");
    norm("output_norm", network.width);
    if (network.has_output) matrix("output", network.width, tiny_vocabulary);
    if (network.has_rope_factors) vector("rope_freqs.weight", network.head_size / 2, 3.0F, 2.0F);
    if (network.has_long_factors) {
      vector("rope_factors_short.weight", network.head_size / 2, 2.0F, 0.9F);
      vector("rope_factors_long.weight", network.head_size / 2, 3.0F, 0.9F);
    }
  }

  template <class T>
  TinyModel& set(const std::string& suffix, T value) {
    sketch.set(prefix_ + suffix, value);
    return *this;
  }

  ModelSketch sketch;

 private:
  void set_keys() {
    sketch.set("general.architecture", network_.architecture);
    sketch.set("tokenizer.ggml.model", "no_vocab");  // llama.cpp wants it
    set("vocab_size", tiny_vocabulary);
    set("block_count", network_.layers).set("context_length", std::uint32_t{64});
    set("embedding_length", network_.width).set("feed_forward_length", network_.inner);
    set("attention.head_count", network_.heads).set("attention.head_count_kv", network_.kv_heads);
    set("attention.layer_norm_rms_epsilon", 1e-5F).set("rope.freq_base", 500.0F);
    if (network_.head_size * network_.heads != network_.width) {
      set("attention.key_length", network_.head_size);
      set("attention.value_length", network_.head_size);
    }
    if (network_.experts > 0) {
      set("expert_count", network_.experts).set("expert_used_count", std::uint32_t{2});
    }
  }

  void vector(const std::string& name, std::uint64_t size, float mean, float spread,
              std::uint64_t rows = 1) {
    std::uniform_real_distribution<float> values(mean - spread, mean + spread);
    Bytes data;
    for (std::uint64_t i = 0; i < size * rows; ++i) {
      const float value = values(random_);
      const auto* bytes = reinterpret_cast<const std::byte*>(&value);
      data.insert(data.end(), bytes, bytes + sizeof value);
    }
    sketch.tensor(
        name, TensorType::f32,
        rows == 1 ? std::vector<std::uint64_t>{size} : std::vector<std::uint64_t>{size, rows},
        data);
  }

  void matrix(const std::string& name, std::uint64_t columns, std::uint64_t rows,
              std::uint64_t experts = 0) {
    const float spread = 2.0F / std::sqrt(static_cast<float>(columns));
    vector(name + ".weight", columns, 0.0F, spread, rows * std::max<std::uint64_t>(1, experts));
    if (experts > 0) sketch.find(name + ".weight")->shape = {columns, rows, experts};
  }

  void norm(const std::string& name, std::uint64_t size) {
    vector(name + ".weight", size, 1.0F, 0.4F);
    if (network_.has_norm_bias) vector(name + ".bias", size, 0.0F, 0.3F);
  }

  void projection(const std::string& name, std::uint64_t rows) {
    matrix(name, network_.width, rows);
    if (network_.has_attention_bias) vector(name + ".bias", rows, 0.0F, 0.5F);
  }

  void add_layer(const std::string& layer) {
    const std::uint64_t width = network_.width;
    const std::uint64_t query = std::uint64_t{network_.heads} * network_.head_size;
    const std::uint64_t key = std::uint64_t{network_.kv_heads} * network_.head_size;
    if (network_.has_pre_norms) norm(layer + "attn_norm", width);
    if (network_.is_fused) {
      projection(layer + "attn_qkv", query + 2 * key);
    } else {
      projection(layer + "attn_q", query);
      projection(layer + "attn_k", key);
      projection(layer + "attn_v", key);
    }
    add_head_norms(layer, query, key);
    matrix(layer + "attn_output", query, width);
    if (network_.has_post_norms) norm(layer + "post_attention_norm", width);
    if (network_.has_pre_norms && network_.has_feed_forward_norm) norm(layer + "ffn_norm", width);
    network_.experts > 0 ? add_experts(layer) : add_feed_forward(layer);
    if (network_.has_post_norms) norm(layer + "post_ffw_norm", width);
  }

  void add_head_norms(const std::string& layer, std::uint64_t query, std::uint64_t key) {
    const std::uint64_t size = network_.head_size;
    if (network_.has_head_norms) {
      vector(layer + "attn_q_norm.weight", size, 1.0F, 0.4F);
      vector(layer + "attn_k_norm.weight", size, 1.0F, 0.4F);
    } else if (network_.has_whole_norms) {
      vector(layer + "attn_q_norm.weight", query, 1.0F, 0.4F);
      vector(layer + "attn_k_norm.weight", key, 1.0F, 0.4F);
    } else if (network_.has_norms_by_head) {
      vector(layer + "attn_q_norm.weight", size, 1.0F, 0.4F, network_.heads);
      vector(layer + "attn_k_norm.weight", size, 1.0F, 0.4F, network_.kv_heads);
    }
  }

  void add_feed_forward(const std::string& layer) {
    const std::uint64_t inner = network_.inner;
    if (!network_.is_fused) matrix(layer + "ffn_gate", network_.width, inner);
    matrix(layer + "ffn_up", network_.width, network_.is_fused ? 2 * inner : inner);
    matrix(layer + "ffn_down", inner, network_.width);
  }

  void add_experts(const std::string& layer) {
    const std::uint64_t width = network_.width;
    // In the architectures of qwen, the key is the width of all experts of a token.
    const std::uint64_t inner =
        network_.architecture == "llama" ? network_.inner : network_.inner / 2;
    matrix(layer + "ffn_gate_inp", width, network_.experts);
    matrix(layer + "ffn_gate_exps", width, inner, network_.experts);
    matrix(layer + "ffn_up_exps", width, inner, network_.experts);
    matrix(layer + "ffn_down_exps", inner, width, network_.experts);
    if (!network_.has_shared_expert) return;
    vector(layer + "ffn_gate_inp_shexp.weight", width, 0.0F, 0.4F);
    matrix(layer + "ffn_gate_shexp", width, network_.inner);
    matrix(layer + "ffn_up_shexp", width, network_.inner);
    matrix(layer + "ffn_down_shexp", network_.inner, width);
  }

  TinyNetwork network_;
  std::string prefix_;
  std::mt19937 random_{7};
};

/// All tiny models, by name.
[[nodiscard]] inline std::map<std::string, TinyModel> tiny_models() {
  std::map<std::string, TinyModel> models;
  const auto add = [&](const std::string& name, const TinyNetwork& network) -> TinyModel& {
    return models.emplace(name, network).first->second;
  };
  add("llama", {.head_size = 16, .has_rope_factors = true});
  add("llama_plain", {.has_output = false}).set("rope.scaling.factor", 4.0F);
  add("mixtral", {.experts = 5});
  add("qwen2", {.architecture = "qwen2", .has_attention_bias = true, .has_output = false});
  add("qwen2moe", {.architecture = "qwen2moe",
                   .experts = 6,
                   .has_attention_bias = true,
                   .has_shared_expert = true});
  add("qwen3", {.architecture = "qwen3", .head_size = 16, .has_head_norms = true});
  add("qwen3moe",
      {.architecture = "qwen3moe", .head_size = 16, .experts = 6, .has_head_norms = true});
  add("smollm3", {.architecture = "smollm3", .layers = 5, .has_output = false});
  add("gemma", {.architecture = "gemma", .head_size = 16, .has_output = false});
  add("gemma2",
      {.architecture = "gemma2", .head_size = 16, .has_post_norms = true, .has_output = false})
      .set("attention.sliding_window", std::uint32_t{9})
      .set("attn_logit_softcapping", 2.0F)
      .set("final_logit_softcapping", 5.0F);
  add("gemma3", {.architecture = "gemma3",
                 .layers = 7,
                 .head_size = 16,
                 .has_head_norms = true,
                 .has_post_norms = true,
                 .has_output = false})
      .set("attention.sliding_window", std::uint32_t{9})
      .set("rope.scaling.type", "linear")
      .set("rope.scaling.factor", 8.0F);
  add("phi3", {.architecture = "phi3", .is_fused = true, .has_long_factors = true})
      .set("rope.scaling.attn_factor", 1.2F)
      .set("rope.scaling.original_context_length", std::uint32_t{20});
  add("granite", {.architecture = "granite"})
      .set("embedding_scale", 3.0F)
      .set("residual_scale", 0.4F)
      .set("attention.scale", 0.2F)
      .set("logit_scale", 2.0F);
  add("olmo2", {.architecture = "olmo2",
                .has_whole_norms = true,
                .has_pre_norms = false,
                .has_post_norms = true});
  add("stablelm", {.architecture = "stablelm", .has_attention_bias = true, .has_norm_bias = true})
      .set("attention.layer_norm_epsilon", 1e-5F)
      .set("rope.dimension_count", std::uint32_t{6});
  add("stablelm_parallel", {.architecture = "stablelm",
                            .has_norms_by_head = true,
                            .has_feed_forward_norm = false,
                            .has_norm_bias = true})
      .set("attention.layer_norm_epsilon", 1e-5F);
  return models;
}

/// Chunks that end within a panel.
[[nodiscard]] inline TextChunks tiny_text(std::size_t chunk_tokens = 40,
                                          std::size_t chunk_count = 2) {
  TextChunks text;
  text.chunk_tokens = chunk_tokens;
  std::mt19937 random(11);
  for (std::size_t i = 0; i < chunk_tokens * chunk_count; ++i) {
    text.ids.push_back(static_cast<TokenId>(random() % tiny_vocabulary));
  }
  return text;
}

}  // namespace ingot::test
