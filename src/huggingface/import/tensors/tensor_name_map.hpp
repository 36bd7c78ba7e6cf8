// SPDX-License-Identifier: MIT
// The names in GGUF of the tensors of model folders.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "huggingface/rules/architecture_rules.hpp"

namespace ingot::huggingface {

/// The names of the kinds of tensors that an architecture has; of kinds with one name in common the
/// last one counts. Immutable; thread-safe.
class TensorNameMap {
 public:
  TensorNameMap(const RuleTable& table, const Architecture& architecture,
                std::uint64_t layer_count);

  /// The name in GGUF, with the `.weight` or `.bias` of `name`; nothing if there is none.
  [[nodiscard]] std::optional<std::string> find(std::string_view name) const;

 private:
  [[nodiscard]] std::optional<std::string> find_base(std::string_view name) const;

  std::unordered_map<std::string, std::string> names_;
  std::uint64_t layer_count_;
};

}  // namespace ingot::huggingface
