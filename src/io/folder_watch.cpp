// SPDX-License-Identifier: MIT
#include "io/folder_watch.hpp"

#include "ingot/lock_wait.hpp"
#include "io/file_lock.hpp"
#include "io/file_stamp.hpp"
#include "io/in_place_file.hpp"
#include "system/files.hpp"

namespace ingot::io {
namespace {

/// The stamp of a folder in which no process is naming a set of files. Nothing if a process is, or
/// if the folder changed within this tick, as stamps are only as exact as a tick.
std::optional<FileStamp> quiet_stamp(const std::string& folder) {
  const FileDescriptor opened(system::open_folder(folder));
  if (!opened.is_open() || try_lock(opened.get(), LockKind::shared) == LockAttempt::busy) return {};
  const auto stamp = stamp_of(opened.get());
  return stamp && is_settled(*stamp) ? stamp : std::nullopt;
}

/// Waits until no process is naming a set of files. Files are opened without a lock on the folder,
/// because the holder of a lock on a file may wait for the folder.
bool wait_for_quiet(const std::string& folder) {
  const auto naming = lock_directory(folder, lock_wait(), LockKind::shared);
  return naming && naming->is_open() && settled_stamp(naming->get());
}

}  // namespace

void call_settled(const std::string& path, const std::function<bool()>& open) {
  constexpr int tries = 5;
  system::FileFacts facts;
  const bool is_folder = system::look_at(path, facts) && facts.kind == system::FileKind::folder;
  const std::string folder = is_folder ? path : directory_of(path);
  for (int i = 1;; ++i) {
    const auto before = quiet_stamp(folder);
    if (open() || i == tries || (before && quiet_stamp(folder) == before)) return;
    if (!wait_for_quiet(folder)) return;
  }
}

}  // namespace ingot::io
