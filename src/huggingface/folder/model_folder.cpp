// SPDX-License-Identifier: MIT
#include "huggingface/folder/model_folder.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "base/messages.hpp"
#include "io/folder_file.hpp"

namespace ingot::huggingface {
namespace {

constexpr std::string_view mistral_config = "params.json";

/// Whether a name stays below the folder: no part is empty, "." or "..".
bool stays_inside(std::string_view name) {
  if (name.empty() || name.find('\0') != name.npos || name.find('\\') != name.npos) return false;
  while (true) {
    const std::size_t slash = name.find('/');
    const std::string_view part = name.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    if (slash == name.npos) return true;
    name.remove_prefix(slash + 1);
  }
}

/// The names without their folders, sorted.
std::vector<std::string> last_parts(const std::vector<std::string>& names) {
  std::vector<std::string> parts;
  parts.reserve(names.size());
  for (const std::string& name : names) {
    parts.push_back(name.substr(name.find_last_of('/') + 1));
  }
  std::ranges::sort(parts);
  return parts;
}

}  // namespace

Result<ModelFolder> ModelFolder::open(const Store& store, std::string path, std::string name) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  ModelFolder folder;
  folder.store_ = &store;
  folder.path_ = std::move(path);
  folder.name_ =
      !name.empty() ? std::move(name) : folder.path_.substr(folder.path_.find_last_of('/') + 1);
  INGOT_TRY(const std::vector<std::string> names, store.list(folder.path_));
  folder.files_ = last_parts(names);
  folder.is_mistral_ = !folder.has("config.json") && folder.has(mistral_config);
  return folder;
}

Result<void> ModelFolder::read_as_mistral() {
  if (!has(mistral_config)) {
    return fail(Errc::import_refused, locate(""), "Mistral's own form needs params.json");
  }
  is_mistral_ = true;
  return {};
}

std::string_view ModelFolder::config_file() const noexcept {
  return is_mistral_ ? mistral_config : "config.json";
}

std::string_view ModelFolder::index_file() const noexcept {
  return is_mistral_ ? "consolidated.safetensors.index.json" : "model.safetensors.index.json";
}

std::string_view ModelFolder::weights_name() const noexcept {
  return is_mistral_ ? "consolidated" : "model";
}

bool ModelFolder::is_weight_file(std::string_view name) const noexcept {
  return name.starts_with(weights_name()) && name.ends_with(".safetensors");
}

std::vector<std::string> ModelFolder::files_in(std::string_view folder) const {
  if (!stays_inside(folder)) return {};
  const auto names = store_->list(path_of(folder));
  return names ? last_parts(*names) : std::vector<std::string>();
}

bool ModelFolder::has(std::string_view file) const {
  const std::size_t slash = file.find_last_of('/');
  if (slash == file.npos) return std::ranges::binary_search(files_, file, std::less<>());
  return std::ranges::binary_search(files_in(file.substr(0, slash)), file.substr(slash + 1),
                                    std::less<>());
}

std::string ModelFolder::path_of(std::string_view file) const {
  return path_.empty() ? std::string(file)
                       : path_ + (path_.back() == '/' ? "" : "/") + std::string(file);
}

std::string ModelFolder::locate(std::string_view file) const {
  return store_->locate(path_of(file));
}

Result<std::unique_ptr<Source>> ModelFolder::open_file(std::string_view file) const {
  if (!stays_inside(file)) {
    return fail(Errc::import_refused, std::string(file), "the name leads out of the model folder");
  }
  return with_subject(locate(file), io::open_in_folder(*store_, path_, std::string(file)));
}

Result<std::string> ModelFolder::read_text(std::string_view file, std::uint64_t max_bytes) const {
  INGOT_TRY(const std::unique_ptr<Source> source, open_file(file));
  if (source->size_bytes() > max_bytes) {
    return fail(Errc::limit_exceeded, locate(file),
                std::to_string(source->size_bytes()) + " bytes; at most " +
                    std::to_string(max_bytes) + " are read");
  }
  std::string text(static_cast<std::size_t>(source->size_bytes()), '\0');
  const auto read = source->read(0, std::as_writable_bytes(std::span(text)));
  INGOT_TRY_VOID(with_subject(locate(file), read));
  return text;
}

}  // namespace ingot::huggingface
