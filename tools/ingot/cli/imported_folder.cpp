// SPDX-License-Identifier: MIT
#include "cli/imported_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <ingot/store.hpp>
#include <utility>

#include "cli/model_files.hpp"

namespace ingot::cli {

namespace fs = std::filesystem;

bool is_model_folder(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(fs::path(path) / "config.json", ignored);
}

bool is_adapter_folder(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(fs::path(path) / "adapter_config.json", ignored);
}

bool FolderPlace::has(const std::string& file) const {
  const auto names = store->list(path);
  return names && std::any_of(names->begin(), names->end(), [&](const std::string& listed) {
           return fs::path(listed).filename() == file;
         });
}

Result<FolderPlace> find_folder(Console& console, const std::string& folder) {
  if (!console.remote().is_repository(folder)) return FolderPlace{&file_system(), folder, {}};
  INGOT_TRY(const auto found, console.remote().open_folder(console, folder));
  if (found) return FolderPlace{found->store, {}, found->name};
  return fail(Errc::import_refused, folder,
              "the repository holds no config.json with weights as safetensors");
}

bool is_remote_folder(Console& console, const std::string& argument) {
  if (!console.remote().is_repository(argument)) return false;
  const auto found = console.remote().open_folder(console, argument);
  return found && found->has_value();
}

Result<std::unique_ptr<Import>> plan_folder(Console& console, const std::string& folder,
                                            ImportOptions options, const std::string& base) {
  options.thread_count = console.threads();
  INGOT_TRY(const FolderPlace place, find_folder(console, folder));
  if (!options.folder_name) options.folder_name = place.name;
  INGOT_TRY(const FolderPlace base_place, base.empty() ? place : find_folder(console, base));
  INGOT_TRY(auto import, base.empty()
                             ? plan_import(*place.store, place.path, options)
                             : plan_adapter_import(*place.store, place.path, *base_place.store,
                                                   base_place.path, options));
  for (const Error& remark : import->remarks()) {
    console.remark(folder, "note: " + remark.message());
  }
  return import;
}

Result<Model> open_model_or_folder(Console& console, const std::string& path,
                                   const ImportOptions& options, std::unique_ptr<Import>& import) {
  // Reading streams; mapped pages would count as memory of the process.
  if (!is_model_folder(path)) return console.open_model(path, FileAccess::read);
  INGOT_TRY(import, plan_folder(console, path, options));
  return import->open_model();
}

bool is_file_of_folder(const std::string& folder, const std::string& path) {
  std::error_code ignored;
  if (is_model_name(path) || !fs::is_regular_file(path, ignored)) return false;
  const fs::path parent = fs::path(path).parent_path();
  return is_same_file(parent.empty() ? "." : parent.string(), folder);
}

}  // namespace ingot::cli
