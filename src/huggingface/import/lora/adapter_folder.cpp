// SPDX-License-Identifier: MIT
#include "huggingface/import/lora/adapter_folder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/strings.hpp"
#include "huggingface/folder/json_text.hpp"
#include "huggingface/import/tensors/lora_product.hpp"

namespace ingot::huggingface {
namespace {

constexpr std::string_view config_name = "adapter_config.json";
constexpr std::string_view weights_name = "adapter_model.safetensors";
/// Far more than any adapter has.
constexpr std::uint64_t max_rank = 65'536;
/// Elements of a product: more than any matrix of a model has.
constexpr std::uint64_t max_elements = std::uint64_t{1} << 40;
constexpr std::size_t max_invocation_tokens = 65'536;

Failure refuse_adapter(std::string subject, std::string detail) {
  return fail(Errc::adapter_invalid, std::move(subject), std::move(detail));
}

Result<bool> flag_of(const nlohmann::json& config, const char* name) {
  const nlohmann::json* const value = find_member(config, name);
  if (value == nullptr) return false;
  if (!value->is_boolean()) return refuse_adapter(name, "true or false is expected");
  return value->get<bool>();
}

/// Refuses adapters with parts that GGUF cannot hold, as the result would be a different adapter.
Result<void> refuse_kinds(const nlohmann::json& config, double alpha) {
  const nlohmann::json* const kind = find_member(config, "peft_type");
  if (kind != nullptr && *kind != "LORA") {
    return refuse_adapter("peft_type",
                          (kind->is_string() ? kind->get<std::string>() : kind->dump()) +
                              ": only adapters of the kind LORA can be converted");
  }
  INGOT_TRY(const bool is_dora, flag_of(config, "use_dora"));
  if (is_dora) return refuse_adapter("use_dora", "GGUF has no place for the magnitudes of DoRA");
  if (find_member(config, "layer_replication") != nullptr) {
    return refuse_adapter("layer_replication", "the adapter is for layers that the base lacks");
  }
  const nlohmann::json* const alphas = find_member(config, "alpha_pattern");
  if (alphas == nullptr) return {};
  for (const auto& entry : alphas->items()) {
    if (!entry.value().is_number() || entry.value().get<double>() != alpha) {
      return refuse_adapter("alpha_pattern",
                            "GGUF has one alpha for all tensors; " + entry.key() + " has another");
    }
  }
  return {};
}

Result<std::vector<std::uint32_t>> tokens_of(const nlohmann::json& config) {
  constexpr const char* name = "alora_invocation_tokens";
  std::vector<std::uint32_t> tokens;
  const nlohmann::json* const list = find_member(config, name);
  const nlohmann::json* const text = find_member(config, "invocation_string");
  if (text != nullptr && (list == nullptr || list->empty()) && *text != "") {
    return refuse_adapter(name, "the tokens of invocation_string are missing");
  }
  if (list == nullptr) return tokens;
  if (!list->is_array() || list->size() > max_invocation_tokens) {
    return refuse_adapter(name, "a list of tokens is expected");
  }
  for (const nlohmann::json& token : *list) {
    const bool is_token = token.is_number_unsigned() &&
                          token.get<std::uint64_t>() <= std::numeric_limits<std::uint32_t>::max();
    if (!is_token) return refuse_adapter(name, "a list of tokens is expected");
    tokens.push_back(token.get<std::uint32_t>());
  }
  return tokens;
}

/// A tensor by its name in the folder.
struct NamedHalf {
  std::string base;  ///< The tensor of the base.
  bool is_a = false;
  bool is_embedding = false;  ///< PEFT stores the two halves the other way round.
};

std::string base_name(std::string name) {
  replace_all(name, "base_model.model.", "");
  return name;
}

/// Parses the name of a half; nothing if it is no half of a pair.
std::optional<NamedHalf> parse_half(const std::string& name) {
  struct HalfMark {
    std::string_view text;
    bool is_a;
    bool is_embedding;
  };
  constexpr HalfMark marks[] = {{".lora_A.weight", true, false},
                                {".lora_B.weight", false, false},
                                {".lora_embedding_A", true, true},
                                {".lora_embedding_B", false, true}};
  for (const HalfMark& mark : marks) {
    if (!name.ends_with(mark.text)) continue;
    std::string base = base_name(name.substr(0, name.size() - mark.text.size()));
    return NamedHalf{base + ".weight", mark.is_a, mark.is_embedding};
  }
  return std::nullopt;
}

Failure unexpected(const std::string& name) {
  const auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
  std::string detail = "neither half of a pair (lora_A, lora_B) nor a norm";
  if (has("lora_magnitude_vector")) detail = "GGUF has no place for the magnitudes of DoRA";
  if (has("embed_tokens.weight") || has("lm_head.weight")) {
    detail =
        "whole embeddings, as training with new tokens saves them, are no LoRA; "
        "merge the adapter with its base by PEFT and convert the model";
  }
  return refuse_adapter(name, std::move(detail));
}

struct Pair {
  std::optional<SourceTensor> a;
  std::optional<SourceTensor> b;
  bool is_embedding = false;
};

Result<void> check_half(const SourceTensor& half) {
  if (half.shape.size() != 2 || half.shape[0] == 0 || half.shape[1] == 0) {
    return refuse_adapter(half.name, "a matrix is expected");
  }
  return {};
}

/// B A, or its transpose where the base is stored so.
Result<SourceTensor> multiply(const std::string& base, const Pair& pair, bool is_transposed) {
  if (!pair.a || !pair.b) {
    const SourceTensor& there = pair.a ? *pair.a : *pair.b;
    return refuse_adapter(there.name, "the other half of the pair is missing");
  }
  INGOT_TRY_VOID(check_half(*pair.a));
  INGOT_TRY_VOID(check_half(*pair.b));
  const std::uint64_t rank = pair.a->shape[0];
  const std::uint64_t inputs = pair.a->shape[1];
  const std::uint64_t outputs = pair.b->shape[0];
  if (pair.b->shape[1] != rank || rank > max_rank) {
    return refuse_adapter(pair.b->name, "its rank is " + std::to_string(pair.b->shape[1]) +
                                            ", that of lora_A " + std::to_string(rank) +
                                            "; they must be equal, and at most " +
                                            std::to_string(max_rank));
  }
  std::uint64_t elements = 0;
  if (__builtin_mul_overflow(inputs, outputs, &elements) || elements > max_elements) {
    return refuse_adapter(pair.a->name, "no matrix is so large");
  }
  INGOT_TRY(auto a_numbers, pair.a->numbers());
  INGOT_TRY(auto b_numbers, pair.b->numbers());
  LoraHalf a{pair.a->name, std::move(a_numbers), 1, inputs};
  LoraHalf b{pair.b->name, std::move(b_numbers), rank, 1};
  const std::uint64_t columns = is_transposed ? outputs : inputs;
  if (is_transposed) std::swap(a, b);
  SourceTensor product{.name = base, .shape = {elements / columns, columns}};
  product.computed = std::make_shared<LoraProduct>(std::move(b), std::move(a), columns, rank);
  return product;
}

TensorType type_of(const SourceTensor& half) {
  const auto type = half.dtype->type;
  return type == TensorType::f16 || type == TensorType::bf16 ? *type : TensorType::f32;
}

}  // namespace

bool is_adapter_folder(const ModelFolder& folder) {
  return folder.has(config_name) &&
         std::ranges::none_of(folder.files(),
                              [&](const std::string& name) { return folder.is_weight_file(name); });
}

Result<AdapterConfig> read_adapter_config(const ModelFolder& folder) {
  INGOT_TRY(const nlohmann::json config, read_json(folder, config_name));
  const std::string file = folder.locate(config_name);
  if (!config.is_object()) return refuse_adapter(file, "an object is expected");
  AdapterConfig adapter;
  const nlohmann::json* const alpha = find_member(config, "lora_alpha");
  if (alpha == nullptr || !alpha->is_number() ||
      std::abs(alpha->get<double>()) > std::numeric_limits<float>::max()) {
    return refuse_adapter(file, "lora_alpha must be a number");
  }
  adapter.alpha = alpha->get<double>();
  INGOT_TRY_VOID(refuse_kinds(config, adapter.alpha));
  INGOT_TRY(adapter.is_rank_stabilized, flag_of(config, "use_rslora"));
  INGOT_TRY(adapter.is_transposed, flag_of(config, "fan_in_fan_out"));
  INGOT_TRY(adapter.invocation_tokens, tokens_of(config));
  const nlohmann::json* const base = find_member(config, "base_model_name_or_path");
  if (base != nullptr && base->is_string()) adapter.base = base->get<std::string>();
  return adapter;
}

Result<AdapterTensors> list_adapter_tensors(const ModelFolder& folder,
                                            const AdapterConfig& config) {
  if (!folder.has(weights_name)) {
    return refuse_adapter(folder.locate(weights_name),
                          "the file is missing; adapters in adapter_model.bin can run programs "
                          "of others and are not read");
  }
  INGOT_TRY(std::vector<SourceTensor> stored, list_tensors_of(folder, {std::string(weights_name)}));
  AdapterTensors adapter;
  std::vector<std::string> order;
  std::map<std::string, Pair> pairs;
  std::optional<TensorType> type;
  for (SourceTensor& tensor : stored) {
    if (const auto half = parse_half(tensor.name)) {
      if (!type) type = type_of(tensor);
      const auto [place, is_new] = pairs.try_emplace(half->base);
      if (is_new) order.push_back(half->base);
      auto& found = half->is_a ? place->second.a : place->second.b;
      if (found) return refuse_adapter(tensor.name, "the pair has this half twice");
      place->second.is_embedding = half->is_embedding;
      found = std::move(tensor);
    } else if (tensor.name.find(".base_layer.weight") != std::string::npos) {
      continue;  // a copy of a tensor of the base
    } else if (tensor.name.find("_layernorm") != std::string::npos ||
               tensor.name.find(".norm") != std::string::npos) {
      tensor.name = base_name(std::move(tensor.name));
      adapter.tensors.push_back(std::move(tensor));
    } else {
      return unexpected(tensor.name);
    }
  }
  if (order.empty()) return refuse_adapter(folder.locate(weights_name), "it has no lora_A, lora_B");
  adapter.type = *type;
  for (const std::string& base : order) {
    const Pair& pair = pairs[base];
    INGOT_TRY(SourceTensor product,
              multiply(base, pair, pair.is_embedding || config.is_transposed));
    const std::uint64_t rank = pair.a->shape[0];
    adapter.rank = base == order.front() || rank == adapter.rank ? rank : 0;
    adapter.tensors.push_back(std::move(product));
  }
  return adapter;
}

}  // namespace ingot::huggingface
