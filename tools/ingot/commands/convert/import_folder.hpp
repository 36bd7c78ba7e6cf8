// SPDX-License-Identifier: MIT
// `ingot convert FOLDER OUT.gguf`: the import of a model folder.
#pragma once

#include <ingot/convert.hpp>
#include <ingot/import.hpp>
#include <string>

#include "cli/console.hpp"

namespace ingot::cli {

struct FolderConversion {
  std::string in;             ///< The folder.
  std::string out;            ///< A file, a folder, or a name with {ftype} or {FTYPE}.
  std::string type;           ///< If empty or "auto", the folder decides.
  std::string metadata_file;  ///< May be empty.
  std::string base;           ///< The folder of the base model, for an adapter.
  std::string shard;          ///< "I/N"; empty: all.
  bool only_plan = false;
  ImportOptions import;
};

/// @param convert  has the bytes of each shard at most, if it is not one file, and says whether
///                 outputs that exist are replaced.
[[nodiscard]] ExitCode import_folder(const FolderConversion& conversion,
                                     const ConvertOptions& convert, Console& console);

}  // namespace ingot::cli
