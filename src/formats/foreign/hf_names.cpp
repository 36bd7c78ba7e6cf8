// SPDX-License-Identifier: MIT
#include "formats/foreign/hf_names.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/ranges.hpp"
#include "ingot/metadata_keys.hpp"

namespace ingot::formats {
namespace {

/// An architecture whose weights the conversion to GGUF leaves as they are, but for names and,
/// where `is_interleaved`, the order of rows of queries and keys. Source: the model classes of
/// convert_hf_to_gguf.py of llama.cpp. Others change numbers too (gemma adds 1 to its norms) or
/// fuse tensors, and names alone would not bring their models back.
struct Architecture {
  std::string_view name;
  bool is_interleaved;
};

constexpr std::array architectures = {
    Architecture{"llama", true},  // Llama, Mistral, Mixtral
    Architecture{"minicpm", true}, Architecture{"granite", true}, Architecture{"smollm3", true},
    Architecture{"arcee", true},   Architecture{"qwen2", false},  Architecture{"qwen3", false},
};

struct NamePair {
  std::string_view gguf;
  std::string_view hf;
};

constexpr std::array model_names = {
    NamePair{"token_embd", "model.embed_tokens"},
    NamePair{"output_norm", "model.norm"},
    NamePair{"output", "lm_head"},
};

constexpr std::array layer_names = {
    NamePair{"attn_norm", "input_layernorm"},    NamePair{"attn_q", "self_attn.q_proj"},
    NamePair{"attn_k", "self_attn.k_proj"},      NamePair{"attn_v", "self_attn.v_proj"},
    NamePair{"attn_output", "self_attn.o_proj"}, NamePair{"attn_q_norm", "self_attn.q_norm"},
    NamePair{"attn_k_norm", "self_attn.k_norm"}, NamePair{"ffn_norm", "post_attention_layernorm"},
    NamePair{"ffn_gate", "mlp.gate_proj"},       NamePair{"ffn_up", "mlp.up_proj"},
    NamePair{"ffn_down", "mlp.down_proj"},       NamePair{"ffn_gate_inp", "block_sparse_moe.gate"},
};

/// Experts of a layer, stacked in GGUF. The names are those of Mixtral.
constexpr std::array expert_names = {
    NamePair{"ffn_gate_exps", "w1"},
    NamePair{"ffn_down_exps", "w2"},
    NamePair{"ffn_up_exps", "w3"},
};

template <std::size_t N>
std::string_view find_name(const std::array<NamePair, N>& names, std::string_view gguf) {
  const NamePair* const found = find_row(names, &NamePair::gguf, gguf);
  return found == nullptr ? std::string_view() : found->hf;
}

/// A number of heads: one for all layers, or an element of an array.
std::optional<std::uint64_t> head_count(const Model& model, std::string_view key,
                                        std::optional<std::uint32_t> layer) {
  const Value* value = find_architecture_key(model, key);
  if (value == nullptr) return std::nullopt;
  Result<std::uint64_t> count = value->get<std::uint64_t>();
  if (value->is_array()) {
    if (!layer) return std::nullopt;
    count = value->as_array().get<std::uint64_t>(*layer);
  }
  return count ? std::optional(*count) : std::nullopt;
}

class Renamer {
 public:
  Renamer(const Model& model, bool is_interleaved, std::vector<Error>& remarks)
      : model_(model), is_interleaved_(is_interleaved), remarks_(remarks) {}

  Result<void> add(OutputTensor tensor) {
    const TensorNameParts parts = split_tensor_name(tensor.source->name);
    if (parts.stem == "rope_freqs") {
      remark(Errc::left_out, tensor.name);
      return {};
    }
    if (const auto expert = find_name(expert_names, parts.stem);
        !expert.empty() && parts.layer && tensor.shape.size() == 3) {
      add_experts(tensor, parts, expert);
      return {};
    }
    const std::string_view hf =
        parts.layer ? find_name(layer_names, parts.stem) : find_name(model_names, parts.stem);
    if (hf.empty()) {
      remark(Errc::name_kept, tensor.name);
    } else {
      if (is_interleaved_) INGOT_TRY_VOID(undo_interleaving(tensor, parts));
      tensor.name = parts.layer ? layer_prefix(*parts.layer) : std::string();
      tensor.name.append(hf).append(parts.ending);
    }
    outputs_.push_back(std::move(tensor));
    return {};
  }

  std::vector<OutputTensor> take() { return std::move(outputs_); }

 private:
  static std::string layer_prefix(std::uint32_t layer) {
    return "model.layers." + std::to_string(layer) + ".";
  }

  void remark(Errc code, const std::string& name) {
    remarks_.push_back({code, Error::no_offset, name, {}});
  }

  /// Adds one tensor for each expert.
  void add_experts(const OutputTensor& stacked, const TensorNameParts& parts,
                   std::string_view expert) {
    const std::uint64_t count = stacked.shape[2];
    for (std::uint64_t i = 0; i < count; ++i) {
      OutputTensor tensor = stacked;
      tensor.name = layer_prefix(*parts.layer) + "block_sparse_moe.experts." + std::to_string(i) +
                    "." + std::string(expert) + std::string(parts.ending);
      tensor.shape.pop_back();
      tensor.size_bytes = stacked.size_bytes / count;
      tensor.first_row = i * stacked.shape[1];
      outputs_.push_back(std::move(tensor));
    }
  }

  /// The conversion turns the two halves of each head, which Hugging Face models rotate against one
  /// another, into pairs of neighbours.
  Result<void> undo_interleaving(OutputTensor& tensor, const TensorNameParts& parts) const {
    const bool is_query = parts.stem == "attn_q";
    if (!is_query && parts.stem != "attn_k") return {};
    auto heads = head_count(model_, suffixes::attention_head_count, parts.layer);
    if (!is_query) {
      const auto kv_heads = head_count(model_, suffixes::attention_head_count_kv, parts.layer);
      if (kv_heads) heads = kv_heads;
    }
    // The rows of a bias are its elements.
    const std::size_t dimensions = tensor.shape.size();
    const std::uint64_t rows = dimensions == 1 || dimensions == 2 ? tensor.shape.back() : 0;
    if (!heads || *heads == 0 || rows % *heads != 0 || rows / *heads % 2 != 0) {
      return fail(Errc::size_mismatch, tensor.name,
                  "its rows are not those of the heads that the model says it has");
    }
    tensor.interleaved_rows = rows / *heads;
    return {};
  }

  const Model& model_;
  bool is_interleaved_;
  std::vector<Error>& remarks_;
  std::vector<OutputTensor> outputs_;
};

}  // namespace

Result<std::vector<OutputTensor>> rename_to_hf(const Model& model,
                                               std::vector<OutputTensor> tensors,
                                               std::vector<Error>& remarks) {
  const Summary summary = summarize(model);
  const std::string_view name = summary.architecture.value_or("");
  const auto architecture = std::ranges::find(architectures, name, &Architecture::name);
  if (architecture == architectures.end()) {
    return fail(Errc::architecture_unsupported, std::string(name));
  }
  Renamer renamer(model, architecture->is_interleaved, remarks);
  for (OutputTensor& tensor : tensors) INGOT_TRY_VOID(renamer.add(std::move(tensor)));
  return renamer.take();
}

}  // namespace ingot::formats
