// SPDX-License-Identifier: MIT
// Files that the hub's programs and Ollama keep on this system: read, never written.

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "io/small_file.hpp"
#include "remote/places/json_answer.hpp"
#include "remote/places/place.hpp"

namespace ingot::remote {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_cached_files = 10'000;

/// A small text file without the blanks behind it.
std::string read_text(const fs::path& path) {
  std::string text = io::read_small_file(path.generic_string(), max_json_bytes);
  while (text.ends_with('\n') || text.ends_with(' ')) text.pop_back();
  return text;
}

/// The files of a snapshot, by name.
std::vector<RemoteFile> list_snapshot(const fs::path& snapshot) {
  std::vector<RemoteFile> files;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(snapshot, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code missing;
    if (!entry->is_regular_file(missing) || files.size() == most_cached_files) continue;
    const std::string name = entry->path().lexically_relative(snapshot).generic_string();
    if (!is_safe_path(name)) continue;
    files.push_back({name, entry->file_size(missing), {}, entry->path().generic_string()});
  }
  std::ranges::sort(files, {}, &RemoteFile::name);
  return files;
}

std::string revision_of(const Reference& reference) {
  return reference.revision.empty() ? "main" : reference.revision;
}

std::optional<Place> find_in_hub_cache(const std::string& cache, const RemoteOptions& options,
                                       const Reference& reference) {
  Place place = find_snapshot(cache, reference, revision_of(reference));
  place.name = reference.path;
  if (place.name.empty()) {
    // Another file could be the usual one if none is named: only the hub knows.
    if (reference.quantization.empty() && !options.is_offline) return std::nullopt;
    const Result<std::string> chosen = choose_file(place.files, reference);
    if (!chosen) return std::nullopt;
    place.name = *chosen;
  }
  const bool is_there = std::ranges::any_of(
      place.files, [&](const RemoteFile& file) { return file.name == place.name; });
  return is_there ? std::optional(std::move(place)) : std::nullopt;
}

std::optional<Place> find_in_ollama(const std::string& models, const Reference& reference) {
  const fs::path folder(models);
  const std::string host = reference.host.empty() ? "registry.ollama.ai" : reference.host;
  if (!is_safe_segment(host) || !reference.digest.empty()) return std::nullopt;
  const fs::path path =
      folder / "manifests" / host / reference.name_space / reference.model / reference.tag;
  const std::string manifest = read_text(path);
  if (manifest.empty()) return std::nullopt;
  Result<RemoteFile> file = read_manifest(manifest, path.generic_string());
  if (!file) return std::nullopt;
  file->name = reference.model + "-" + reference.tag + ".gguf";
  file->local_path = (folder / "blobs" / ("sha256-" + file->sha256)).generic_string();
  std::error_code error;
  if (!fs::is_regular_file(file->local_path, error)) return std::nullopt;
  Place place;
  place.name = file->name;
  place.files = {*std::move(file)};
  place.is_listed = true;
  return place;
}

}  // namespace

Place find_snapshot(const std::string& cache, const Reference& reference,
                    const std::string& revision) {
  const fs::path repository =
      fs::path(cache) / ("models--" + reference.organisation + "--" + reference.repository);
  Place place;
  place.commit = read_text(repository / "refs" / revision);
  if (place.commit.empty()) place.commit = revision;
  if (is_safe_segment(place.commit)) {
    place.files = list_snapshot(repository / "snapshots" / place.commit);
  }
  place.is_listed = true;
  return place;
}

std::optional<Place> find_in_caches(const RemoteOptions& options, const Reference& reference) {
  if (reference.kind == ReferenceKind::registry && !options.ollama_models.empty()) {
    return find_in_ollama(options.ollama_models, reference);
  }
  if (reference.kind != ReferenceKind::hub) return std::nullopt;
  for (const std::string& cache : options.hub_caches) {
    if (auto place = find_in_hub_cache(cache, options, reference)) return place;
  }
  return std::nullopt;
}

std::optional<Place> find_repository_in_caches(const RemoteOptions& options,
                                               const Reference& reference) {
  if (reference.kind != ReferenceKind::hub) return std::nullopt;
  for (const std::string& cache : options.hub_caches) {
    Place place = find_snapshot(cache, reference, revision_of(reference));
    if (!place.files.empty()) return place;
  }
  return std::nullopt;
}

void use_local_copies(const RemoteOptions& options, const Reference& reference, Place& place) {
  if (reference.kind != ReferenceKind::hub || place.commit.empty()) return;
  std::map<std::string, RemoteFile> copies;
  for (const std::string& cache : options.hub_caches) {
    for (RemoteFile& file : find_snapshot(cache, reference, place.commit).files) {
      copies.try_emplace(file.name, std::move(file));
    }
  }
  for (RemoteFile& file : place.files) {
    const auto copy = copies.find(file.name);
    if (copy == copies.end() || copy->second.size_bytes != file.size_bytes) continue;
    file.local_path = copy->second.local_path;
  }
}

}  // namespace ingot::remote
