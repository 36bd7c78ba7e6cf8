// SPDX-License-Identifier: MIT
#include "formats/bump/bump_config.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "base/ascii.hpp"
#include "base/strings.hpp"
#include "ingot/source.hpp"
#include "io/folder_file.hpp"

namespace ingot::formats {
namespace {

constexpr std::uint64_t max_config_bytes = std::uint64_t{1} << 16;
constexpr std::size_t max_json_depth = 64;

/// Whether a text can stand in keys of a model.
bool is_architecture(const std::string& text) {
  return !text.empty() && text.size() <= 32 && std::ranges::all_of(text, [](char c) {
    return is_lower_or_digit(c) || c == '_' || c == '-';
  });
}

std::optional<float> number_of(const nlohmann::json& config, const char* key) {
  const auto found = config.find(key);
  if (found == config.end() || !found->is_number()) return std::nullopt;
  const auto number = static_cast<float>(found->get<double>());
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

std::optional<std::uint64_t> count_of(const nlohmann::json& config, const char* key) {
  const auto found = config.find(key);
  if (found == config.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<std::uint64_t>();
}

}  // namespace

BumpConfig parse_bump_config(const std::string& text) {
  BumpConfig config;
  if (is_json_deeper(text, max_json_depth)) return config;
  const nlohmann::json parsed = nlohmann::json::parse(text, nullptr, false);
  if (!parsed.is_object()) return config;
  const auto model_type = parsed.find("model_type");
  if (model_type != parsed.end() && model_type->is_string()) {
    const auto& name = model_type->get_ref<const std::string&>();
    if (is_architecture(name)) config.architecture = name;
  }
  config.kv_heads = count_of(parsed, "num_key_value_heads");
  config.feed_forward = count_of(parsed, "intermediate_size");
  config.rope_theta = number_of(parsed, "rope_theta");
  config.epsilon = number_of(parsed, "rms_norm_eps");
  return config;
}

Result<BumpConfig> read_bump_config(const Store& store, const std::string& name) {
  const std::string folder = name.substr(0, name.rfind('/') + 1);
  const Result<std::unique_ptr<Source>> source = io::open_found(store, folder + "config.json");
  if (!source || (*source)->size_bytes() > max_config_bytes) return BumpConfig{};
  std::string text(static_cast<std::size_t>((*source)->size_bytes()), '\0');
  INGOT_TRY_VOID((*source)->read(0, std::as_writable_bytes(std::span(text))));
  return parse_bump_config(text);
}

}  // namespace ingot::formats
