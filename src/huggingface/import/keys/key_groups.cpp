// SPDX-License-Identifier: MIT
// The groups of keys that are more than a value each.
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "huggingface/folder/json_text.hpp"
#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/keys/architecture_keys.hpp"

namespace ingot::huggingface {
namespace {

using nlohmann::json;

std::string text_member(const json& object, const char* name) {
  const json* const found = find_member(object, name);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
}

/// A number of config.json that is above 0.
Result<double> positive(const json& object, const char* name) {
  const json* const found = find_member(object, name);
  if (found == nullptr) return refuse("config.json", std::string(name) + " is missing");
  if (!found->is_number() || !(found->get<double>() > 0)) {
    return refuse("config.json", std::string(name) + " must be a number above 0");
  }
  return found->get<double>();
}

Result<void> add_rope_scaling(const KeySource& source, KeyPlan& keys) {
  const json& rope = source.config.rope();
  const std::string prefix = source.architecture.name + ".rope.scaling.";
  const std::string type = text_member(rope, "rope_type");
  const json* const factor = find_member(rope, "factor");
  if (type == "su" || type == "longrope") {
    keys.set_string(prefix + "type", "longrope");
    return {};
  }
  if (factor == nullptr || (type != "linear" && type != "yarn")) return {};
  keys.set_string(prefix + "type", type);
  INGOT_TRY_VOID(set_key(keys, prefix + "factor", "f32", *factor));
  if (type == "linear") return {};
  const json* const original = find_member(rope, "original_max_position_embeddings");
  if (original == nullptr) {
    return refuse("config.json", "yarn needs original_max_position_embeddings");
  }
  INGOT_TRY_VOID(set_key(keys, prefix + "original_context_length", "u32", *original));
  static constexpr std::array<std::pair<const char*, const char*>, 5> factors = {{
      {"yarn_ext_factor", "extrapolation_factor"},
      {"yarn_attn_factor", "attn_factor"},
      {"yarn_attn_factor", "attention_factor"},  // counts more
      {"yarn_beta_fast", "beta_fast"},
      {"yarn_beta_slow", "beta_slow"},
  }};
  for (const auto& [key, name] : factors) {
    if (const json* const value = find_member(rope, name)) {
      INGOT_TRY_VOID(set_key(keys, prefix + key, "f32", *value));
    }
  }
  return {};
}

/// Adds the pooling type, the way in which sentence-transformers makes one vector of a text. A
/// folder that modules.json names holds it.
Result<void> add_pooling(const KeySource& source, KeyPlan& keys) {
  // Values of `pooling_type` in GGUF.
  struct Kind {
    const char* flag;  // a member of its own, or
    const char* mode;  // the value of `pooling_mode`
    std::uint32_t number;
  };
  static constexpr std::array<Kind, 3> kinds = {{{"pooling_mode_mean_tokens", "mean", 1},
                                                 {"pooling_mode_cls_token", "cls", 2},
                                                 {"pooling_mode_lasttoken", "lasttoken", 3}}};
  if (!source.folder.has("modules.json")) return {};
  INGOT_TRY(const json modules, read_json(source.folder, "modules.json"));
  if (!modules.is_array()) return refuse("modules.json", "a list was expected");
  for (const json& module : modules) {
    const std::string path = text_member(module, "path");
    if (!text_member(module, "type").ends_with("Pooling") || path.empty()) continue;
    INGOT_TRY(const json pooling, read_json(source.folder, path + "/config.json"));
    for (const Kind& kind : kinds) {
      const json* const flag = find_member(pooling, kind.flag);
      const bool is_flagged = flag != nullptr && *flag == true;
      if (!is_flagged && text_member(pooling, "pooling_mode") != kind.mode) continue;
      keys.from(path + "/config.json");
      keys.set(source.architecture.name + ".pooling_type", kind.number);
      return {};
    }
    return refuse(path + "/config.json", "the pooling must be of the mean, cls or last token");
  }
  return {};
}

/// The engine takes the number of outputs from the labels. A configuration of two unnamed ones may
/// leave them out, and the reference converter leaves them out of the file in any case.
Result<void> add_classifier_labels(const KeySource& source, KeyPlan& keys) {
  static const json unnamed = {{"0", "LABEL_0"}, {"1", "LABEL_1"}};
  const json& config = source.config.values();
  const json* labels = find_member(config, "id2label");
  if (labels == nullptr || !labels->is_object() || labels->empty()) labels = &unnamed;
  const json* const classes = find_member(config, "architectures");
  const bool is_classifier = classes != nullptr && classes->is_array() && !classes->empty() &&
                             classes->front().is_string() &&
                             classes->front().get<std::string>().ends_with("Classification");
  if (labels->size() == 2 && text_member(*labels, "0") == "LABEL_0" &&
      (source.as_reference || !is_classifier)) {
    return {};
  }
  std::vector<std::string> texts;
  for (const json& label : *labels) {
    if (!label.is_string()) return refuse("config.json", "id2label must hold texts");
    texts.push_back(label.get<std::string>());
  }
  keys.set_array(source.architecture.name + ".classifier.output_labels",
                 std::span<const std::string>(texts));
  return {};
}

/// A model that answers whether a document meets a query with one of two tokens.
Result<void> add_reranker(const KeySource& source, KeyPlan& keys) {
  constexpr std::uint32_t rank = 4;  // the number of `pooling_type`
  static const std::array<std::string, 2> labels = {"yes", "no"};
  static const std::array<std::string, 1> templates = {"rerank"};
  // The prompt that the cards of these models give; engines fill in the braces.
  constexpr std::string_view prompt =
      "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query "
      "and "
      "the Instruct provided. Note that the answer can only be \"yes\" or \"no\".<|im_end|>\n"
      "<|im_start|>user\n<Instruct>: Given a web search query, retrieve relevant passages that "
      "answer the query\n<Query>: {query}\n<Document>: {document}<|im_end|>\n"
      "<|im_start|>assistant\n<think>\n\n</think>\n\n";
  keys.from("rule");
  keys.set(source.architecture.name + ".pooling_type", rank);
  keys.set_array(source.architecture.name + ".classifier.output_labels",
                 std::span<const std::string>(labels));
  keys.set_string("tokenizer.chat_template.rerank", prompt);
  keys.set_array("tokenizer.chat_templates", std::span<const std::string>(templates));
  return {};
}

Result<void> add_phi3_attention_factor(const KeySource& source, KeyPlan& keys) {
  const json& root = source.config.rope_root();
  if (find_member(root, "long_factor") == nullptr) return {};
  INGOT_TRY(const double longest, positive(source.config.values(), "max_position_embeddings"));
  INGOT_TRY(const double original, positive(root, "original_max_position_embeddings"));
  const double scale = longest / original;
  std::string type = text_member(root, "rope_type");
  if (type.empty()) type = text_member(root, "type");
  const bool is_long = type == "longrope" || type == "su";
  if (!is_long && type != "yarn") {
    return refuse("config.json", "the rope type `" + type + "` is not supported for phi3");
  }
  double factor = 1;
  if (scale > 1) {
    factor =
        is_long ? std::sqrt(1 + std::log(scale) / std::log(original)) : 0.1 * std::log(scale) + 1;
  }
  keys.set(source.architecture.name + ".rope.scaling.attn_factor", static_cast<float>(factor));
  return {};
}

}  // namespace

Result<void> add_key_group(const KeySource& source, std::string_view group, KeyPlan& keys) {
  using Add = Result<void> (*)(const KeySource&, KeyPlan&);
  static constexpr std::array<std::pair<std::string_view, Add>, 5> groups = {{
      {"rope_scaling", add_rope_scaling},
      {"pooling", add_pooling},
      {"classifier_labels", add_classifier_labels},
      {"reranker", add_reranker},
      {"phi3_attn_factor", add_phi3_attention_factor},
  }};
  for (const auto& [name, add] : groups) {
    if (name == group) return add(source, keys);
  }
  return refuse("rule", "unknown group of keys: " + std::string(group));
}

}  // namespace ingot::huggingface
