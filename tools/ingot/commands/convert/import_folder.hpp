// SPDX-License-Identifier: MIT
// `ingot convert FOLDER OUT.gguf`: the import of a model folder.
#pragma once

#include <cstdint>
#include <ingot/import.hpp>
#include <string>

#include "cli/console.hpp"

namespace ingot::cli {

struct FolderConversion {
  std::string folder;
  std::string out;            ///< A file, a folder, or a name with {ftype} or {FTYPE}.
  std::string type;           ///< Empty or "auto": by the folder.
  std::string metadata_file;  ///< May be empty.
  std::string base;           ///< For an adapter: the folder of its base model.
  ImportOptions options;
  std::uint64_t max_file_bytes = 0;  ///< Of each shard; 0: one file, unless `shard` is set.
  std::string shard;                 ///< "I/N"; empty: all.
  bool only_plan = false;
  bool replace = false;
};

[[nodiscard]] ExitCode import_folder(const FolderConversion& conversion, Console& console);

}  // namespace ingot::cli
