// SPDX-License-Identifier: MIT
// Models in folders: which files they are.
#pragma once

#include <cstdint>
#include <functional>
#include <ingot/model.hpp>
#include <string>
#include <vector>

#include "cli/console.hpp"

namespace ingot::cli {

[[nodiscard]] bool is_folder(const std::string& path);

/// Whether a file is named as a model: NAME.gguf.
[[nodiscard]] bool is_model_name(const std::string& path);

/// Counts of a folder and the folders below it.
struct FolderCounts {
  std::uint64_t models = 0;   ///< Files named as models, or by a digest; a set of shards is one.
  std::uint64_t skipped = 0;  ///< Models under other names, and links to folders.
  std::uint64_t others = 0;   ///< All other files.
};

using UseModel = std::function<bool(const std::string& file)>;
/// Whether the folder itself is a model, which was used: then its other files are parts of it.
using UseFolder = std::function<bool(const std::string& folder)>;
using SkipFile = std::function<void(const std::string& file, const std::string& reason)>;

/// Calls use(file) for each model below a folder, by name: files that end in .gguf, of a set of
/// shards only the first that is there, and last the GGUF files whose name is a digest, as in the
/// stores of Ollama and of hubs, unless a link to them was among those; and skip(file, reason) for
/// models that are named otherwise and for links to folders, which are not followed. Stops where
/// `use` returns false. A folder that cannot be read is an error, and sets the status of the
/// program. `use_folder`, if it is set, is asked first for each folder.
FolderCounts for_each_model(Console& console, const std::string& path, const UseModel& use,
                            const SkipFile& skip, const UseFolder& use_folder = {});

/// Whether two paths are one file under whatever names; false if one is not there.
[[nodiscard]] bool is_same_file(const std::string& a, const std::string& b);

/// Whether a path is one of the files of an open model, under whatever name.
[[nodiscard]] bool is_file_of(const Model& model, const std::string& path);

/// The file, or all shards of its set that are in its folder, by name; one look at the folder,
/// however many shards the name promises.
[[nodiscard]] std::vector<std::string> files_of_set(const std::string& file);

/// The files, each once; with `takes_sets`, of the files of a set the first one that is named. The
/// name alone makes no set: the shard is opened.
[[nodiscard]] std::vector<std::string> distinct_models(const std::vector<std::string>& files,
                                                       bool takes_sets);

/// The bytes of a file, or of all shards of its set; 0 if that cannot be told.
[[nodiscard]] std::uint64_t model_bytes(const std::string& file);

/// Size and time of a file, as one word; empty if there is none.
[[nodiscard]] std::string stamp_of(const std::string& path);

}  // namespace ingot::cli
