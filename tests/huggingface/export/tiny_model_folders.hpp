// SPDX-License-Identifier: MIT
// Tiny model folders of every architecture that can be written as a folder.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "support/temporary_folder.hpp"
#include "support/tiny_folder.hpp"

namespace ingot::test {

/// How the tokens of a folder are stored.
enum class TinyTokenizer : std::uint8_t { bpe, llama_json, sentencepiece };

struct TinyModel {
  std::string name;    ///< The name of the case.
  std::string config;  ///< Members of config.json.
  TinyTokenizer tokenizer = TinyTokenizer::bpe;
  std::vector<TensorSketch> tensors;
  std::vector<TensorSketch> second_file = {};
};

inline constexpr std::uint64_t tiny_width = 32;
inline constexpr std::uint64_t tiny_tokens = 24;
/// The common part of all configurations.
inline const std::string tiny_sizes =
    R"("hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 4,
       "num_key_value_heads": 2, "num_hidden_layers": 2, "max_position_embeddings": 256,
       "rms_norm_eps": 1e-06, "vocab_size": 24)";

/// The tensors of a model beside the usual ones.
struct TinyParts {
  bool has_output = true;
  bool has_norms_of_heads = false;
  std::uint64_t head_norm = 8;
  bool has_bias = false;
  bool is_fused = false;          ///< The model is fused, as Phi-3.
  bool has_norms_behind = false;  ///< The norms are behind, as in OLMo 2, and none before.
  bool has_four_norms = false;    ///< There are four norms, as in Gemma 2.
  std::string experts = {};       ///< Below a layer, with the names of the three parts behind it.
  std::array<const char*, 3> expert_parts = {};
  std::string router = {};
};

inline std::vector<TensorSketch> tiny_tensors(const TinyParts& parts) {
  constexpr std::uint64_t width = tiny_width;
  std::vector<TensorSketch> tensors = {{"model.embed_tokens.weight", {tiny_tokens, width}},
                                       {"model.norm.weight", {width}}};
  if (parts.has_output) tensors.push_back({"lm_head.weight", {tiny_tokens, width}});
  for (int layer = 0; layer < 2; ++layer) {
    const std::string prefix = "model.layers." + std::to_string(layer) + ".";
    const auto add = [&](const std::string& name, std::vector<std::uint64_t> shape) {
      tensors.push_back({prefix + name, std::move(shape)});
    };
    if (!parts.has_norms_behind) add("input_layernorm.weight", {width});
    add("post_attention_layernorm.weight", {width});
    if (parts.has_four_norms) add("pre_feedforward_layernorm.weight", {width});
    if (parts.has_four_norms || parts.has_norms_behind) {
      add("post_feedforward_layernorm.weight", {width});
    }
    add("self_attn.o_proj.weight", {width, width});
    if (parts.is_fused) {
      add("self_attn.qkv_proj.weight", {64, width});
      add("mlp.gate_up_proj.weight", {128, width});
      add("mlp.down_proj.weight", {width, 64});
      continue;
    }
    add("self_attn.q_proj.weight", {width, width});
    add("self_attn.k_proj.weight", {16, width});
    add("self_attn.v_proj.weight", {16, width});
    if (parts.has_bias) {
      add("self_attn.q_proj.bias", {width});
      add("self_attn.k_proj.bias", {16});
      add("self_attn.v_proj.bias", {16});
    }
    if (parts.has_norms_of_heads) {
      add("self_attn.q_norm.weight", {parts.head_norm});
      add("self_attn.k_norm.weight", {parts.head_norm == 8 ? std::uint64_t{8} : std::uint64_t{16}});
    }
    if (parts.experts.empty()) {
      add("mlp.gate_proj.weight", {64, width});
      add("mlp.up_proj.weight", {64, width});
      add("mlp.down_proj.weight", {width, 64});
      continue;
    }
    add(parts.router, {3, width});
    for (int expert = 0; expert < 3; ++expert) {
      const std::string name = parts.experts + std::to_string(expert) + ".";
      add(name + parts.expert_parts[0] + ".weight", {64, width});
      add(name + parts.expert_parts[1] + ".weight", {width, 64});
      add(name + parts.expert_parts[2] + ".weight", {64, width});
    }
  }
  return tensors;
}

/// A safetensors file of BF16 with numbers from -2 to 2, others for every `seed`.
inline std::string tiny_safetensors(const std::vector<TensorSketch>& tensors, std::uint32_t seed) {
  return safetensors_of(tensors, "BF16", [&seed](std::uint64_t, std::string& bytes) {
    seed = seed * 1664525 + 1013904223;  // Numerical Recipes
    const float number = static_cast<float>(static_cast<std::int32_t>(seed)) / float{1 << 30};
    const auto bits = std::bit_cast<std::uint32_t>(number) >> 16;
    bytes += static_cast<char>(bits & 255);
    bytes += static_cast<char>(bits >> 8);
  });
}

/// Texts of tokens: three special ones, letters, two merged, and two that were added.
inline std::vector<std::string> tiny_texts(bool has_spaces) {
  std::vector<std::string> texts = {"<unk>", "<s>", "</s>"};
  for (char c = 'a'; c <= 'n'; ++c) texts.emplace_back(1, c);
  const std::vector<std::string> rest = {"ab",
                                         has_spaces ? "\xE2\x96\x81"
                                                      "a"
                                                    : "\xC4\xA0"
                                                      "a",
                                         "<|end|>", "<tool>"};
  texts.insert(texts.end(), rest.begin(), rest.end());
  return texts;
}

inline std::string tiny_piece(const std::string& text, float score, int type) {
  std::string piece = "\x0A" + std::string(1, static_cast<char>(text.size())) + text + "\x15";
  piece.append(reinterpret_cast<const char*>(&score), sizeof score);
  piece += "\x18";
  piece += static_cast<char>(type);
  return "\x0A" + std::string(1, static_cast<char>(piece.size())) + piece;
}

inline std::string tiny_added(std::uint32_t id, const std::string& text, bool is_special) {
  return R"({"id": )" + std::to_string(id) + R"(, "content": ")" + text +
         R"(", "normalized": false, "special": )" + (is_special ? "true}" : "false}");
}

inline std::string tiny_tokenizer_json(bool is_llama) {
  const std::vector<std::string> texts = tiny_texts(is_llama);
  std::string vocabulary;
  for (std::uint32_t id = 0; id < 19; ++id) {
    vocabulary += (id == 0 ? "\"" : ", \"") + texts[id] + "\": " + std::to_string(id);
  }
  std::string added;
  for (const std::uint32_t id : {0u, 1u, 2u, 19u, 20u}) {
    added += (added.empty() ? "" : ", ") + tiny_added(id, texts[id], id != 20);
  }
  return R"({"added_tokens": [)" + added + "], " +
         (is_llama ? R"("pre_tokenizer": null, "decoder": {"type": "Sequence", "decoders": []}, )"
                   : R"("pre_tokenizer": {"type": "ByteLevel"}, )") +
         R"("post_processor": {"type": "TemplateProcessing",
           "single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}],
           "pair": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}},
                    {"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "B"}}],
           "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}},
         "model": {"type": "BPE", "byte_fallback": )" +
         (is_llama ? "true" : "false") + R"(, "vocab": {)" + vocabulary +
         R"(}, "merges": [["a", "b"]]}})";
}

inline const std::string tiny_tokenizer_config =
    R"({"add_bos_token": true, "add_eos_token": false, "bos_token": "<s>", "eos_token": "</s>",
        "unk_token": "<unk>", "additional_special_tokens": ["<|end|>"],
        "chat_template": "{{ messages }}\n\u00e9"})";

/// A configuration with tokens that only tokenizer_config.json and added_tokens.json have.
inline const std::string tiny_sentencepiece_config =
    R"({"add_bos_token": true, "add_eos_token": false, "chat_template": [
          {"name": "default", "template": "a"}, {"name": "tool_use", "template": "b"}],
        "added_tokens_decoder": {
          "0": {"content": "<unk>", "special": true}, "1": {"content": "<s>", "special": true},
          "20": {"content": "plain added", "special": false},
          "21": {"content": "<|fin|>", "special": false}}})";

inline void write_tiny_model(const TemporaryFolder& folder, const std::string& name,
                             const TinyModel& model) {
  std::filesystem::create_directories(folder.path(name));
  const auto write = [&](const std::string& file, const std::string& text) {
    folder.write(name + "/" + file, std::as_bytes(std::span(text)));
  };
  write("config.json", "{" + model.config + "}");
  if (model.second_file.empty()) {
    write("model.safetensors", tiny_safetensors(model.tensors, 1));
  } else {
    write("model-00001-of-00002.safetensors", tiny_safetensors(model.tensors, 1));
    write("model-00002-of-00002.safetensors", tiny_safetensors(model.second_file, 2));
  }
  if (model.tokenizer != TinyTokenizer::sentencepiece) {
    write("tokenizer.json", tiny_tokenizer_json(model.tokenizer == TinyTokenizer::llama_json));
    write("tokenizer_config.json", tiny_tokenizer_config);
    return;
  }
  std::string pieces;
  const std::vector<std::string> texts = tiny_texts(true);
  for (std::size_t id = 0; id < 19; ++id) {
    const int type = id == 0 ? 2 : id < 3 ? 3 : 1;
    pieces += tiny_piece(texts[id], id < 3 ? 0.0F : -static_cast<float>(id), type);
  }
  write("tokenizer.model", pieces);
  write("tokenizer_config.json", tiny_sentencepiece_config);
  write("added_tokens.json", R"({"\u2581kept": 22})");
}

inline std::string tiny_config(const std::string& model_class, const std::string& more = {}) {
  return R"("architectures": [")" + model_class + "\"], " + tiny_sizes +
         R"(, "bos_token_id": 1, "eos_token_id": 2)" + (more.empty() ? "" : ", " + more);
}

}  // namespace ingot::test
