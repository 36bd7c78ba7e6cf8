// SPDX-License-Identifier: MIT
#include "io/left_overs.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "base/hexadecimal.hpp"
#include "base/siphash.hpp"
#include "io/file_lock.hpp"
#include "io/in_place_file.hpp"
#include "system/files.hpp"
#include "system/process.hpp"

namespace ingot::io {
namespace {

constexpr std::size_t max_stem_bytes = 200;  // names have at most 255 bytes
constexpr std::string_view ending = ".tmp";
constexpr std::size_t digit_count = 16;
// The limit for one folder; the next new file finds the others.
constexpr std::size_t max_names = 65'536;

thread_local LeftOvers* used_by_thread = nullptr;

/// The common beginning of the temporary names for a path, without the folder.
std::string stem_of(const std::string& path) {
  return "." + path.substr(path.rfind('/') + 1, max_stem_bytes) + ".";
}

bool is_temporary_name(std::string_view name) {
  if (name.size() < digit_count + ending.size() + 2) return false;
  const std::string_view digits =
      name.substr(name.size() - ending.size() - digit_count, digit_count);
  return name.front() == '.' && name[name.size() - ending.size() - digit_count - 1] == '.' &&
         name.ends_with(ending) && is_hexadecimal(digits, digit_count);
}

std::set<std::string> find_temporary_names(const std::string& directory) {
  std::set<std::string> names;
  // A folder that cannot be listed has no left-overs that could be removed.
  static_cast<void>(system::list_names(directory, [&](const char* name) {
    if (names.size() < max_names && is_temporary_name(name)) names.insert(name);
  }));
  return names;
}

void remove_if_left(const std::string& path) {
  const FileDescriptor file(
      system::open_file(path, system::Access::read, system::never_waits | system::no_links));
  system::FileFacts facts;
  if (!file.is_open() || !system::look_at(file.get(), facts) ||
      try_lock(file.get()) != LockAttempt::locked || !is_named(file.get(), path)) {
    return;
  }
  if (facts.kind == system::FileKind::regular) system::remove_file(path);
  if (facts.kind != system::FileKind::folder) return;
  // Anything but files makes the folder stay.
  system::remove_files_of(file.get());
  system::remove_folder(path);
}

}  // namespace

std::string temporary_name(const std::string& path) {
  static std::atomic<std::uint64_t> used_names{0};
  const std::string unique = path + '/' + std::to_string(system::process_number()) + '/' +
                             std::to_string(used_names.fetch_add(1));
  std::array<char, digit_count + 1> digits;
  std::snprintf(digits.data(), digits.size(), "%016llx",
                static_cast<unsigned long long>(siphash_1_3(process_key(), unique)));
  return path.substr(0, path.rfind('/') + 1) + stem_of(path) + digits.data() + std::string(ending);
}

Result<StagingFolder> StagingFolder::make(const std::string& path) {
  constexpr int tries = 16;
  for (int i = 0; i < tries; ++i) {
    std::string name = temporary_name(path);
    if (!system::make_folder(name, system::Privacy::only_user)) {
      if (errno == EEXIST) continue;
      break;
    }
    FileDescriptor folder(system::open_folder(name, system::no_links));
    if (!folder.is_open()) break;
    // Before it is locked, another process may take the named folder for a left-over.
    if (try_lock(folder.get()) == LockAttempt::busy || !is_named(folder.get(), name)) continue;
    return StagingFolder(std::move(name), std::move(folder));
  }
  return fail_with_errno(errno, path, "make a folder beside the output");
}

StagingFolder::~StagingFolder() {
  if (!folder_.is_open()) return;
  system::remove_files_of(folder_.get());
  system::remove_folder(path_);
}

void LeftOvers::remove(const std::string& path) {
  const std::string directory = directory_of(path);
  const auto [folder, is_new] = names_.try_emplace(directory);
  if (is_new) folder->second = find_temporary_names(directory);
  const std::string stem = stem_of(path);
  for (auto name = folder->second.lower_bound(stem);
       name != folder->second.end() && name->starts_with(stem); ++name) {
    // Longer names belong to files whose names begin alike.
    if (name->size() != stem.size() + digit_count + ending.size()) continue;
    remove_if_left(directory + "/" + *name);
  }
}

LeftOvers::Use::Use(LeftOvers& left_overs) noexcept : before_(used_by_thread) {
  used_by_thread = &left_overs;
}

LeftOvers::Use::~Use() { used_by_thread = before_; }

void remove_left_overs(const std::string& path) {
  LeftOvers own;
  (used_by_thread != nullptr ? *used_by_thread : own).remove(path);
}

}  // namespace ingot::io
