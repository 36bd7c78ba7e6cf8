// SPDX-License-Identifier: MIT
// The rotary members of config.json, from keys and from tensors of factors.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "ingot/error.hpp"

namespace ingot::huggingface {

struct FolderFacts;

/// Adds `rope_scaling`, and `partial_rotary_factor` where the keys state one, to the members that
/// `config` has so far. What no numbers explain stays out; the tensors of factors are read.
[[nodiscard]] Result<void> add_rope_members(const FolderFacts& facts,
                                            const std::string& model_class,
                                            nlohmann::ordered_json& config);

}  // namespace ingot::huggingface
