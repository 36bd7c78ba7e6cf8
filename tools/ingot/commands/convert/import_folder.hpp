// SPDX-License-Identifier: MIT
// `ingot convert FOLDER OUT.gguf`: the import of a model folder.
#pragma once

#include <ingot/convert.hpp>
#include <ingot/import.hpp>
#include <optional>
#include <string>

#include "cli/command.hpp"
#include "cli/console.hpp"

namespace ingot::cli {

struct FolderConversion {
  std::string in;             ///< The folder.
  std::string out;            ///< A file, a folder, or a pattern, as output_path takes it.
  std::string type;           ///< If empty or "auto", the folder decides.
  std::string metadata_file;  ///< May be empty.
  std::string base;           ///< The folder of the base model, for an adapter.
  std::string shard;          ///< "I/N"; empty: all.
  bool only_plan = false;
  bool with_projector = false;  ///< The projector becomes a file of its own beside the model.
  ImportOptions import;
};

/// Declares the options for model folders.
void add_folder_options(CLI::App& command, FolderConversion& conversion);

/// The first option for model folders that is used; empty if none is.
[[nodiscard]] std::string first_folder_option(const FolderConversion& conversion);

/// Makes OUT a folder where it gets two files. Returns the fault of the options for projectors, or
/// an empty text.
[[nodiscard]] std::string resolve_projector(FolderConversion& conversion);

/// What a conversion has written.
struct WrittenModel {
  std::string path;
  TensorType source_type;  ///< The type that most of the weights had.
  TensorType type;
  std::uint64_t tensors = 0;
  std::uint64_t bytes = 0;
  /// With `--type exact`, the tensors that have other values all the same.
  std::optional<std::size_t> rounded_tensors = {};
};

/// The type of most bytes of weights.
[[nodiscard]] TensorType main_type(const Model& model);

/// Prints one line, for people: path, type, the earlier type where digits are lost, tensors, size.
void print_written(Console& console, const WrittenModel& written);

/// @param convert  has the bytes of each shard at most, if it is not one file, and says whether
///                 outputs that exist are replaced.
[[nodiscard]] ExitCode import_folder(const FolderConversion& conversion,
                                     const ConvertOptions& convert, Console& console);

}  // namespace ingot::cli
