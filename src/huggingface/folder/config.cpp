// SPDX-License-Identifier: MIT
#include "huggingface/folder/config.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "base/strings.hpp"
#include "huggingface/folder/json_text.hpp"
#include "huggingface/folder/refusal.hpp"

namespace ingot::huggingface {
namespace {

using nlohmann::json;

/// Members that hold the configuration of the text model under other names than `text_config`.
constexpr std::array text_model_members = {"llm_config", "lm_config", "language_config", "lfm",
                                           "transformer_layer_config"};

/// Classes whose own name counts, and not that of their text model.
constexpr std::array outer_class_counts = {"StepVL", "Sarashina2Vision", "Exaone4_5",    "Step3p7",
                                           "KimiK3", "DeepseekOCR",      "UnlimitedOCR", "Eagle3"};

const json* member(const json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

const json* first_member(const json& object, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const json* found = member(object, name)) return found;
  }
  return nullptr;
}

/// The configuration of the text model; nullptr if the model is nothing else.
const json* find_text_model(const json& values) {
  const json* text = member(values, "text_config");
  for (const char* name : text_model_members) {
    if (const json* found = member(values, name)) text = found;
  }
  if (const json* thinker = member(values, "thinker_config")) {
    if (const json* found = member(*thinker, "text_config")) text = found;
  }
  return text != nullptr && text->is_object() ? text : nullptr;
}

std::string first_class(const json& values) {
  const json* const classes = member(values, "architectures");
  if (classes == nullptr || !classes->is_array() || classes->empty()) return {};
  return classes->front().is_string() ? classes->front().get<std::string>() : std::string();
}

std::string find_class(const json& values, const json* text_model) {
  std::string name = first_class(values);
  const bool is_outer = std::ranges::any_of(
      outer_class_counts, [&](const char* start) { return name.starts_with(start); });
  if (text_model != nullptr && !is_outer) {
    std::string inner = first_class(*text_model);
    if (!inner.empty()) return inner;
  }
  if (!name.empty()) return name;
  const json* const layer = member(values, "ssm_cfg");
  const json* const kind = layer != nullptr ? member(*layer, "layer") : nullptr;
  return kind != nullptr && kind->is_string() ? kind->get<std::string>() + "ForCausalLM" : "";
}

/// The member `a.b` of the member `a`, or its element of that number; nullptr if there is none.
const json* descend(const json& values, std::string_view path) {
  const json* value = &values;
  while (value != nullptr && !path.empty()) {
    const std::string_view name = take_part(path, '.');
    const auto index = value->is_array() ? parse_number<std::size_t>(name) : std::nullopt;
    value = index && *index < value->size() ? &(*value)[*index] : member(*value, name);
  }
  return value;
}

/// Sets the member `a.b` of the member `a`, which becomes an object if it is none.
void set(json& values, std::string_view path, const json& value) {
  json* place = &values;
  while (!path.empty()) {
    if (!place->is_object()) *place = json::object();
    place = &(*place)[std::string(take_part(path, '.'))];
  }
  *place = value;
}

/// Gives `target[name]` the first of the members of `values` that has a value, if it has none yet.
void settle(json& target, const char* name, const json& values,
            std::initializer_list<const char*> names) {
  if (target.contains(name)) return;
  const json* const found = first_member(values, names);
  if (found != nullptr && !found->is_null()) target[name] = *found;
}

}  // namespace

Result<std::uint64_t> count_of(const json& value, std::string_view name) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (value.is_number_integer() && value.get<std::int64_t>() >= 0) {
    return static_cast<std::uint64_t>(value.get<std::int64_t>());
  }
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (number >= 0 && number < 9e15 && number == std::floor(number)) {
      return static_cast<std::uint64_t>(number);
    }
  }
  return refuse("config.json", std::string(name) + " must be a whole number from 0 on");
}

Result<Config> Config::read(const ModelFolder& folder) {
  INGOT_TRY(const std::string text, folder.read_text(folder.config_file()));
  if (!folder.is_mistral()) return parse(text, folder.locate("config.json"));
  const std::string subject = folder.locate(folder.config_file());
  INGOT_TRY(json values, parse_json(text, subject));
  if (!values.is_object()) return refuse(subject, "an object was expected");
  // These files name no class; the reference converter has one for each of two kinds.
  std::string name = values.contains("moe") ? "Mistral:experts" : "Mistral:dense";
  return of(std::move(values), std::move(name));
}

Result<Config> Config::parse(std::string_view text, const std::string& subject) {
  INGOT_TRY(json values, parse_json(text, subject));
  if (!values.is_object()) return refuse(subject, "an object was expected");
  Config config;
  const json* const text_model = find_text_model(values);
  config.model_class_ = find_class(values, text_model);
  if (config.model_class_.empty()) {
    return refuse(subject, "`architectures` must name the class of the model");
  }
  if (text_model != nullptr) {
    const json overlay = *text_model;
    for (const auto& [name, value] : overlay.items()) values[name] = value;
  }
  if (const json* const kinds = member(values, "layers_block_type"); kinds && kinds->is_array()) {
    values["num_hidden_layers"] = kinds->size();
  }
  config.values_ = std::move(values);
  config.settle_rope();
  return config;
}

Config Config::of(json values, std::string model_class) {
  Config config;
  config.values_ = std::move(values);
  config.model_class_ = std::move(model_class);
  config.settle_rope();
  return config;
}

void Config::settle_rope() {
  const json* root = member(values_, "rope_parameters");
  if (root == nullptr || root->is_null()) root = member(values_, "rope_scaling");
  rope_root_ = root != nullptr && root->is_object() ? *root : json::object();
  if (!rope_root_.contains("full_attention") && !rope_root_.contains("sliding_attention")) {
    json sliding = json::object();
    settle(sliding, "rope_theta", values_,
           {"local_rope_theta", "rope_local_theta", "rope_theta_local", "swa_rope_theta",
            "rope_local_base_freq"});
    if (!sliding.empty()) rope_root_["sliding_attention"] = std::move(sliding);
    settle(rope_root_, "rope_theta", values_,
           {"global_rope_theta", "rope_global_theta", "rope_theta_global", "rope_theta",
            "rotary_emb_base"});
    settle(rope_root_, "rope_type", rope_root_, {"type"});
    settle(rope_root_, "partial_rotary_factor", values_,
           {"partial_rotary_factor", "rope_pct", "rope_percent"});
    settle(rope_root_, "original_max_position_embeddings", values_,
           {"original_max_position_embeddings"});
  }
  const json* const full = member(rope_root_, "full_attention");
  rope_ = full != nullptr && full->is_object() ? *full : rope_root_;
}

const json* Config::find(std::string_view name) const {
  const json* const value = descend(values_, name);
  return value != nullptr && value->is_null() ? nullptr : value;
}

const json* Config::find_member(std::span<const std::string> names) const {
  for (const std::string& name : names) {
    if (const json* const value = descend(values_, name)) return value;
  }
  return nullptr;
}

Result<std::optional<std::uint64_t>> Config::find_count(std::string_view name) const {
  const json* const value = find(name);
  if (value == nullptr) return std::optional<std::uint64_t>();
  INGOT_TRY(const std::uint64_t count, count_of(*value, name));
  return std::optional(count);
}

Result<std::uint64_t> Config::layer_count() const {
  const json* const value = first_member(values_, {"n_layers", "num_hidden_layers", "n_layer",
                                                   "num_layers", "num_transformer_layers"});
  if (value == nullptr) return refuse("config.json", "num_hidden_layers is missing");
  INGOT_TRY(const std::uint64_t layers, count_of(*value, "num_hidden_layers"));
  for (const std::uint64_t count : {layers, extra_layers_}) {
    if (count > max_layers) {
      return refuse("config.json", "it counts " + std::to_string(count) + " layers; at most " +
                                       std::to_string(max_layers) + " are supported");
    }
  }
  return layers + extra_layers_;
}

Config Config::with_extra_layers(std::uint64_t count) const {
  Config config = *this;
  config.extra_layers_ = count;
  return config;
}

Config Config::with(const json& replaced, const json& added) const {
  Config config = *this;
  for (const auto& [name, value] : replaced.items()) set(config.values_, name, value);
  for (const auto& [name, value] : added.items()) {
    if (descend(config.values_, name) == nullptr) set(config.values_, name, value);
  }
  config.settle_rope();
  return config;
}

Config Config::without(std::string_view name) const {
  Config config = *this;
  config.values_.erase(std::string(name));
  return config;
}

}  // namespace ingot::huggingface
