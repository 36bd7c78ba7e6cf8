// SPDX-License-Identifier: MIT
// Check Hugging Face model folders before they are imported (target ingot::import).
#pragma once

#include <string>

#include "ingot/check.hpp"
#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/store.hpp"

namespace ingot {

/// Whether a folder holds a model that `check_folder` can check: config.json or the index of
/// safetensors files, and no GGUF file unless there are safetensors too.
[[nodiscard]] INGOT_EXPORT bool has_model_to_import(const Store& store, const std::string& folder);

/// Checks a model folder: its files, its index, its config.json against the shapes of tensors, its
/// tokenizer against the embeddings. If it can be imported, the model that the import makes is
/// checked as well, by the rules for GGUF. `Finding::file` is the file of the folder, where a
/// finding is about one.
///
/// Without data: reads the small files and the headers of the others. With data: every weight once,
/// with many threads and in bounded memory. `options.is_foreign` means nothing here.
///
/// @return  an error only if the system failed.
[[nodiscard]] INGOT_EXPORT Result<CheckSummary> check_folder(const Store& store,
                                                             const std::string& folder,
                                                             const CheckOptions& options,
                                                             const FindingSink& sink);

}  // namespace ingot
