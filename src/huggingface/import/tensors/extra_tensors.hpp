// SPDX-License-Identifier: MIT
// Tensors that are made of numbers of config.json.
#pragma once

#include <optional>
#include <vector>

#include "huggingface/rules/architecture_rules.hpp"
#include "ingot/error.hpp"

namespace ingot::huggingface {

/// The numbers of an extra tensor; nothing if the rule does not apply.
[[nodiscard]] Result<std::optional<std::vector<float>>> extra_numbers(const ExtraTensorRule& rule,
                                                                      const RuleContext& context);

}  // namespace ingot::huggingface
