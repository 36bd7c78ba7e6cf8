// SPDX-License-Identifier: MIT
#include "huggingface/export/config_members.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.hpp"
#include "huggingface/export/rope_members.hpp"
#include "huggingface/folder/json_values.hpp"
#include "huggingface/folder/refusal.hpp"
#include "huggingface/rules/rule_expression_node.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/summary.hpp"

namespace ingot::huggingface {
namespace {

using nlohmann::ordered_json;
using NodeKind = ExpressionNode::Kind;

/// The elements of lists in config.json: one a layer.
constexpr std::uint64_t max_list = max_layers;

template <class T>
ordered_json list_of(const Array& array) {
  ordered_json list = ordered_json::array();
  for (const Value& element : array) {
    const Result<T> value = element.get<T>();
    if constexpr (std::is_same_v<T, float>) {
      list.push_back(short_double(value.value_or(0)));
    } else {
      list.push_back(value.value_or(T{}));
    }
  }
  return list;
}

/// The name behind `a`, `a?`, `a ?? b`, `a? or b` and `nonzero(a?)`; nullptr for expressions that
/// compute more: other keys then give the members that they use.
const ExpressionNode* name_in(const ExpressionNode& node) {
  if (node.kind == NodeKind::name) return &node;
  const bool is_choice =
      node.kind == NodeKind::operation &&
      (node.text == "or" || (node.text == "??" && node.operands[1].kind != NodeKind::operation));
  const bool is_transparent = is_choice || (node.kind == NodeKind::call && node.text == "nonzero");
  return is_transparent ? name_in(node.operands[0]) : nullptr;
}

/// The constant that an absent name stands for; null if there is none.
nlohmann::json default_of(const ExpressionNode& node) {
  const bool has_default = node.kind == NodeKind::operation && node.text == "??" &&
                           node.operands[1].kind == NodeKind::literal;
  return has_default ? node.operands[1].literal : nlohmann::json();
}

/// Rules in the order in which the import applies them, those of included lists among them.
void flatten(std::span<const KeyRule> rules, std::vector<const KeyRule*>& flat) {
  for (const KeyRule& rule : rules) {
    flatten(rule.included, flat);
    if (rule.included.empty()) flat.push_back(&rule);
  }
}

class ConfigBuilder {
 public:
  explicit ConfigBuilder(const FolderFacts& facts) : facts_(facts) {
    const Architecture& architecture = facts.architecture;
    for (const auto* list : {&architecture.keys_before_others, &architecture.keys,
                             &architecture.keys_after_tokenizer}) {
      flatten(*list, rules_);
    }
  }

  Result<FolderConfig> build() {
    for (std::size_t i = 0; i < rules_.size(); ++i) take_key(i);
    take_vocabulary_size();
    INGOT_TRY_VOID(choose_rule());
    INGOT_TRY_VOID(add_rope_members(facts_, config_.rule->model_class, config_.values));
    INGOT_TRY_VOID(set_members());
    ordered_json whole = {{"architectures", ordered_json::array({config_.rule->model_class})}};
    whole.update(config_.values);
    config_.values = std::move(whole);
    return std::move(config_);
  }

 private:
  const Value* find(const KeyRule& rule) const {
    if (rule.key.empty()) return nullptr;
    const bool is_absolute = rule.key.starts_with("general.") || rule.key.starts_with("tokenizer.");
    return is_absolute ? facts_.model.find(rule.key)
                       : find_architecture_key(facts_.model, rule.key);
  }

  std::size_t place_of(const Value* value) const {
    const auto keys = facts_.model.metadata();
    return static_cast<std::size_t>(
        std::ranges::find_if(keys,
                             [&](const KeyValue& entry) {
                               return entry.value.file_offset() == value->file_offset() &&
                                      entry.value.bytes().data() == value->bytes().data();
                             }) -
        keys.begin());
  }

  /// Whether the later of two rules made a key; the place of the key among the others tells.
  bool was_made_by_later_rule(std::size_t i) const {
    const KeyRule& rule = *rules_[i];
    const auto same = [&](const KeyRule* other) { return other->key == rule.key; };
    const auto begin = rules_.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    const auto later = std::find_if(begin, rules_.end(), same);
    if (later == rules_.end()) return false;
    for (auto between = begin; between != later; ++between) {
      const Value* const anchor = find(**between);
      const bool is_alone = std::ranges::count(rules_, (*between)->key, &KeyRule::key) == 1;
      if (anchor != nullptr && is_alone) return place_of(find(rule)) > place_of(anchor);
    }
    return false;
  }

  void take_key(std::size_t i) {
    const KeyRule& rule = *rules_[i];
    const Value* const value = find(rule);
    if (value == nullptr || !rule.value.is_set() || was_made_by_later_rule(i)) return;
    const ExpressionNode& node = *rule.value.root();
    const ordered_json content = json_of(*value);
    if (const ExpressionNode* const name = name_in(node)) {
      // A constant that an absent member stands for needs no member.
      const nlohmann::json otherwise = default_of(node);
      const bool is_default = otherwise.is_number() && content.is_number() &&
                              static_cast<float>(otherwise.get<double>()) == content.get<float>();
      if (!is_default && !content.is_null()) set(member_of(*name), content);
    } else if (node.kind == NodeKind::call && node.text == "block_count") {
      set("num_hidden_layers", content);
    } else if (const bool is_flags = node.text == "flags";
               node.kind == NodeKind::call && content.is_array() &&
               (is_flags || node.text == "alternating_layers")) {
      set(member_of(node.operands[0]),
          layer_types(content, is_flags ? node.operands[1].literal : "sliding_attention"));
    } else if (node.kind == NodeKind::literal) {
      take_condition(rule, content);
    }
  }

  /// `KEY = false when is_causal? == false`: the key tells the value of the condition.
  void take_condition(const KeyRule& rule, const ordered_json& content) {
    if (!rule.when.is_set() || content != ordered_json(rule.value.root()->literal)) return;
    const ExpressionNode& when = *rule.when.root();
    const bool compares = when.kind == NodeKind::operation && when.text == "==" &&
                          when.operands[0].kind == NodeKind::name &&
                          when.operands[1].kind == NodeKind::literal;
    if (compares) set(member_of(when.operands[0]), when.operands[1].literal);
  }

  static ordered_json layer_types(const ordered_json& flags, const nlohmann::json& name) {
    ordered_json types = ordered_json::array();
    for (const ordered_json& flag : flags) {
      types.push_back(flag == true ? name.get<std::string>() : "full_attention");
    }
    return types;
  }

  /// The member that a name stands for; of several names, the one that loaders know.
  std::string member_of(const ExpressionNode& node) const {
    if (node.scope == NameScope::rope_swa && node.names.front() == "rope_theta") {
      return "rope_local_base_freq";
    }
    std::vector<std::string> wanted = facts_.table.folder().preferred;
    for (const FolderRule& rule : facts_.architecture.folders) {
      wanted.insert(wanted.end(), rule.preferred.begin(), rule.preferred.end());
    }
    for (const std::string& name : node.names) {
      if (std::ranges::find(wanted, name) != wanted.end()) return name;
    }
    return node.names.front();
  }

  void set(const std::string& member, const ordered_json& content) {
    if (!config_.values.contains(member)) config_.values[member] = content;
  }

  void take_vocabulary_size() {
    const Value* const tokens = facts_.model.find(keys::tokenizer_ggml_tokens);
    if (tokens != nullptr && tokens->is_array()) set("vocab_size", tokens->as_array().size());
  }

  /// The members so far, with one for each tensor and one for each key of the architecture.
  Result<Config> with_tensors() const {
    nlohmann::json values = config_.values;
    values["architectures"] = nlohmann::json::array({facts_.architecture.classes.front()});
    for (const TensorInfo& tensor : facts_.model.tensors()) {
      const auto layer = parse_layer_name(tensor.name);
      std::string name = "tensor_" + std::string(layer ? layer->rest : tensor.name);
      std::ranges::replace(name, '.', '_');
      values[name] = true;
    }
    const std::string prefix =
        std::string(facts_.model.get_or<std::string_view>(keys::general_architecture, "")) + ".";
    for (const KeyValue& entry : facts_.model.metadata()) {
      if (!entry.key.starts_with(prefix)) continue;
      std::string name = "key_" + std::string(entry.key.substr(prefix.size()));
      std::ranges::replace(name, '.', '_');
      values[name] = json_of(entry.value);
    }
    return Config::parse(values.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
                         "config.json");
  }

  Result<void> choose_rule() {
    INGOT_TRY(const Config config, with_tensors());
    for (const FolderRule& rule : facts_.architecture.folders) {
      INGOT_TRY(const nlohmann::json applies, rule.when.evaluate({.config = config}));
      if (rule.when.is_set() && !is_truthy(applies)) continue;
      config_.rule = &rule;
      return {};
    }
    return refuse(facts_.architecture.name, "no rule of folders applies to this model");
  }

  /// Sets the members that no key holds, or that it holds otherwise.
  Result<void> set_members() {
    INGOT_TRY(const Config config, with_tensors());
    for (const auto& [name, expression] : config_.rule->members) {
      INGOT_TRY(const nlohmann::json value, expression.evaluate({.config = config}));
      if (value.is_null()) continue;
      ordered_json* place = &config_.values;
      std::string_view path = name;
      while (!path.empty()) place = &(*place)[std::string(take_part(path, '.'))];
      *place = value;
    }
    return {};
  }

  const FolderFacts& facts_;
  std::vector<const KeyRule*> rules_;
  FolderConfig config_;
};

}  // namespace

ordered_json json_of(const Value& value) {
  if (value.is_array()) {
    const Array array = value.as_array();
    if (array.size() > max_list) return {};
    switch (array.element_type()) {
      case ValueType::float32:
        return list_of<float>(array);
      case ValueType::boolean:
        return list_of<bool>(array);
      case ValueType::int32:
      case ValueType::uint32:
        return list_of<std::int64_t>(array);
      default:
        return {};
    }
  }
  if (const auto flag = value.get<bool>()) return *flag;
  if (const auto text = value.get<std::string_view>()) return std::string(*text);
  if (const auto number = value.get<std::uint64_t>()) return *number;
  if (const auto number = value.get<std::int64_t>()) return *number;
  if (const auto number = value.get<float>()) return short_double(*number);
  return {};
}

Result<Config> read_config(const ordered_json& values) {
  return Config::parse(json_text(values), "config.json");
}

Result<FolderConfig> make_config(const FolderFacts& facts) { return ConfigBuilder(facts).build(); }

}  // namespace ingot::huggingface
