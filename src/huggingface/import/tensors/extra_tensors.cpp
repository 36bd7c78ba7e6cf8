// SPDX-License-Identifier: MIT
#include "huggingface/import/tensors/extra_tensors.hpp"

#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <string>

#include "huggingface/folder/json_text.hpp"
#include "huggingface/folder/refusal.hpp"

namespace ingot::huggingface {
namespace {

using nlohmann::json;

constexpr std::uint64_t max_head_size = 1 << 16;
constexpr std::size_t max_factors = 1 << 16;
constexpr std::uint64_t max_sine_width = 1 << 14;

Result<float> rope_number(const json& rope, const char* name, double otherwise) {
  const json* found = find_member(rope, name);
  if (found == nullptr) return static_cast<float>(otherwise);
  // One number for each layer; the first is that of full attention.
  if (found->is_array() && !found->empty()) found = &found->front();
  if (!found->is_number()) return refuse("config.json", std::string(name) + " must be a number");
  return static_cast<float>(found->get<double>());
}

Result<std::uint64_t> head_size(const Config& config) {
  INGOT_TRY(const auto stated, config.find_count("head_dim"));
  if (stated) return *stated;
  INGOT_TRY(const auto hidden, config.find_count("hidden_size"));
  INGOT_TRY(const auto heads, config.find_count("num_attention_heads"));
  if (!hidden || !heads || *heads == 0) {
    return refuse("config.json", "head_dim, or hidden_size and num_attention_heads, are needed");
  }
  return *hidden / *heads;
}

/// The factors by which Llama 3 slows each rotation down, computed in F32 as in the reference:
/// there a number divided by a tensor is the number times the reciprocals.
Result<std::optional<std::vector<float>>> llama3_factors(const ExtraTensorRule& rule,
                                                         const RuleContext& rules) {
  const Config& config = rules.config;
  const json& rope = config.rope();
  const auto type = rope.find("rope_type");
  if (type == rope.end() || *type != "llama3") return std::optional<std::vector<float>>();
  INGOT_TRY(const std::uint64_t size, rule.size.is_set()
                                          ? rule.size.evaluate_count(rules, "the rotary size")
                                          : head_size(config));
  if (size > max_head_size) return refuse("config.json", "head_dim is too large");
  INGOT_TRY(const float base, rope_number(rope, "rope_theta", 10000.0));
  INGOT_TRY(const float factor, rope_number(rope, "factor", rule.default_factor));
  INGOT_TRY(const float low, rope_number(rope, "low_freq_factor", 1.0));
  INGOT_TRY(const float high, rope_number(rope, "high_freq_factor", 4.0));
  INGOT_TRY(const float context, rope_number(rope, "original_max_position_embeddings", 8192.0));
  const float longest = context / low;
  const float shortest = context / high;
  std::vector<float> factors;
  for (std::uint64_t i = 0; i < size; i += 2) {
    const float frequency = 1.0f / std::pow(base, static_cast<float>(i) / static_cast<float>(size));
    const float wavelength = 1.0f / frequency * static_cast<float>(2 * std::numbers::pi);
    if (wavelength < shortest) {
      factors.push_back(1);
    } else if (wavelength > longest) {
      factors.push_back(factor);
    } else {
      const float smooth = (context * (1.0f / wavelength) - low) / (high - low);
      factors.push_back(1.0f / ((1.0f - smooth) / factor + smooth));
    }
  }
  return std::optional(std::move(factors));
}

/// The sines, then the cosines, of each position times frequencies that fall from 1 to 1/10000.
/// What a sine is in the last digit depends on a library.
Result<std::optional<std::vector<float>>> sine_table(const ExtraTensorRule& rule,
                                                     const RuleContext& context) {
  INGOT_TRY(const std::uint64_t width, rule.sines.evaluate_count(context, "the width of sines"));
  if (width < 4 || width % 2 != 0 || width > max_sine_width) {
    return refuse("config.json", "the encoder has no width for sines of positions");
  }
  const std::uint64_t half = width / 2;
  const double step = std::log(10000.0) / static_cast<double>(half - 1);
  std::vector<float> frequencies;
  for (std::uint64_t i = 0; i < half; ++i) {
    const float power = static_cast<float>(-step) * static_cast<float>(i);
    frequencies.push_back(static_cast<float>(std::exp(static_cast<double>(power))));
  }
  std::vector<float> table(static_cast<std::size_t>(sine_positions * width));
  for (std::uint64_t position = 0; position < sine_positions; ++position) {
    const auto row = std::span(table).subspan(static_cast<std::size_t>(position * width));
    for (std::size_t i = 0; i < half; ++i) {
      const double angle = static_cast<double>(static_cast<float>(position) * frequencies[i]);
      row[i] = static_cast<float>(std::sin(angle));
      row[static_cast<std::size_t>(half) + i] = static_cast<float>(std::cos(angle));
    }
  }
  return std::optional(std::move(table));
}

}  // namespace

Result<std::optional<std::vector<float>>> extra_numbers(const ExtraTensorRule& rule,
                                                        const RuleContext& context) {
  INGOT_TRY(const json condition, rule.when.evaluate(context));
  if (rule.when.is_set() && !is_truthy(condition)) return std::optional<std::vector<float>>();
  if (rule.is_llama3_factors) return llama3_factors(rule, context);
  if (rule.sines.is_set()) return sine_table(rule, context);
  INGOT_TRY(const json list, rule.values.evaluate(context));
  if (!list.is_array() || list.empty() || list.size() > max_factors) {
    return refuse("config.json", rule.tensor + " needs a list of numbers");
  }
  std::vector<float> numbers;
  for (const json& element : list) {
    if (!element.is_number()) return refuse("config.json", rule.tensor + " needs numbers");
    numbers.push_back(static_cast<float>(element.get<double>()));
  }
  return std::optional(std::move(numbers));
}

}  // namespace ingot::huggingface
