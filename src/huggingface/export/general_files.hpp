// SPDX-License-Identifier: MIT
// README.md and generation_config.json from the keys `general.*`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "ingot/model.hpp"

namespace ingot::huggingface {

/// A model card: front matter with the facts of the keys, and a line of text. Facts that a name of
/// a folder would fill in, and that the model lacks, are there as empty texts.
[[nodiscard]] std::string make_model_card(const Model& model);

/// Settings of sampling, without the ids of tokens.
[[nodiscard]] nlohmann::ordered_json make_generation_config(const Model& model);

}  // namespace ingot::huggingface
