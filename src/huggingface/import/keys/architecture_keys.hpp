// SPDX-License-Identifier: MIT
// The keys of an architecture by its rules.
#pragma once

#include <span>
#include <string>

#include "huggingface/folder/config.hpp"
#include "huggingface/folder/model_folder.hpp"
#include "huggingface/import/keys/key_plan.hpp"
#include "huggingface/rules/architecture_rules.hpp"
#include "ingot/error.hpp"

namespace ingot::huggingface {

/// The source to which key rules are applied.
struct KeySource {
  const ModelFolder& folder;
  const Config& config;
  const Architecture& architecture;
  std::uint32_t file_type = 0;
  bool as_reference = false;                   ///< ImportOptions::as_reference
  std::span<const NamedShape> tensors = {};    ///< Those of the folder.
  const FolderLookup* lookup = nullptr;        ///< RuleContext::lookup
  const Config* target = nullptr;              ///< RuleContext::target
  const nlohmann::json* generation = nullptr;  ///< RuleContext::generation

  [[nodiscard]] RuleContext context() const {
    return {.config = config,
            .file_type = file_type,
            .as_reference = as_reference,
            .tensors = tensors,
            .lookup = lookup,
            .target = target,
            .generation = generation};
  }
};

/// Sets the keys of `rules`, in order. A key whose value is absent is left out.
[[nodiscard]] Result<void> add_keys(const KeySource& source, std::span<const KeyRule> rules,
                                    KeyPlan& keys);

/// Sets a key to a value of a type: u32, f32, bool, str. A list becomes an array of flags, of
/// int32, or else of float32. Null sets nothing.
[[nodiscard]] Result<void> set_key(KeyPlan& keys, const std::string& key, std::string_view type,
                                   const nlohmann::json& value);

/// Sets the keys of a group that is a function, by its name.
[[nodiscard]] Result<void> add_key_group(const KeySource& source, std::string_view group,
                                         KeyPlan& keys);

}  // namespace ingot::huggingface
