// SPDX-License-Identifier: MIT
// Models in folders: which files they are.
#pragma once

#include <cstdint>
#include <functional>
#include <ingot/model.hpp>
#include <string>

#include "cli/console.hpp"

namespace ingot::cli {

[[nodiscard]] bool is_folder(const std::string& path);

/// Calls use(file) for a file; for a folder, for each model below it, by name: files that end in
/// .gguf, of a set of shards only the first that is there. Links to folders are not followed. Stops
/// where `use` returns false. What cannot be read is said, and the status of the program set.
void for_each_model(Console& console, const std::string& path,
                    const std::function<bool(const std::string& file)>& use);

/// Whether two paths are one file under whatever names; false if one is not there.
[[nodiscard]] bool is_same_file(const std::string& a, const std::string& b);

/// Whether a path is one of the files of an open model, under whatever name.
[[nodiscard]] bool is_file_of(const Model& model, const std::string& path);

/// The bytes of a file, or of all shards of its set; 0 if that cannot be told.
[[nodiscard]] std::uint64_t model_bytes(const std::string& file);

}  // namespace ingot::cli
