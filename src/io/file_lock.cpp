// SPDX-License-Identifier: MIT
#include "io/file_lock.hpp"

#include <cerrno>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

namespace ingot {
namespace {

struct DefaultWait {
  std::mutex mutex;
  LockWait wait;
};
DefaultWait& default_wait() {
  static DefaultWait wait;
  return wait;
}

}  // namespace

void set_lock_wait(LockWait wait) {
  const std::lock_guard guard(default_wait().mutex);
  default_wait().wait = std::move(wait);
}

LockWait lock_wait() {
  const std::lock_guard guard(default_wait().mutex);
  return default_wait().wait;
}

}  // namespace ingot

namespace ingot::io {
namespace {

constexpr std::chrono::milliseconds pause{10};

/// Waits between attempts to lock, up to the time limit.
class Waiter {
 public:
  Waiter(const std::string& path, const LockWait& wait)
      : path_(path), wait_(wait), deadline_(std::chrono::steady_clock::now() + wait.limit) {}

  /// Waits for a moment; fails when the time is over.
  Result<void> pause_for(std::string holder) {
    const Error error{Errc::file_in_use, Error::no_offset, path_,
                      holder.empty() ? "" : "locked by " + std::move(holder)};
    if (std::chrono::steady_clock::now() >= deadline_) return Failure(Error(error));
    if (!has_told_ && wait_.on_wait) wait_.on_wait(error);
    has_told_ = true;
    std::this_thread::sleep_for(pause);
    return {};
  }

 private:
  const std::string& path_;
  const LockWait& wait_;
  std::chrono::steady_clock::time_point deadline_;
  bool has_told_ = false;
};

}  // namespace

Result<void> lock(int descriptor, LockKind kind, const std::string& path, const LockWait& wait) {
  Waiter waiter(path, wait);
  while (try_lock(descriptor, kind) == LockAttempt::busy) {
    INGOT_TRY_VOID(waiter.pause_for(system::describe_holder(descriptor)));
  }
  return {};
}

Result<FileDescriptor> open_locked(const std::string& path, system::Access access,
                                   const LockWait& wait) {
  Waiter waiter(path, wait);
  for (;;) {
    std::string holder;
    {
      FileDescriptor file(system::open_file(path, access, system::never_waits));
      // EWOULDBLOCK: the holder has a lease for a moment, to see whether nobody else has the file
      // open.
      if (!file.is_open() && errno != EWOULDBLOCK) return fail_with_errno(errno, {}, "open it");
      if (file.is_open()) {
        INGOT_TRY_VOID(size_of_regular(file.get(), {}).transform([](std::uint64_t) {}));
        if (try_lock(file.get()) != LockAttempt::busy) {
          if (is_named(file.get(), path)) return file;
          continue;  // the holder has put another file in its place
        }
        holder = system::describe_holder(file.get());
      }
    }
    INGOT_TRY_VOID(waiter.pause_for(std::move(holder)));
  }
}

Result<FileDescriptor> lock_older(const std::string& path, const LockWait& wait) {
  Result<FileDescriptor> locked = open_locked(path, system::Access::read, wait);
  if (locked || locked.error().code == Errc::file_in_use) return locked;
  return FileDescriptor();
}

Result<FileDescriptor> lock_directory(const std::string& directory, const LockWait& wait,
                                      LockKind kind) {
  FileDescriptor folder(system::open_folder(directory));
  // A folder may be writable and not readable; files get their names there without a lock.
  if (folder.is_open()) INGOT_TRY_VOID(lock(folder.get(), kind, directory, wait));
  return folder;
}

bool is_named(int descriptor, const std::string& path) noexcept {
  system::FileFacts file;
  system::FileFacts named;
  return system::look_at(descriptor, file) && system::look_at(path, named) &&
         file.is_same_file(named);
}

}  // namespace ingot::io
