// SPDX-License-Identifier: MIT
#include "ingot/local_models.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "ingot/reference.hpp"
#include "ingot/shard_name.hpp"
#include "io/small_file.hpp"
#include "remote/address/address.hpp"
#include "remote/http/environment.hpp"
#include "remote/places/json_answer.hpp"
#include "remote/places/place.hpp"

namespace ingot {
namespace {

namespace fs = std::filesystem;
using remote::environment;

constexpr std::size_t most_files = 100'000;  // of a store
constexpr std::string_view ollama_host = "registry.ollama.ai";

/// Calls use(file) for each regular file below a folder.
void for_each_file(const fs::path& folder, const std::function<void(const fs::path&)>& use) {
  std::error_code error;
  std::size_t count = 0;
  constexpr auto readable = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator file(folder, readable, error), end;
       !error && file != end && count < most_files; file.increment(error), ++count) {
    std::error_code missing;
    if (file->is_regular_file(missing)) use(file->path());
  }
}

/// Whether a file is a model by its name, and no later shard of one.
bool is_model(const fs::path& file) {
  if (file.extension() != ".gguf") return false;
  const auto shard = parse_shard_name(file.generic_string());
  return !shard || shard->index == 0;
}

/// The models of a store while they are gathered.
class StoreList {
 public:
  explicit StoreList(std::string store) : store_(std::move(store)) {}

  void add_hub_cache(const std::string& cache) {
    std::error_code error;
    std::vector<fs::path> repositories;
    for (fs::directory_iterator entry(cache, error), end; !error && entry != end;
         entry.increment(error)) {
      repositories.push_back(entry->path());
    }
    std::ranges::sort(repositories);
    for (const fs::path& repository : repositories) add_repository(cache, repository);
  }

  void add_ollama(const fs::path& models) {
    const fs::path manifests = models / "manifests";
    for_each_file(manifests, [&](const fs::path& manifest) {
      const fs::path relative = manifest.lexically_relative(manifests);
      const std::vector<std::string> parts(relative.begin(), relative.end());
      if (parts.size() != 4) return;
      const std::string text =
          io::read_small_file(manifest.generic_string(), remote::max_json_bytes);
      const Result<RemoteFile> file = remote::read_manifest(text, manifest.generic_string());
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
      if (!fs::is_regular_file(blob, missing)) return;
      // Two names of a blob are two models: each has its own template and parameters.
      models_.push_back({std::move(name), store_, blob.generic_string(), file->sha256});
    });
  }

  void add_folder(const fs::path& folder) {
    for_each_file(folder, [&](const fs::path& file) {
      if (is_model(file)) take(file.generic_string(), file.generic_string());
    });
  }

  std::vector<LocalModel> finish() && {
    std::ranges::sort(models_, {}, &LocalModel::name);
    return std::move(models_);
  }

 private:
  /// The files of all snapshots; those of the usual branch have names without a commit.
  void add_repository(const std::string& cache, const fs::path& repository) {
    constexpr std::string_view prefix = "models--";
    const std::string name = repository.filename().generic_string();
    const std::size_t end = name.find("--", prefix.size());
    if (!name.starts_with(prefix) || end == std::string::npos) return;
    Reference reference;
    reference.kind = ReferenceKind::hub;
    reference.organisation = name.substr(prefix.size(), end - prefix.size());
    reference.repository = name.substr(end + 2);
    const remote::Place usual = remote::find_snapshot(cache, reference, "main");
    add_snapshot(usual, reference);
    std::error_code error;
    for (fs::directory_iterator entry(repository / "snapshots", error), end_of_list;
         !error && entry != end_of_list; entry.increment(error)) {
      reference.revision = entry->path().filename().generic_string();
      if (reference.revision == usual.commit) continue;
      add_snapshot(remote::find_snapshot(cache, reference, reference.revision), reference);
    }
  }

  void add_snapshot(const remote::Place& snapshot, Reference reference) {
    for (const RemoteFile& file : snapshot.files) {
      if (!is_model(file.name)) continue;
      reference.path = file.name;
      std::error_code missing;
      const std::string blob = fs::canonical(file.local_path, missing).filename().generic_string();
      const std::string digest = remote::parse_sha256(blob);
      const std::string name = reference.display();
      // A name that has to be written otherwise than it is leads nowhere.
      const auto read_back = parse_reference(name);
      const bool is_sound = read_back && read_back->path == reference.path;
      take(is_sound ? name : file.local_path, file.local_path,
           digest.empty() ? std::nullopt : std::optional(digest));
    }
  }

  void take(std::string name, const std::string& path, std::optional<std::string> sha256 = {}) {
    std::error_code missing;
    const std::string file = fs::canonical(path, missing).generic_string();
    if (missing || !seen_.insert(file).second) return;
    models_.push_back({std::move(name), store_, path, std::move(sha256)});
  }

  std::string store_;
  std::vector<LocalModel> models_;
  std::set<std::string> seen_;
};

}  // namespace

LocalStores local_stores() {
  const RemoteOptions remote = remote_options();
  LocalStores stores;
  stores.hub_caches = remote.hub_caches;
  stores.ollama_models = remote.ollama_models;
  const std::string home = environment("HOME");
  if (!home.empty()) {
    stores.lm_studio = {home + "/.lmstudio/models", home + "/.cache/lm-studio/models"};
  }
  std::string llama_cpp = environment("LLAMA_CACHE");
  if (llama_cpp.empty() && !home.empty()) llama_cpp = home + "/.cache/llama.cpp";
  if (!llama_cpp.empty()) stores.llama_cpp = {llama_cpp};
  std::istringstream folders(environment("INGOT_MODELS"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (!folder.empty()) stores.folders.push_back(folder);
  }
  return stores;
}

std::vector<LocalModel> list_local_models(const LocalStores& stores) {
  std::vector<LocalModel> models;
  const auto append = [&](StoreList list) {
    std::ranges::move(std::move(list).finish(), std::back_inserter(models));
  };
  StoreList hub("huggingface");
  for (const std::string& cache : stores.hub_caches) hub.add_hub_cache(cache);
  append(std::move(hub));
  StoreList ollama("ollama");
  if (!stores.ollama_models.empty()) ollama.add_ollama(stores.ollama_models);
  append(std::move(ollama));
  const std::pair<const std::vector<std::string>&, const char*> flat[] = {
      {stores.lm_studio, "lmstudio"}, {stores.llama_cpp, "llama.cpp"}, {stores.folders, "local"}};
  for (const auto& [folders, store] : flat) {
    StoreList list(store);
    for (const std::string& folder : folders) list.add_folder(folder);
    append(std::move(list));
  }
  return models;
}

}  // namespace ingot
