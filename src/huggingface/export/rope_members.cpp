// SPDX-License-Identifier: MIT
#include "huggingface/export/rope_members.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "huggingface/export/config_members.hpp"
#include "huggingface/folder/json_values.hpp"
#include "huggingface/import/tensors/extra_tensors.hpp"
#include "huggingface/rules/rule_expression_node.hpp"
#include "ingot/summary.hpp"

namespace ingot::huggingface {
namespace {

using nlohmann::ordered_json;

constexpr const char* rotated_share = "partial_rotary_factor";

/// The most factors; one factor is for two numbers of a head.
constexpr std::uint64_t max_factors = 1 << 15;

/// Keys of YaRN and the members that they come from.
constexpr std::array<std::pair<const char*, const char*>, 6> scaling_members = {{
    {"rope.scaling.factor", "factor"},
    {"rope.scaling.original_context_length", "original_max_position_embeddings"},
    {"rope.scaling.yarn_ext_factor", "extrapolation_factor"},
    {"rope.scaling.yarn_attn_factor", "attention_factor"},
    {"rope.scaling.yarn_beta_fast", "beta_fast"},
    {"rope.scaling.yarn_beta_slow", "beta_slow"},
}};

/// Contexts before scaling that are tried, the usual one first.
std::vector<std::uint32_t> original_contexts() {
  std::vector<std::uint32_t> contexts = {8192};
  for (std::uint32_t context = 8; context <= 1u << 20; context *= 2) contexts.push_back(context);
  return contexts;
}

bool has_group(std::span<const KeyRule> rules, std::string_view group) {
  return std::ranges::any_of(rules, [&](const KeyRule& rule) {
    return rule.group == group || has_group(rule.included, group);
  });
}

/// Whether an expression looks a name up.
bool mentions(const ExpressionNode& node, std::string_view name) {
  return std::ranges::find(node.names, name) != node.names.end() ||
         std::ranges::any_of(
             node.operands, [&](const ExpressionNode& operand) { return mentions(operand, name); });
}

class RopeBuilder {
 public:
  RopeBuilder(const FolderFacts& facts, std::string model_class, ordered_json& config)
      : facts_(facts), model_class_(std::move(model_class)), config_(config) {}

  Result<void> run() {
    ordered_json scaling;
    if (has_group(facts_.architecture.keys, "rope_scaling")) scaling = scaling_of_keys();
    for (const ExtraTensorRule& rule : facts_.architecture.extra_tensors) {
      INGOT_TRY(const auto factors, read_factors(rule.tensor));
      if (factors.empty()) continue;
      if (rule.is_llama3_factors) {
        INGOT_TRY(scaling, find_llama3(rule, factors));
      } else {
        take_list(*rule.values.root(), factors, scaling);
      }
    }
    if (!scaling.empty()) config_["rope_scaling"] = std::move(scaling);
    take_rotated_share();
    return {};
  }

 private:
  const Value* find(const char* suffix) const {
    return find_architecture_key(facts_.model, suffix);
  }

  ordered_json scaling_of_keys() const {
    ordered_json scaling;
    const Value* const type = find("rope.scaling.type");
    if (type == nullptr) return scaling;
    scaling["rope_type"] = json_of(*type);
    for (const auto& [key, name] : scaling_members) {
      if (const Value* const value = find(key)) scaling[name] = json_of(*value);
    }
    return scaling;
  }

  Result<std::vector<float>> read_factors(const std::string& name) const {
    const TensorInfo* const tensor = facts_.model.find_tensor(name);
    const bool is_list = tensor != nullptr && tensor->type == TensorType::f32 &&
                         tensor->shape.size() == 1 && tensor->element_count <= max_factors;
    std::vector<float> factors(is_list ? static_cast<std::size_t>(tensor->element_count) : 0);
    if (is_list) INGOT_TRY_VOID(facts_.model.dequantize_rows(*tensor, 0, 1, factors));
    return factors;
  }

  /// A list that the configuration holds as it is, such as `long_factor` of Phi-3, or one of which
  /// only the share of the rotated numbers, whose factor is 1, is held.
  void take_list(const ExpressionNode& node, const std::vector<float>& factors,
                 ordered_json& scaling) const {
    if (mentions(node, rotated_share)) {
      config_["rope_parameters"]["full_attention"][rotated_share] =
          static_cast<double>(std::ranges::count(factors, 1.0F)) /
          static_cast<double>(factors.size());
    }
    if (node.kind != ExpressionNode::Kind::name) return;
    // Some loaders take no other members than the type and the lists.
    scaling["type"] = attention_scale_is_yarn() ? "yarn" : "longrope";
    ordered_json list = ordered_json::array();
    for (const float factor : factors) list.push_back(short_double(factor));
    scaling[node.names.front()] = std::move(list);
  }

  /// Lists of factors come with one of two scales of attention; see key_groups.cpp of the import.
  bool attention_scale_is_yarn() const {
    const Value* const scale = find("rope.scaling.attn_factor");
    const auto longest = config_.value("max_position_embeddings", 0.0);
    const auto original = config_.value("original_max_position_embeddings", 0.0);
    if (scale == nullptr || !(original > 1) || !(longest > original)) return false;
    const double ratio = std::log(longest / original);
    const double of_longrope = std::sqrt(1 + ratio / std::log(original));
    const double stated = scale->get<float>().value_or(0.0F);
    return std::abs(stated - (0.1 * ratio + 1)) < std::abs(stated - of_longrope);
  }

  /// The factors of Llama 3 follow from four numbers. Only the ratios of the last three count, so
  /// that one of them may be the usual 1.
  Result<ordered_json> find_llama3(const ExtraTensorRule& rule,
                                   const std::vector<float>& wanted) const {
    std::vector<double> slowest = {short_double(*std::ranges::max_element(wanted)),
                                   rule.default_factor, 32};
    slowest.erase(std::unique(slowest.begin(), slowest.end()), slowest.end());
    ordered_json config = config_;
    config["architectures"] = ordered_json::array({model_class_});
    for (const double factor : slowest) {
      for (const double high : {4.0, 2.0, 8.0, 16.0, 32.0}) {
        for (const std::uint32_t original : original_contexts()) {
          config["rope_scaling"] = {{"rope_type", "llama3"},
                                    {"factor", factor},
                                    {"low_freq_factor", 1.0},
                                    {"high_freq_factor", high},
                                    {"original_max_position_embeddings", original}};
          INGOT_TRY(const Config parsed, read_config(config));
          INGOT_TRY(const auto factors, extra_numbers(rule, {.config = parsed}));
          if (factors == wanted) return config["rope_scaling"];
        }
      }
    }
    return ordered_json();
  }

  /// The share of a head that is rotated, where a key computes its count from that share.
  void take_rotated_share() {
    const auto& rules = facts_.architecture.keys;
    const auto rule = std::ranges::find_if(rules, [&](const KeyRule& candidate) {
      return candidate.value.is_set() && mentions(*candidate.value.root(), rotated_share);
    });
    const Value* const count = rule == rules.end() ? nullptr : find(rule->key.c_str());
    const auto hidden = config_.value("hidden_size", 0.0);
    const auto heads = config_.value("num_attention_heads", 0.0);
    if (count == nullptr || !(hidden > 0) || !(heads > 0)) return;
    const bool has_size = mentions(*rule->value.root(), "head_dim");
    const double head_size = has_size ? config_.value("head_dim", hidden / heads) : hidden / heads;
    const double share = count->get<std::uint32_t>().value_or(0) / head_size;
    if (share > 0 && share < 1) config_[rotated_share] = share;
  }

  const FolderFacts& facts_;
  std::string model_class_;
  ordered_json& config_;
};

}  // namespace

Result<void> add_rope_members(const FolderFacts& facts, const std::string& model_class,
                              ordered_json& config) {
  return RopeBuilder(facts, model_class, config).run();
}

}  // namespace ingot::huggingface
