// SPDX-License-Identifier: MIT
#include "cli/imported_folder.hpp"

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

Result<std::unique_ptr<Import>> plan_folder(Console& console, const std::string& folder,
                                            ImportOptions options, const std::string& base) {
  options.thread_count = console.threads();
  const Store& store = file_system();
  INGOT_TRY(auto import, base.empty() ? plan_import(store, folder, options)
                                      : plan_adapter_import(store, folder, store, base, options));
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
