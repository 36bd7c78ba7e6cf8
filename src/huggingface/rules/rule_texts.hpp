// SPDX-License-Identifier: MIT
// The JSON files of this folder as texts; cmake/embed_texts.cmake makes the source.
#pragma once

#include <span>

#include "huggingface/rules/architecture_rules.hpp"

namespace ingot::huggingface {

[[nodiscard]] std::span<const RuleText> rule_texts();

}  // namespace ingot::huggingface
