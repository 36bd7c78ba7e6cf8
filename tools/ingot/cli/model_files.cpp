// SPDX-License-Identifier: MIT
#include "cli/model_files.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <ingot/check.hpp>
#include <ingot/shard_name.hpp>
#include <ingot/source.hpp>
#include <memory>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/interrupt.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

namespace fs = std::filesystem;

/// "-00001-of-00003.gguf", in bytes.
constexpr std::size_t shard_tail_bytes = 20;

bool is_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// The name of the set that a shard belongs to: prefix and count; empty for other files.
std::string set_name(const std::string& path) {
  if (path.size() < shard_tail_bytes) return {};
  const std::string_view tail = std::string_view(path).substr(path.size() - shard_tail_bytes);
  const bool is_shard = tail[0] == '-' && is_digits(tail.substr(1, 5)) &&
                        tail.substr(6, 4) == "-of-" && is_digits(tail.substr(10, 5));
  if (!is_shard) return {};
  return path.substr(0, path.size() - shard_tail_bytes) + std::string(tail.substr(6));
}

/// Whether a name is a digest, as the stores of hubs and Ollama name what they keep.
bool is_digest_name(const fs::path& path) {
  std::string name = path.filename().generic_string();
  constexpr std::string_view prefix = "sha256-";
  if (name.starts_with(prefix)) name.erase(0, prefix.size());
  return (name.size() == 40 || name.size() == 64) &&
         name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// The content of one folder, by name.
struct Folder {
  std::vector<std::string> models;
  std::vector<std::string> folders;
  std::vector<std::string> targets;  ///< The models behind links.
  std::vector<std::string> stored;   ///< GGUF files with a digest for a name.
  std::vector<std::pair<std::string, std::string>> skipped;  ///< Skipped entries, with the reasons.
  std::uint64_t others = 0;
  bool is_model = false;  ///< Files that are no GGUF are parts of it.
};

/// The first bytes of a file; empty if it cannot be read, and if they are of no model.
std::vector<std::byte> read_model_head(const Source& source) {
  std::vector<std::byte> head(
      static_cast<std::size_t>(std::min<std::uint64_t>(512, source.size_bytes())));
  if (!source.read(0, head) || !is_model_content(head, source.size_bytes())) head.clear();
  return head;
}

/// Adds a file that is not named as a model: to what is skipped if it is one nevertheless.
void add_other_file(const fs::path& path, Folder& folder) {
  constexpr std::string_view magic = "GGUF";
  std::error_code error;
  std::vector<std::byte> head;
  std::uint64_t file_bytes = 0;
  if (fs::is_regular_file(path, error)) {
    if (const auto source = read_file(path.generic_string())) {
      head = read_model_head(**source);
      file_bytes = (*source)->size_bytes();
    }
  }
  if (head.empty()) {
    ++folder.others;
  } else if (is_digest_name(path) && head.size() >= magic.size() &&
             std::memcmp(head.data(), magic.data(), magic.size()) == 0) {
    folder.stored.push_back(path.generic_string());
  } else {
    folder.skipped.emplace_back(path.generic_string(),
                                fmt::format("its name does not end in .gguf; it is {}",
                                            identify_content(head, file_bytes)));
  }
}

/// The name of a file behind all links.
std::string resolved(const std::string& path) {
  std::error_code ignored;
  return fs::canonical(path, ignored).generic_string();
}

void add_entry(const fs::directory_entry& entry, Folder& folder) {
  std::error_code ignored;
  const std::string path = entry.path().generic_string();
  if (entry.is_directory(ignored)) {
    if (entry.is_symlink(ignored)) {
      folder.skipped.emplace_back(path, "it is a link to a folder");
    } else {
      folder.folders.push_back(path);
    }
  } else if (is_model_name(path)) {
    folder.models.push_back(path);
    if (entry.is_symlink(ignored)) folder.targets.push_back(resolved(path));
  } else if (!folder.is_model) {
    add_other_file(entry.path(), folder);
  }
}

/// Keeps only the first shard of each set.
void keep_first_shards(std::vector<std::string>& models) {
  std::set<std::string> sets;
  std::erase_if(models, [&](const std::string& model) {
    const std::string set = set_name(model);
    return !set.empty() && !sets.insert(set).second;
  });
}

std::error_code read_folder(const std::string& path, Folder& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    add_entry(*entry, folder);
  }
  std::sort(folder.models.begin(), folder.models.end());
  std::sort(folder.folders.begin(), folder.folders.end());
  std::sort(folder.skipped.begin(), folder.skipped.end());
  keep_first_shards(folder.models);
  return error;
}

}  // namespace

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool is_model_name(const std::string& path) {
  return lower_case(fs::path(path).extension().generic_string()) == ".gguf";
}

FolderCounts for_each_model(Console& console, const std::string& path, const UseModel& use,
                            const SkipFile& skip, const UseFolder& use_folder) {
  FolderCounts counts;
  std::set<std::string> targets;
  std::vector<std::string> stored;
  std::vector<std::string> folders = {path};
  while (!folders.empty()) {
    const std::string current = std::move(folders.back());
    folders.pop_back();
    Folder folder;
    if (use_folder && use_folder(current)) {
      ++counts.models;
      folder.is_model = true;
    }
    if (const std::error_code error = read_folder(current, folder)) {
      console.finish(console.fail(current, Error{Errc::io_error, Error::no_offset, current,
                                                 "cannot read it: " + error.message()}));
    }
    counts.others += folder.others;
    counts.skipped += folder.skipped.size();
    for (const auto& [file, reason] : folder.skipped) skip(file, reason);
    for (const std::string& model : folder.models) {
      ++counts.models;
      if (!use(model)) return counts;
    }
    folders.insert(folders.end(), folder.folders.rbegin(), folder.folders.rend());
    targets.insert(folder.targets.begin(), folder.targets.end());
    std::ranges::sort(folder.stored);
    stored.insert(stored.end(), folder.stored.begin(), folder.stored.end());
  }
  // What a cache stores was used by its better name where a link has one.
  for (const std::string& model : stored) {
    if (targets.contains(resolved(model))) continue;
    ++counts.models;
    if (!use(model)) return counts;
  }
  return counts;
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;  // one of the files may not exist
  return fs::equivalent(a, b, ignored);
}

bool is_file_of(const Model& model, const std::string& path) {
  return std::ranges::any_of(model.files(),
                             [&](const ModelFile& file) { return is_same_file(file.path, path); });
}

std::vector<std::string> files_of_set(const std::string& file) {
  const std::string set = set_name(file);
  if (set.empty()) return {file};
  std::vector<std::string> files;
  std::error_code error;
  const fs::path folder = fs::path(file).parent_path();
  for (fs::directory_iterator entry(folder.empty() ? fs::path(".") : folder, error), end;
       !error && entry != end; entry.increment(error)) {
    std::string path = (folder / entry->path().filename()).generic_string();
    if (set_name(path) == set) files.push_back(std::move(path));
  }
  std::ranges::sort(files);
  return files;
}

std::vector<std::string> distinct_models(const std::vector<std::string>& files, bool takes_sets) {
  const auto absolute_path = [](const std::string& path) {
    std::error_code ignored;
    return fs::absolute(path, ignored).lexically_normal().generic_string();
  };
  std::vector<std::string> models;
  std::set<std::string> seen;
  for (const std::string& file : files) {
    if (file != "-" && !seen.insert(absolute_path(file)).second) continue;
    models.push_back(file);
    if (!takes_sets || !parse_shard_name(file)) continue;
    const Result<Model> model = Model::open(file, {.access = FileAccess::read});
    if (!model) continue;
    for (const ModelFile& shard : model->files()) seen.insert(absolute_path(shard.path));
  }
  return models;
}

std::uint64_t model_bytes(const std::string& file) {
  std::uint64_t total = 0;
  for (const std::string& path : files_of_set(file)) {
    std::error_code error;
    const std::uintmax_t size = fs::file_size(path, error);
    if (!error) total += size;
  }
  return total;
}

std::string stamp_of(const std::string& path) {
  std::error_code error;
  const std::uint64_t size = fs::file_size(path, error);
  if (error) return {};
  const auto time = fs::last_write_time(path, error).time_since_epoch().count();
  return error ? std::string() : fmt::format("{}@{}", size, time);
}

}  // namespace ingot::cli
