// SPDX-License-Identifier: MIT
#include "huggingface/import/keys/architecture_keys.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "huggingface/folder/refusal.hpp"

namespace ingot::huggingface {
namespace {

using nlohmann::json;

Failure wrong_value(const std::string& key, const char* expected, const json& value) {
  return refuse(key, "config.json must give " + std::string(expected) + " instead of " +
                         value.dump(-1, ' ', true, json::error_handler_t::replace).substr(0, 80));
}

std::string full_key(const KeySource& source, const std::string& key) {
  constexpr std::array<std::string_view, 4> absolute = {"general.", "tokenizer.", "diffusion.",
                                                        "xielu."};
  const bool is_absolute =
      std::ranges::any_of(absolute, [&](std::string_view start) { return key.starts_with(start); });
  if (key.starts_with('/')) return key.substr(1);
  return is_absolute ? key : source.architecture.name + "." + key;
}

Result<std::int32_t> int32_of(const std::string& key, const json& value) {
  const double number = value.is_number() ? value.get<double>() : std::nan("");
  if (!(number >= std::numeric_limits<std::int32_t>::min() &&
        number <= std::numeric_limits<std::int32_t>::max())) {
    return wrong_value(key, "whole numbers", value);
  }
  return static_cast<std::int32_t>(number);
}

Result<void> set_list(KeyPlan& keys, const std::string& key, const json& list) {
  const auto all = [&](auto is_kind) { return std::ranges::all_of(list, is_kind); };
  if (list.empty()) return wrong_value(key, "a list with elements", list);
  if (all([](const json& element) { return element.is_boolean(); })) {
    // A span of flags; std::vector<bool> has none.
    const auto flags = std::make_unique<bool[]>(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) flags[i] = list[i].get<bool>();
    keys.set_array(key, std::span<const bool>(flags.get(), list.size()));
  } else if (all([](const json& element) { return element.is_number_integer(); })) {
    std::vector<std::int32_t> numbers;
    for (const json& element : list) {
      INGOT_TRY(numbers.emplace_back(), int32_of(key, element));
    }
    keys.set_array(key, std::span<const std::int32_t>(numbers));
  } else {
    std::vector<float> numbers;
    for (const json& element : list) {
      if (!element.is_number()) return wrong_value(key, "a list of numbers", list);
      numbers.push_back(static_cast<float>(element.get<double>()));
    }
    keys.set_array(key, std::span<const float>(numbers));
  }
  return {};
}

Result<Config> replaced_config(const KeySource& source, const KeyRule& rule) {
  json replaced = json::object();
  json added = json::object();
  const RuleContext context = source.context();
  for (const auto& [name, expression] : rule.replaced) {
    INGOT_TRY(json value, expression.evaluate(context));
    if (name.ends_with('?')) {
      added[name.substr(0, name.size() - 1)] = std::move(value);
    } else {
      replaced[name] = std::move(value);
    }
  }
  Config config = source.config.with(replaced, added);
  for (const std::string& name : rule.without) config = config.without(name);
  return config;
}

Result<void> add_key(const KeySource& source, const KeyRule& rule, KeyPlan& keys) {
  const RuleContext context = source.context();
  if (rule.when.is_set()) {
    INGOT_TRY(const json condition, rule.when.evaluate(context));
    if (!is_truthy(condition)) return {};
  }
  if (!rule.included.empty()) {
    INGOT_TRY(const Config config, replaced_config(source, rule));
    return add_keys(
        {source.folder, config, source.architecture, source.file_type, source.as_reference,
         source.tensors, source.lookup, source.target, source.generation},
        rule.included, keys);
  }
  if (!rule.group.empty()) return add_key_group(source, rule.group, keys);
  INGOT_TRY(const json value, rule.value.evaluate(context));
  return set_key(keys, full_key(source, rule.key), rule.type, value);
}

}  // namespace

Result<void> set_key(KeyPlan& keys, const std::string& key, std::string_view type,
                     const json& value) {
  if (value.is_null()) return {};
  if (value.is_array()) return set_list(keys, key, value);
  if (type == "u32") {
    const Result<std::uint64_t> number = count_of(value, key);
    if (!number || *number > std::numeric_limits<std::uint32_t>::max()) {
      return wrong_value(key, "a whole number from 0 to 4294967295", value);
    }
    keys.set(key, static_cast<std::uint32_t>(*number));
  } else if (type == "f32") {
    if (!value.is_number()) return wrong_value(key, "a number", value);
    keys.set(key, static_cast<float>(value.get<double>()));
  } else if (type == "bool") {
    if (!value.is_boolean() && !value.is_number()) return wrong_value(key, "true or false", value);
    keys.set_bool(key, is_truthy(value));
  } else if (type == "str") {
    if (!value.is_string()) return wrong_value(key, "a text", value);
    keys.set_string(key, value.get_ref<const std::string&>());
  } else {
    return refuse("rule", "unknown type of a key: " + std::string(type));
  }
  return {};
}

Result<void> add_keys(const KeySource& source, std::span<const KeyRule> rules, KeyPlan& keys) {
  for (const KeyRule& rule : rules) {
    keys.from(rule.value.is_set() || !rule.group.empty() ? std::string(source.folder.config_file())
                                                         : "rule");
    INGOT_TRY_VOID(add_key(source, rule, keys));
  }
  return {};
}

}  // namespace ingot::huggingface
