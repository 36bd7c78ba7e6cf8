// SPDX-License-Identifier: MIT
#include "ingot/local_models.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "ingot/reference.hpp"
#include "ingot/shard_name.hpp"
#include "io/small_file.hpp"
#include "remote/address/address.hpp"
#include "remote/places/json_answer.hpp"
#include "remote/places/place.hpp"

namespace ingot {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_files = 100'000;  // of a store
constexpr std::string_view ollama_host = "registry.ollama.ai";

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

/// Calls use(file) for each regular file below a folder.
void for_each_file(const fs::path& folder, const std::function<void(const fs::path&)>& use) {
  std::error_code error;
  std::size_t count = 0;
  for (fs::recursive_directory_iterator file(folder, error), end;
       !error && file != end && count < most_files; file.increment(error), ++count) {
    std::error_code missing;
    if (file->is_regular_file(missing)) use(file->path());
  }
}

/// Whether a file is a model by its name, and no later shard of one.
bool is_model(const fs::path& file) {
  if (file.extension() != ".gguf") return false;
  const auto shard = parse_shard_name(file.string());
  return !shard || shard->index == 0;
}

/// The catalogue while it is gathered.
class Catalogue {
 public:
  void add_hub_cache(const fs::path& cache) {
    std::error_code error;
    std::vector<fs::path> repositories;
    for (fs::directory_iterator entry(cache, error), end; !error && entry != end;
         entry.increment(error)) {
      repositories.push_back(entry->path());
    }
    std::ranges::sort(repositories);
    for (const fs::path& repository : repositories) add_repository(repository);
  }

  void add_ollama(const fs::path& models) {
    const fs::path manifests = models / "manifests";
    for_each_file(manifests, [&](const fs::path& manifest) {
      const fs::path relative = manifest.lexically_relative(manifests);
      const std::vector<std::string> parts(relative.begin(), relative.end());
      if (parts.size() != 4) return;
      const std::string text = io::read_small_file(manifest.string(), remote::max_json_bytes);
      const Result<RemoteFile> file = remote::read_manifest(text, manifest.string());
      if (!file) return;
      Reference reference;
      reference.kind = ReferenceKind::registry;
      if (parts[0] != ollama_host) reference.host = parts[0];
      reference.name_space = parts[1];
      reference.model = parts[2];
      reference.tag = parts[3];
      const fs::path blob = models / "blobs" / ("sha256-" + file->sha256);
      std::string name = reference.display();
      if (reference.tag == "latest") name.resize(name.size() - std::string_view(":latest").size());
      std::error_code missing;
      if (fs::is_regular_file(blob, missing)) {
        take({std::move(name), "ollama", blob.string(), file->sha256});
      }
    });
  }

  void add_folder(const fs::path& folder, const std::string& store) {
    for_each_file(folder, [&](const fs::path& file) {
      if (is_model(file)) take({file.string(), store, file.string(), {}});
    });
  }

  std::vector<LocalModel> finish() && { return std::move(models_); }

  /// Sorts what was added since the last call.
  void finish_store() {
    const auto begin = models_.begin() + static_cast<std::ptrdiff_t>(finished_count_);
    std::ranges::sort(begin, models_.end(), {}, &LocalModel::name);
    finished_count_ = models_.size();
  }

 private:
  /// The files of all snapshots; those of the usual branch have names without a commit.
  void add_repository(const fs::path& repository) {
    constexpr std::string_view prefix = "models--";
    const std::string name = repository.filename().string();
    const std::size_t end = name.find("--", prefix.size());
    if (!name.starts_with(prefix) || end == std::string::npos) return;
    Reference reference;
    reference.kind = ReferenceKind::hub;
    reference.organisation = name.substr(prefix.size(), end - prefix.size());
    reference.repository = name.substr(end + 2);
    std::string usual = io::read_small_file((repository / "refs" / "main").string(), 256);
    while (usual.ends_with('\n')) usual.pop_back();
    add_snapshot(repository / "snapshots" / usual, reference);
    std::error_code error;
    for (fs::directory_iterator entry(repository / "snapshots", error), end_of_list;
         !error && entry != end_of_list; entry.increment(error)) {
      reference.revision = entry->path().filename().string();
      if (reference.revision != usual) add_snapshot(entry->path(), reference);
    }
  }

  void add_snapshot(const fs::path& snapshot, Reference reference) {
    for_each_file(snapshot, [&](const fs::path& file) {
      if (!is_model(file)) return;
      reference.path = file.lexically_relative(snapshot).generic_string();
      std::error_code missing;
      const std::string blob = fs::canonical(file, missing).filename().string();
      const bool is_digest = blob.size() == 64 && blob.find_first_not_of(hex_digits) == blob.npos;
      const std::string name = reference.display();
      // A name that has to be written otherwise than it is leads nowhere.
      const auto read_back = parse_reference(name);
      const bool is_sound = read_back && read_back->path == reference.path;
      take({is_sound ? name : file.string(), "huggingface", file.string(),
            is_digest ? std::optional(blob) : std::nullopt});
    });
  }

  void take(LocalModel model) {
    std::error_code missing;
    const std::string file = fs::canonical(model.path, missing).string();
    if (!missing && seen_.emplace(model.store, file).second) models_.push_back(std::move(model));
  }

  static constexpr std::string_view hex_digits = "0123456789abcdef";

  std::vector<LocalModel> models_;
  std::size_t finished_count_ = 0;
  std::set<std::pair<std::string, std::string>> seen_;  ///< Stores, and files of them.
};

}  // namespace

LocalStores local_stores() {
  const RemoteOptions remote = remote_options();
  LocalStores stores;
  stores.hub_caches = remote.hub_caches;
  stores.ollama_models = remote.ollama_models;
  const std::string home = variable("HOME");
  if (!home.empty()) {
    stores.lm_studio = {home + "/.lmstudio/models", home + "/.cache/lm-studio/models"};
  }
  std::string llama_cpp = variable("LLAMA_CACHE");
  if (llama_cpp.empty() && !home.empty()) llama_cpp = home + "/.cache/llama.cpp";
  if (!llama_cpp.empty()) stores.llama_cpp = {llama_cpp};
  std::istringstream folders(variable("INGOT_MODELS"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (!folder.empty()) stores.folders.push_back(folder);
  }
  return stores;
}

std::vector<LocalModel> list_local_models(const LocalStores& stores) {
  Catalogue catalogue;
  for (const std::string& cache : stores.hub_caches) catalogue.add_hub_cache(cache);
  catalogue.finish_store();
  if (!stores.ollama_models.empty()) catalogue.add_ollama(stores.ollama_models);
  catalogue.finish_store();
  const std::pair<const std::vector<std::string>&, const char*> flat[] = {
      {stores.lm_studio, "lmstudio"}, {stores.llama_cpp, "llama.cpp"}, {stores.folders, "local"}};
  for (const auto& [folders, store] : flat) {
    for (const std::string& folder : folders) catalogue.add_folder(folder, store);
    catalogue.finish_store();
  }
  return std::move(catalogue).finish();
}

}  // namespace ingot
