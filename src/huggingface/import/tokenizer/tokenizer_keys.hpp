// SPDX-License-Identifier: MIT
// The keys `tokenizer.*` of a model folder.
#pragma once

#include <string>
#include <vector>

#include "huggingface/folder/config.hpp"
#include "huggingface/folder/model_folder.hpp"
#include "huggingface/import/keys/key_plan.hpp"
#include "ingot/error.hpp"
#include "ingot/import_options.hpp"

namespace ingot::huggingface {

/// Adds the keys of the tokenizer, in their order, to `keys`, which has none of them yet.
///
/// @param architecture  the name in general.architecture, for a key of it that tells of tokens.
/// @param steps    the steps of the architecture's entry, in order: "llama", "spm", "gpt2",
///                 "spm_or_gpt2", "phi3", "bert", "gemma3", "internlm2", "internlm3", "glm4",
///                 "gemma_fim", "no_space_prefix".
/// @param options  `pre` names the value of `tokenizer.ggml.pre`.
/// @param remarks  gets remarks for the user.
[[nodiscard]] Result<void> add_tokenizer_keys(const ModelFolder& folder, const Config& config,
                                              const std::string& architecture,
                                              const std::vector<std::string>& steps,
                                              const ImportOptions& options, KeyPlan& keys,
                                              std::vector<Error>& remarks);

}  // namespace ingot::huggingface
