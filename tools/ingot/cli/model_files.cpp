// SPDX-License-Identifier: MIT
#include "cli/model_files.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <system_error>
#include <vector>

#include "cli/interrupt.hpp"

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

bool is_model_name(const fs::path& path) {
  std::string extension = path.extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return extension == ".gguf";
}

/// The models of one folder, and the folders in it, both by name.
struct Folder {
  std::vector<std::string> models;
  std::vector<std::string> folders;
};

std::error_code read_folder(const std::string& path, Folder& folder) {
  std::error_code error;
  std::set<std::string> sets;
  std::vector<std::string> files;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_directory(ignored)) {
      if (!entry->is_symlink(ignored)) folder.folders.push_back(entry->path().string());
    } else if (is_model_name(entry->path())) {
      files.push_back(entry->path().string());
    }
  }
  std::sort(files.begin(), files.end());
  std::sort(folder.folders.begin(), folder.folders.end());
  for (std::string& file : files) {
    const std::string set = set_name(file);
    if (set.empty() || sets.insert(set).second) folder.models.push_back(std::move(file));
  }
  return error;
}

}  // namespace

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

void for_each_model(Console& console, const std::string& path,
                    const std::function<bool(const std::string& file)>& use) {
  if (!is_folder(path)) {
    use(path);
    return;
  }
  std::vector<std::string> folders = {path};
  bool is_empty = true;
  while (!folders.empty()) {
    const std::string current = std::move(folders.back());
    folders.pop_back();
    Folder folder;
    if (const std::error_code error = read_folder(current, folder)) {
      console.finish(console.fail(current, Error{Errc::io_error, Error::no_offset, current,
                                                 "cannot read it: " + error.message()}));
      is_empty = false;
    }
    for (const std::string& model : folder.models) {
      is_empty = false;
      if (!use(model)) return;
    }
    folders.insert(folders.end(), folder.folders.rbegin(), folder.folders.rend());
  }
  if (is_empty) console.remark(path, "there is no file that ends in .gguf here");
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;  // of files of which one is not there
  return fs::equivalent(a, b, ignored);
}

bool is_file_of(const Model& model, const std::string& path) {
  return std::ranges::any_of(model.files(),
                             [&](const ModelFile& file) { return is_same_file(file.path, path); });
}

std::uint64_t model_bytes(const std::string& file) {
  std::error_code error;
  const std::string set = set_name(file);
  std::uint64_t total = 0;
  if (!set.empty()) {
    const fs::path folder = fs::path(file).parent_path();
    for (fs::directory_iterator entry(folder.empty() ? fs::path(".") : folder, error), end;
         !error && entry != end; entry.increment(error)) {
      const fs::path path = folder / entry->path().filename();
      if (set_name(path.string()) != set) continue;
      const std::uintmax_t size = entry->file_size(error);
      if (!error) total += size;
    }
    return total;
  }
  const std::uintmax_t size = fs::file_size(file, error);
  return error ? 0 : size;
}

}  // namespace ingot::cli
