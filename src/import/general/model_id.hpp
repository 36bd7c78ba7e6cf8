// SPDX-License-Identifier: MIT
// What the name of a model says: "org/Base-7B-Instruct-v1.5".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ingot/export.h"

namespace ingot::hf {

/// The parts of a name; those that are not there are not set.
struct ModelId {
  std::string full_name;  ///< All after the organization.
  std::optional<std::string> organization;
  std::optional<std::string> basename;
  std::optional<std::string> finetune;
  std::optional<std::string> version;
  std::optional<std::string> size_label;
};

/// Takes a name apart as the reference converter does.
///
/// @param parameter_count  of the model; 0 if it is unknown; negative for an adapter. A size that
///                         is far from it is a context length.
[[nodiscard]] INGOT_EXPORT ModelId parse_model_id(std::string_view id,
                                                  std::int64_t parameter_count);

/// A name as a title: "base-model 7b v2" is "Base Model 7b v2".
[[nodiscard]] INGOT_EXPORT std::string title_of(std::string_view name);

}  // namespace ingot::hf
