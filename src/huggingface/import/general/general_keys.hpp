// SPDX-License-Identifier: MIT
// The keys `general.*` of a model folder that come from its model card, configuration and name.
#pragma once

#include <cstdint>
#include <string>

#include "huggingface/folder/model_folder.hpp"
#include "huggingface/import/keys/key_plan.hpp"
#include "ingot/error.hpp"
#include "ingot/import_options.hpp"

namespace ingot::huggingface {

/// Parameters of the tensors of the result. As the reference counts them.
struct ParameterCounts {
  std::int64_t total = 0;
  std::int64_t shared = 0;        ///< Outside of the experts.
  std::int64_t expert = 0;        ///< The parameters of one expert in all layers.
  std::int64_t expert_count = 0;  ///< The mean over the tensors of experts; 0 without experts.
};

/// Sets the keys after `general.type`, from `general.sampling.*` to `general.languages`.
[[nodiscard]] Result<void> add_general_keys(const ModelFolder& folder,
                                            const ParameterCounts& counts,
                                            const ImportOptions& options, KeyPlan& keys);

/// The name of the output where none is given, by the keys that `add_general_keys` has set:
/// "Qwen3-0.6B-F16.gguf".
///
/// @param encoding  "F16"
/// @param has_next_layers_only  ImportOptions::next_layers_only; the name tells.
[[nodiscard]] std::string default_file_name(const KeyPlan& keys, std::string_view encoding,
                                            bool has_next_layers_only = false);

}  // namespace ingot::huggingface
