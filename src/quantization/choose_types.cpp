// SPDX-License-Identifier: MIT
// choose_types: walks over the tensors in their order, counts, and asks the recipe's rules.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "architectures/precise_names.hpp"
#include "ingot/recipe.hpp"
#include "quantization/name_expression.hpp"
#include "quantization/recipe_table.hpp"

namespace ingot {
namespace {

using quantization::Mixture;
using quantization::Rule;

std::optional<std::uint32_t> layer_of(const TensorInfo& tensor) noexcept {
  const auto name = parse_layer_name(tensor.name);
  return name ? std::optional(name->layer) : std::nullopt;
}

/// Dimensions, without those of 1 at the end.
std::size_t dimension_count(const TensorInfo& tensor) noexcept {
  std::size_t count = tensor.shape.size();
  while (count > 0 && tensor.shape[count - 1] == 1) --count;
  return count;
}

bool fits(TensorType type, std::uint64_t row_elements) noexcept {
  const TensorTypeInfo* info = find_type(type);
  return info != nullptr && row_elements % info->block_elements == 0;
}

/// The user's patterns, ready to search.
class Patterns {
 public:
  static Result<Patterns> compile(std::span<const TypePattern> patterns) {
    Patterns compiled;
    for (const TypePattern& pattern : patterns) {
      INGOT_TRY(quantization::NameExpression expression,
                quantization::NameExpression::compile(pattern.pattern));
      compiled.expressions_.push_back(std::move(expression));
    }
    return compiled;
  }

  /// The position of the first that finds something in the name; their count if none does.
  [[nodiscard]] std::size_t find(std::string_view name) const {
    const auto finds = [&](const quantization::NameExpression& one) {
      return one.is_found_in(name);
    };
    return static_cast<std::size_t>(std::ranges::find_if(expressions_, finds) -
                                    expressions_.begin());
  }
  [[nodiscard]] std::size_t size() const noexcept { return expressions_.size(); }

 private:
  std::vector<quantization::NameExpression> expressions_;
};

/// llama.cpp's `use_more_bits`.
bool gets_more_bits(std::uint64_t i, std::uint64_t count) noexcept {
  return i < count / 8 || i >= 7 * count / 8 || (i - count / 8) % 3 == 2;
}

class Chooser {
 public:
  Chooser(std::span<const TensorInfo> tensors, const ModelTraits& traits, const Mixture& mixture,
          const RecipeOptions& options, Patterns patterns)
      : tensors_(tensors),
        traits_(traits),
        mixture_(mixture),
        recipe_(mixture.recipe),
        options_(options),
        patterns_(std::move(patterns)),
        block_count_(traits.block_count),
        model_facts_(facts_of(traits, options)) {
    std::uint64_t layer_count = 0;
    for (const TensorInfo& tensor : tensors) {
      if (tensor.name == "output.weight") has_output_ = true;
      if (const auto layer = layer_of(tensor)) {
        layer_count = std::max(layer_count, std::uint64_t{*layer} + 1);
      }
      if (role_of(tensor.name) == TensorRole::attention_value && !kept_reason(tensor)) {
        ++value_count_;
      }
    }
    if (block_count_ == 0) block_count_ = layer_count;
  }

  Result<std::vector<TypeChoice>> choose() {
    std::vector<TypeChoice> choices(tensors_.size());
    for (const std::size_t i : quantize_order(tensors_)) {
      INGOT_TRY(choices[i], choose(tensors_[i]));
    }
    return choices;
  }

 private:
  static std::uint32_t facts_of(const ModelTraits& traits, const RecipeOptions& options) {
    std::uint32_t facts =
        options.has_importance ? quantization::is_weighted : quantization::is_unweighted;
    if (traits.architecture == "falcon") facts |= quantization::is_falcon;
    if (traits.head_count_kv > 0 && traits.head_count / traits.head_count_kv >= 4) {
      facts |= quantization::is_grouped;
    }
    if (traits.expert_count >= 4) facts |= quantization::has_four_experts;
    if (traits.expert_count == 8) facts |= quantization::has_eight_experts;
    return facts;
  }

  [[nodiscard]] std::optional<TypeReason> kept_reason(const TensorInfo& tensor) const {
    if (recipe_.is_copy()) return TypeReason::copied;
    if (dimension_count(tensor) < 2) return TypeReason::one_dimension;
    if (architectures::has_precise_name(tensor.name)) return TypeReason::kept_name;
    if (options_.leaves_output && tensor.name == "output.weight") return TypeReason::kept_output;
    if (is_integer(tensor.type)) return TypeReason::not_floats;
    return std::nullopt;
  }

  Result<TypeChoice> choose(const TensorInfo& tensor) {
    TypeChoice choice{.type = tensor.type, .role = role_of(tensor.name)};
    if (const auto reason = kept_reason(tensor)) {
      choice.reason = *reason;
      return choice;
    }
    if (choice.role == TensorRole::token_embedding && options_.token_embedding_type) {
      choice.type = *options_.token_embedding_type;
      choice.reason = TypeReason::embedding_option;
    } else if (choice.role == TensorRole::output && options_.output_type) {
      choice.type = *options_.output_type;
      choice.reason = TypeReason::output_option;
    } else {
      choose_freely(tensor, choice);
    }
    if (fits(choice.type, tensor.row_elements())) return choice;
    return Failure(misfit(tensor, choice.type));
  }

  /// The choice where no option fixes the type: patterns, the rules, and another type if the rows
  /// do not fit.
  void choose_freely(const TensorInfo& tensor, TypeChoice& choice) {
    choice.type = recipe_.base;
    choice.reason = TypeReason::base;
    if (!is_quantized(recipe_.base)) return;
    // The rules count every tensor they are asked for; llama.cpp does not ask for those that a
    // pattern decides.
    choice.pattern = patterns_.find(tensor.name);
    if (choice.pattern < patterns_.size()) {
      choice.type = options_.patterns[choice.pattern].type;
      choice.reason = TypeReason::pattern;
    } else if (!options_.is_pure) {
      choice.type = choose_by_rule(tensor, choice.role);
      if (choice.type != recipe_.base) choice.reason = TypeReason::mixture;
    }
    if (fits(choice.type, tensor.row_elements())) return;
    if (const auto fallback = fallback_type(choice.type, tensor.row_elements())) {
      choice.instead_of = choice.type;
      choice.type = *fallback;
    }
  }

  TensorType choose_by_rule(const TensorInfo& tensor, TensorRole role) {
    const bool is_tied_output = role == TensorRole::token_embedding && !has_output_;
    if (role == TensorRole::output || is_tied_output) return choose_output(tensor);
    const std::uint32_t facts = facts_about(tensor, role);
    if (role == TensorRole::attention_key && mixture_.spares_values &&
        (facts & quantization::has_eight_experts) != 0) {
      return TensorType::q8_0;
    }
    TensorType type = rule_for(role).choose(facts);
    if (type == quantization::base_type) type = recipe_.base;
    if (role == TensorRole::attention_value && mixture_.spares_values) type = spare_value(type);
    return type;
  }

  [[nodiscard]] TensorType choose_output(const TensorInfo& tensor) const {
    const TensorType type = mixture_.output.choose(model_facts_);
    const bool is_special =
        traits_.architecture == "falcon" || !fits(recipe_.base, tensor.row_elements());
    if (is_special) return TensorType::q8_0;
    return type == quantization::base_type ? recipe_.base : type;
  }

  [[nodiscard]] TensorType spare_value(TensorType type) const {
    const bool is_70b = traits_.architecture == "llama" && block_count_ == 80 &&
                        traits_.head_count != traits_.head_count_kv;
    if (is_70b && (type == TensorType::q3_k || type == TensorType::q4_k)) type = TensorType::q5_k;
    return traits_.expert_count == 8 ? TensorType::q8_0 : type;
  }

  [[nodiscard]] const Rule& rule_for(TensorRole role) const {
    static constexpr std::pair<TensorRole, Rule Mixture::*> rules[] = {
        {TensorRole::token_embedding, &Mixture::embedding},
        {TensorRole::attention_value, &Mixture::value},
        {TensorRole::attention_key, &Mixture::key},
        {TensorRole::attention_query, &Mixture::query},
        {TensorRole::attention_output, &Mixture::attention_output},
        {TensorRole::ffn_down, &Mixture::down},
        {TensorRole::ffn_up, &Mixture::up},
        {TensorRole::ffn_gate, &Mixture::up}};
    for (const auto& [ruled, rule] : rules) {
      if (ruled == role && !(mixture_.*rule).is_empty()) return mixture_.*rule;
    }
    return mixture_.rest;
  }

  /// Facts about one tensor; counts it.
  std::uint32_t facts_about(const TensorInfo& tensor, TensorRole role) {
    std::uint32_t facts = model_facts_;
    if (tensor.shape.size() > 2 && tensor.shape[2] > 1) facts |= quantization::is_stacked;
    const bool is_value = role == TensorRole::attention_value;
    const bool is_ffn =
        role == TensorRole::ffn_up || role == TensorRole::ffn_gate || role == TensorRole::ffn_down;
    if (!is_value && !is_ffn) return facts;
    std::uint64_t i = counters_[static_cast<std::size_t>(role)]++;
    const std::uint64_t count = is_value ? value_count_ : block_count_;
    const std::optional<std::uint32_t> layer = layer_of(tensor);
    // Experts of a layer may be tensors of their own, so that a running number is no layer.
    if (is_ffn && mixture_.counts_layers && traits_.expert_count > 1 && layer) i = *layer;
    return facts | facts_of_position(i, count);
  }

  static std::uint32_t facts_of_position(std::uint64_t i, std::uint64_t count) {
    std::uint32_t facts = 0;
    if (i < 2) facts |= quantization::in_first_two;
    if (i < 4) facts |= quantization::in_first_four;
    if (i < count / 16) facts |= quantization::in_first_sixteenth;
    if (i < count / 8) facts |= quantization::in_first_eighth;
    if (i >= count / 8 && i < 7 * count / 8) facts |= quantization::in_middle;
    if (gets_more_bits(i, count)) facts |= quantization::gets_more_bits;
    return facts;
  }

  static Error misfit(const TensorInfo& tensor, TensorType type) {
    const TensorTypeInfo* info = find_type(type);
    const std::string name =
        info == nullptr ? std::string("unknown type") : std::string(info->name);
    const std::uint64_t block = info == nullptr ? 0 : info->block_elements;
    return {.code = Errc::type_does_not_fit,
            .subject = std::string(tensor.name),
            .detail = "its rows have " + std::to_string(tensor.row_elements()) +
                      " elements, blocks of " + name + " have " + std::to_string(block)};
  }

  std::span<const TensorInfo> tensors_;
  const ModelTraits& traits_;
  const Mixture& mixture_;
  const Recipe& recipe_;
  const RecipeOptions& options_;
  Patterns patterns_;
  std::uint64_t block_count_;
  std::uint32_t model_facts_;
  std::uint64_t value_count_ = 0;
  bool has_output_ = false;
  std::array<std::uint64_t, static_cast<std::size_t>(TensorRole::other) + 1> counters_{};
};

}  // namespace

std::vector<std::size_t> quantize_order(std::span<const TensorInfo> tensors) {
  std::vector<std::size_t> order(tensors.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    // Tensors without a layer come first.
    const auto layer_a = layer_of(tensors[a]);
    const auto layer_b = layer_of(tensors[b]);
    return layer_a != layer_b ? layer_a < layer_b : tensors[a].name < tensors[b].name;
  });
  return order;
}

Result<std::vector<TypeChoice>> choose_types(std::span<const TensorInfo> tensors,
                                             const ModelTraits& traits, const Recipe& recipe,
                                             const RecipeOptions& options) {
  for (const Mixture& mixture : quantization::mixtures()) {
    if (mixture.recipe.name != recipe.name) continue;
    INGOT_TRY(Patterns patterns, Patterns::compile(options.patterns));
    return Chooser(tensors, traits, mixture, options, std::move(patterns)).choose();
  }
  return fail(Errc::invalid_argument, std::string(recipe.name), "there is no such recipe");
}

}  // namespace ingot
