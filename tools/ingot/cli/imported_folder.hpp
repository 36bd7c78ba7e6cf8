// SPDX-License-Identifier: MIT
// Model folders that commands take as if they were GGUF files.
#pragma once

#include <cstdint>
#include <ingot/import.hpp>
#include <memory>
#include <optional>
#include <string>

#include "cli/console.hpp"

namespace ingot::cli {

/// Whether a path is a folder with a config.json, or params.json of Mistral's own form.
[[nodiscard]] bool is_model_folder(const std::string& path);

/// Whether a path is such a folder with weights as safetensors, which an import reads.
[[nodiscard]] bool has_model_to_import(const std::string& path);

/// Whether a path is a folder with an adapter_config.json.
[[nodiscard]] bool is_adapter_folder(const std::string& path);

/// The place of a model folder's files: on this system, or in a repository of a hub.
struct FolderPlace {
  const Store* store = nullptr;
  std::string path = {};
  std::optional<std::string> name = {};  ///< The name of the repository.

  /// Whether a file is directly in it.
  [[nodiscard]] bool has(const std::string& file) const;
};

/// Finds a folder. Errc::import_refused for a repository that is no model folder; errors of listing
/// its files.
[[nodiscard]] Result<FolderPlace> find_folder(Console& console, const std::string& folder);

/// Whether an argument means a repository with the folder of a model or of an adapter.
[[nodiscard]] bool is_remote_folder(Console& console, const std::string& argument);

/// Whether an argument means the folder of a model, on this system or in a repository.
[[nodiscard]] bool is_model_to_import(Console& console, const std::string& argument);

/// The repository that an argument means, if `check_folder` can check it.
[[nodiscard]] Result<std::optional<FolderPlace>> find_remote_model(Console& console,
                                                                   const std::string& argument);

/// Prepares `passes` readings of the weights of a folder, as Console::before_reading does.
[[nodiscard]] Result<void> prepare_weights(Console& console, const std::string& folder,
                                           std::uint64_t passes = 1);

/// Plans the import of a folder, with the threads of the console; remarks go to stderr.
///
/// @param base  of a folder with an adapter the folder of its base model, else empty.
[[nodiscard]] Result<std::unique_ptr<Import>> plan_folder(Console& console,
                                                          const std::string& folder,
                                                          ImportOptions options,
                                                          const std::string& base = {});

/// Opens a model to be read from its begin to its end. That of a model folder is made while it is
/// read, by `import`, which must outlive it.
[[nodiscard]] Result<Model> open_model_or_folder(Console& console, const std::string& path,
                                                 const ImportOptions& options,
                                                 std::unique_ptr<Import>& import);

/// Prepares reading such a model; `import` is none for other models than those of folders.
[[nodiscard]] Result<void> before_reading(Console& console, const std::string& path,
                                          const Model& model, const Import* import,
                                          std::uint64_t passes = 1);

/// Whether a path is a file of the model folder, which no output may replace: GGUF files beside the
/// others are none.
[[nodiscard]] bool is_file_of_folder(const std::string& folder, const std::string& path);

}  // namespace ingot::cli
