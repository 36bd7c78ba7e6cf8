// SPDX-License-Identifier: MIT
// config.json from the keys of a model: the rules of the import, read backwards.
#pragma once

#include <nlohmann/json.hpp>

#include "huggingface/folder/config.hpp"
#include "huggingface/rules/architecture_rules.hpp"
#include "ingot/error.hpp"
#include "ingot/model.hpp"

namespace ingot::huggingface {

/// The rules that a model is written by. Borrowed.
struct FolderFacts {
  const Model& model;
  const RuleTable& table;
  const Architecture& architecture;
};

struct FolderConfig {
  nlohmann::ordered_json values;     ///< config.json, but for the ids of special tokens.
  const FolderRule* rule = nullptr;  ///< The rule of the architecture.
};

/// A key gives the member whose name its rule computes it from; the numbers of RoPE are found by
/// trying which of them give the factors that the model holds. Keys whose rules compute more have
/// no member: they follow from the others, or else cannot come back.
///
/// @return  Errc::import_refused if no rule of folders applies to the model.
[[nodiscard]] Result<FolderConfig> make_config(const FolderFacts& facts);

/// The configuration as the import reads it.
[[nodiscard]] Result<Config> read_config(const nlohmann::ordered_json& values);

/// A value as JSON: numbers, flags, texts and lists of them. Null for anything else.
[[nodiscard]] nlohmann::ordered_json json_of(const Value& value);

}  // namespace ingot::huggingface
