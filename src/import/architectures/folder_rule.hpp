// SPDX-License-Identifier: MIT
// Reads a rule of folders from its JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "import/architectures/architecture_rules.hpp"
#include "ingot/error.hpp"

namespace ingot::hf {

/// {"when": EXPRESSION, "class": NAME, "tokenizer": NAME, "members": [NAME],
///  "names": {KIND: NAME}, "set": {NAME: EXPRESSION}}
[[nodiscard]] Result<FolderRule> folder_rule(const nlohmann::ordered_json& value);

}  // namespace ingot::hf
