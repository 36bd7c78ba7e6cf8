// SPDX-License-Identifier: MIT
// Names: recipes, roles, reasons, and what follows from a name or a type alone.
#include "ingot/recipe.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "base/ascii.hpp"
#include "base/ranges.hpp"
#include "base/strings.hpp"
#include "ingot/metadata_keys.hpp"
#include "quantization/recipe_table.hpp"

namespace ingot {
namespace {

bool equals_any_case(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower_case(x) == lower_case(y); });
}

struct Alias {
  std::string_view name;
  std::string_view recipe;
};
constexpr Alias aliases[] = {
    {"Q3_K", "Q3_K_M"}, {"Q4_K", "Q4_K_M"}, {"Q5_K", "Q5_K_M"}, {"MXFP4", "MXFP4_MOE"}};

struct NamedRole {
  std::string_view part;
  TensorRole role;
};
// The first that the name contains.
constexpr NamedRole role_parts[] = {{"attn_qkv.weight", TensorRole::attention_value},
                                    {"attn_kv_b.weight", TensorRole::attention_value},
                                    {"attn_v.weight", TensorRole::attention_value},
                                    {"attn_k.weight", TensorRole::attention_key},
                                    {"attn_q.weight", TensorRole::attention_query},
                                    {"attn_output.weight", TensorRole::attention_output},
                                    {"ffn_up", TensorRole::ffn_up},
                                    {"ffn_gate", TensorRole::ffn_gate},
                                    {"ffn_down", TensorRole::ffn_down}};

std::string_view role_text(TensorRole role) noexcept {
  constexpr std::array<std::string_view, 10> texts = {"the output",
                                                      "token embeddings",
                                                      "attention values",
                                                      "attention keys",
                                                      "attention queries",
                                                      "attention outputs",
                                                      "feed-forward up projections",
                                                      "feed-forward gates",
                                                      "feed-forward down projections",
                                                      "all other tensors"};
  return name_at(texts, role);
}

/// The first element of a number or an array of numbers, one for each layer; 0 if there is none.
std::uint64_t first_number(const Model& model, std::string_view architecture,
                           std::string_view suffix) {
  const Value* value = model.find(std::string(architecture) + "." + std::string(suffix));
  if (value == nullptr) return 0;
  if (value->is_array()) return value->as_array().get<std::uint64_t>(0).value_or(0);
  return value->get<std::uint64_t>().value_or(0);
}

std::string_view type_name(TensorType type) noexcept {
  const TensorTypeInfo* info = find_type(type);
  return info == nullptr ? std::string_view("unknown type") : info->name;
}

std::string reason_text(const TypeChoice& choice, const RecipeOptions& options) {
  constexpr std::array<std::string_view, 11> texts = {"COPY changes nothing",
                                                      "kept: one dimension",
                                                      "kept: not a matrix that is quantized",
                                                      "kept: the output was to be left",
                                                      "kept: integers",
                                                      "asked for: token embeddings",
                                                      "asked for: output",
                                                      "asked for: ",
                                                      "base type",
                                                      "rule for ",
                                                      "least error for the target"};
  std::string text(name_at(texts, choice.reason));
  if (choice.reason == TypeReason::mixture) text += role_text(choice.role);
  if (choice.reason != TypeReason::pattern) return text;
  const bool is_known = choice.pattern < options.patterns.size();
  return text + (is_known ? options.patterns[choice.pattern].pattern : "pattern");
}

}  // namespace

std::span<const Recipe> recipes() noexcept { return quantization::recipe_list(); }

const Recipe* find_recipe(std::uint32_t file_type) noexcept {
  const std::span<const Recipe> rows = recipes();
  return find_row(rows, &Recipe::file_type, file_type);
}

const Recipe* find_recipe(std::string_view name_or_number) noexcept {
  for (const Alias& alias : aliases) {
    if (equals_any_case(alias.name, name_or_number)) return find_recipe(alias.recipe);
  }
  for (const Recipe& recipe : recipes()) {
    if (equals_any_case(recipe.name, name_or_number)) return &recipe;
  }
  const auto number = parse_number<std::uint32_t>(name_or_number);
  return number ? find_recipe(*number) : nullptr;
}

TensorRole role_of(std::string_view tensor_name) noexcept {
  if (tensor_name == "output.weight") return TensorRole::output;
  if (tensor_name == "token_embd.weight" || tensor_name == "per_layer_token_embd.weight") {
    return TensorRole::token_embedding;
  }
  for (const NamedRole& named : role_parts) {
    if (tensor_name.find(named.part) != std::string_view::npos) return named.role;
  }
  return TensorRole::other;
}

ModelTraits traits_of(const Model& model) {
  ModelTraits traits;
  traits.architecture = std::string(model.get_or(keys::general_architecture, std::string_view{}));
  if (traits.architecture.empty()) return traits;
  const auto number = [&](std::string_view suffix) {
    return first_number(model, traits.architecture, suffix);
  };
  traits.block_count = number(suffixes::block_count);
  traits.head_count = number(suffixes::attention_head_count);
  traits.head_count_kv = number(suffixes::attention_head_count_kv);
  // If the key is missing, each head has its own keys and values.
  if (model.find(traits.architecture + ".attention.head_count_kv") == nullptr) {
    traits.head_count_kv = traits.head_count;
  }
  traits.expert_count = number(suffixes::expert_count);
  return traits;
}

std::string_view name_of(TypeReason reason) noexcept {
  constexpr std::array<std::string_view, 11> names = {
      "copied",     "one_dimension",    "kept_name",     "kept_output",
      "not_floats", "embedding_option", "output_option", "pattern",
      "base",       "mixture",          "target"};
  return name_at(names, reason);
}

std::string explain(const TypeChoice& choice, const TensorInfo& tensor,
                    const RecipeOptions& options) {
  std::string text = reason_text(choice, options);
  if (choice.instead_of) {
    text += "; rows of " + std::to_string(tensor.row_elements()) + " are not whole blocks of " +
            std::string(type_name(*choice.instead_of));
  }
  return text;
}

bool demands_importance(TensorType type, TensorRole role, const Recipe& recipe) noexcept {
  using enum TensorType;
  const TensorTypeInfo* info = find_type(type);
  if (info != nullptr && info->weights == ImportanceWeights::required) return true;
  if (role == TensorRole::output || role == TensorRole::token_embedding) return false;
  if (info != nullptr && info->weights == ImportanceWeights::recommended) return true;
  return type == q2_k && recipe.name == "Q2_K_S";
}

bool is_quantize_target(TensorType type) noexcept {
  using enum TensorType;
  constexpr std::array refused = {q8_1, q8_k, i8, i16, i32, i64, f64};
  return find_type(type) != nullptr && std::ranges::find(refused, type) == refused.end();
}

}  // namespace ingot
