// SPDX-License-Identifier: MIT
#include "huggingface/rules/architecture_rules.hpp"

#include <algorithm>

namespace ingot::huggingface {

Result<Config> settled_config(Config config, const Architecture& architecture,
                              std::span<const NamedShape> tensors) {
  for (const auto& [name, expression] : architecture.config) {
    INGOT_TRY(const nlohmann::json value,
              expression.evaluate({.config = config, .tensors = tensors}));
    config = config.with({{name, value}}, {});
  }
  if (!architecture.extra_layers.is_set()) return config;
  INGOT_TRY(const nlohmann::json extra,
            architecture.extra_layers.evaluate({.config = config, .tensors = tensors}));
  INGOT_TRY(const std::uint64_t count, count_of(extra, "the number of extra layers"));
  return config.with_extra_layers(count);
}

bool fits_one(std::span<const NamePattern> patterns, std::string_view name) {
  return std::ranges::any_of(
      patterns, [&](const NamePattern& pattern) { return pattern.match(name).has_value(); });
}

}  // namespace ingot::huggingface
