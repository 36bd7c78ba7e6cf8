// SPDX-License-Identifier: MIT
// Tensors that are made of numbers of config.json.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "huggingface/rules/architecture_rules.hpp"
#include "ingot/error.hpp"

namespace ingot::huggingface {

/// The positions of a table of sines.
inline constexpr std::uint64_t sine_positions = 1500;

/// The numbers of an extra tensor; nothing if the rule does not apply.
[[nodiscard]] Result<std::optional<std::vector<float>>> extra_numbers(const ExtraTensorRule& rule,
                                                                      const RuleContext& context);

}  // namespace ingot::huggingface
