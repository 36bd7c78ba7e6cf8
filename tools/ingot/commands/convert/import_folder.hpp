// SPDX-License-Identifier: MIT
// `ingot convert FOLDER OUT.gguf`: the import of a model folder.
#pragma once

#include <ingot/import.hpp>
#include <string>

#include "cli/console.hpp"

namespace ingot::cli {

struct FolderConversion {
  std::string folder;
  std::string out;            ///< A file, a folder, or a name with {ftype} or {FTYPE}.
  std::string type;           ///< Empty or "auto": by the folder.
  std::string metadata_file;  ///< May be empty.
  ImportOptions options;
  bool only_plan = false;
  bool replace = false;
};

/// Whether a path is a folder with a config.json.
[[nodiscard]] bool is_model_folder(const std::string& path);

[[nodiscard]] ExitCode import_folder(const FolderConversion& conversion, Console& console);

}  // namespace ingot::cli
