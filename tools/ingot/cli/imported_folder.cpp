// SPDX-License-Identifier: MIT
#include "cli/imported_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <ingot/check_folder.hpp>
#include <ingot/store.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/model_files.hpp"

namespace ingot::cli {

namespace fs = std::filesystem;

namespace {

/// A form of a model folder: the file that describes it, and how names of its weights begin.
struct FolderForm {
  const char* config;
  std::string_view weights;
};

constexpr FolderForm model_form = {"config.json", "model"};
constexpr FolderForm mistral_form = {"params.json", "consolidated"};
constexpr FolderForm adapter_form = {"adapter_config.json", "adapter_model"};

/// The files of weights directly in a folder whose names begin so.
std::vector<std::string> list_weights(const FolderPlace& place, std::string_view begin) {
  std::vector<std::string> weights;
  const auto names = place.store->list(place.path);
  if (!names) return weights;
  for (const std::string& name : *names) {
    const std::string file = fs::path(name).filename().generic_string();
    if (file.starts_with(begin) && file.ends_with(".safetensors")) weights.push_back(name);
  }
  return weights;
}

Result<FolderPlace> open_place(Console& console, const std::string& folder) {
  if (!console.remote().is_repository(folder)) return FolderPlace{&file_system(), folder, {}};
  INGOT_TRY(RemoteFolder found, console.remote().open_folder(console, folder));
  return FolderPlace{found.store, {}, std::move(found.name)};
}

/// The form of a folder with weights as safetensors; the last one if it has no such form.
const FolderForm& form_of(const FolderPlace& place) {
  for (const FolderForm* form : {&model_form, &mistral_form}) {
    if (place.has(form->config) && !list_weights(place, form->weights).empty()) return *form;
  }
  return adapter_form;
}

bool has_model(const FolderPlace& place) { return &form_of(place) != &adapter_form; }

bool has_adapter(const FolderPlace& place) {
  return place.has(adapter_form.config) && !list_weights(place, adapter_form.weights).empty();
}

bool has_file(const std::string& folder, const char* file) {
  std::error_code ignored;
  return !folder.empty() && fs::is_regular_file(fs::path(folder) / file, ignored);
}

}  // namespace

bool is_model_folder(const std::string& path) {
  return has_file(path, model_form.config) || has_file(path, mistral_form.config);
}

bool has_model_to_import(const std::string& path) {
  return is_model_folder(path) && has_model({&file_system(), path});
}

bool is_model_to_import(Console& console, const std::string& argument) {
  if (!console.remote().is_repository(argument)) return is_model_folder(argument);
  const auto place = find_folder(console, argument);
  return place && has_model(*place);
}

bool is_adapter_folder(const std::string& path) { return has_file(path, adapter_form.config); }

bool FolderPlace::has(const std::string& file) const {
  const auto names = store->list(path);
  return names && std::any_of(names->begin(), names->end(), [&](const std::string& listed) {
           return fs::path(listed).filename() == file;
         });
}

Result<FolderPlace> find_folder(Console& console, const std::string& folder) {
  INGOT_TRY(FolderPlace place, open_place(console, folder));
  if (!place.name || has_model(place) || has_adapter(place)) return place;
  return fail(Errc::import_refused, folder,
              "the repository holds no config.json with weights as safetensors");
}

bool is_remote_folder(Console& console, const std::string& argument) {
  return console.remote().is_repository(argument) && find_folder(console, argument).has_value();
}

Result<std::optional<FolderPlace>> find_remote_model(Console& console,
                                                     const std::string& argument) {
  if (!console.remote().is_repository(argument)) return std::nullopt;
  INGOT_TRY(FolderPlace place, open_place(console, argument));
  if (!has_model_to_import(*place.store, place.path)) return std::nullopt;
  return place;
}

Result<void> prepare_weights(Console& console, const std::string& folder, std::uint64_t passes) {
  if (!console.remote().is_repository(folder)) return {};
  INGOT_TRY(const FolderPlace place, find_folder(console, folder));
  // Files are read in the order of the names of their tensors, which is that of their data.
  return console.remote().prepare_files(console, folder,
                                        list_weights(place, form_of(place).weights), passes);
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
  if (!is_model_to_import(console, path)) return console.open_stored(path, FileAccess::read);
  INGOT_TRY(import, plan_folder(console, path, options));
  return import->open_model();
}

Result<void> before_reading(Console& console, const std::string& path, const Model& model,
                            const Import* import, std::uint64_t passes) {
  return import != nullptr ? prepare_weights(console, path, passes)
                           : console.before_reading(path, model, passes);
}

bool is_file_of_folder(const std::string& folder, const std::string& path) {
  std::error_code ignored;
  if (is_model_name(path) || !fs::is_regular_file(path, ignored)) return false;
  const fs::path parent = fs::path(path).parent_path();
  return is_same_file(parent.empty() ? "." : parent.generic_string(), folder);
}

}  // namespace ingot::cli
