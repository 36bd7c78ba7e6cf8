// SPDX-License-Identifier: MIT
// The JSON files of this folder as texts; cmake/embed_texts.cmake makes the source.
#pragma once

#include <span>

#include "import/architectures/architecture_rules.hpp"

namespace ingot::hf {

[[nodiscard]] std::span<const RuleText> rule_texts();

}  // namespace ingot::hf
