// SPDX-License-Identifier: MIT
#include "io/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <sstream>
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

/// The name of a program, which it may have chosen itself.
std::string program_of(long process) {
  std::string name;
  std::getline(std::ifstream("/proc/" + std::to_string(process) + "/comm"), name);
  return name;
}

}  // namespace

LockAttempt try_lock(int descriptor, LockKind kind) noexcept {
  const int operation = kind == LockKind::exclusive ? LOCK_EX : LOCK_SH;
  while (::flock(descriptor, operation | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return LockAttempt::busy;
    if (errno != EINTR) return LockAttempt::no_locks_here;
  }
  return LockAttempt::locked;
}

Result<void> lock(int descriptor, LockKind kind, const std::string& path, const LockWait& wait) {
  Waiter waiter(path, wait);
  while (try_lock(descriptor, kind) == LockAttempt::busy) {
    INGOT_TRY_VOID(waiter.pause_for(describe_holder(descriptor)));
  }
  return {};
}

void unlock(int descriptor) noexcept { ::flock(descriptor, LOCK_UN); }

Result<FileDescriptor> open_locked(const std::string& path, int access, const LockWait& wait) {
  Waiter waiter(path, wait);
  for (;;) {
    std::string holder;
    {
      FileDescriptor file(::open(path.c_str(), access | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
      // EWOULDBLOCK: the holder has a lease for a moment, to see whether nobody else has the file
      // open.
      if (!file.is_open() && errno != EWOULDBLOCK) return fail_with_errno(errno, {}, "open it");
      if (file.is_open()) {
        INGOT_TRY_VOID(size_of_regular(file.get(), {}).transform([](std::uint64_t) {}));
        if (try_lock(file.get()) != LockAttempt::busy) {
          if (is_named(file.get(), path)) return file;
          continue;  // the holder has put another file in its place
        }
        holder = describe_holder(file.get());
      }
    }
    INGOT_TRY_VOID(waiter.pause_for(std::move(holder)));
  }
}

Result<FileDescriptor> lock_older(const std::string& path, const LockWait& wait) {
  Result<FileDescriptor> locked = open_locked(path, O_RDONLY, wait);
  if (locked || locked.error().code == Errc::file_in_use) return locked;
  return FileDescriptor();
}

Result<FileDescriptor> lock_directory(const std::string& directory, const LockWait& wait,
                                      LockKind kind) {
  FileDescriptor folder(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // A folder may be writable and not readable; files get their names there without a lock.
  if (folder.is_open()) INGOT_TRY_VOID(lock(folder.get(), kind, directory, wait));
  return folder;
}

bool is_named(int descriptor, const std::string& path) noexcept {
  struct stat file {};
  struct stat named {};
  return ::fstat(descriptor, &file) == 0 && ::stat(path.c_str(), &named) == 0 &&
         file.st_dev == named.st_dev && file.st_ino == named.st_ino;
}

std::string describe_holder(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return {};
  // A line looks like this: 1: FLOCK ADVISORY WRITE 4711 fe:00:1234567 0 EOF
  std::array<char, 64> place;
  std::snprintf(place.data(), place.size(), "%02x:%02x:%llu", major(status.st_dev),
                minor(status.st_dev), static_cast<unsigned long long>(status.st_ino));
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, kind, strictness, access, where;
    long process = 0;
    words >> number >> kind >> strictness >> access >> process >> where;
    if (kind != "FLOCK" || where != place.data() || process <= 0) continue;
    const std::string program = program_of(process);
    return (program.empty() ? "" : program + ", ") + "process " + std::to_string(process);
  }
  return {};
}

}  // namespace ingot::io
