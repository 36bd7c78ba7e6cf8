// SPDX-License-Identifier: MIT
// The recipe of a release: a file of YAML that `ingot publish` reads.
#pragma once

#include <ingot/split.hpp>
#include <string>
#include <vector>

#include "cli/console.hpp"

namespace ingot::cli {

/// A recipe. Paths are relative to the folder of its file there, and here to that of the process.
struct ReleaseRecipe {
  std::string path;        ///< The file itself.
  std::string source;      ///< A GGUF file, a model folder, or a reference.
  std::string output;      ///< The folder to make, without "/" at the end.
  std::string name;        ///< What names of files begin with.
  std::string title;       ///< The heading of the card; empty: by the metadata.
  std::string repository;  ///< ORG/NAME; may be empty.
  std::string license;     ///< Empty: by the metadata; so are the next ones.
  std::string quantized_by;
  std::vector<std::string> base_models;  ///< ORG/NAME of the models that were quantized.
  std::vector<std::string> types;
  std::vector<std::string> imatrix_files;
  std::string results;  ///< A file of `ingot evaluate --json`; may be empty.
  SplitLimits limits;
};

/// Reads a recipe; of a folder its file `release.yaml`. Failures are printed.
[[nodiscard]] ExitCode read_recipe(const std::string& path, Console& console,
                                   ReleaseRecipe& recipe);

}  // namespace ingot::cli
