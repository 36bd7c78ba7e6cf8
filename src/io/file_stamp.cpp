// SPDX-License-Identifier: MIT
#include "io/file_stamp.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "io/file_lock.hpp"

namespace ingot::io {
namespace {

constexpr std::int64_t tick_ns = 10'000'000;  // the longest tick: Linux with 100 ticks a second

std::int64_t nanoseconds(const timespec& time) noexcept {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

FileStamp stamp_from(const struct stat& status) noexcept {
  return {.device = static_cast<std::uint64_t>(status.st_dev),
          .inode = static_cast<std::uint64_t>(status.st_ino),
          .size_bytes = static_cast<std::uint64_t>(status.st_size),
          .modified_ns = nanoseconds(status.st_mtim),
          .changed_ns = nanoseconds(status.st_ctim)};
}

}  // namespace

std::optional<FileStamp> stamp_of(int descriptor) noexcept {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return std::nullopt;
  return stamp_from(status);
}

std::optional<FileStamp> stamp_of(const std::string& path) noexcept {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return stamp_from(status);
}

bool is_settled(const FileStamp& stamp) noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const std::int64_t age_ns = nanoseconds(now) - stamp.changed_ns;
  // A time far in the future means that the clock was set back.
  return age_ns >= tick_ns || age_ns < -tick_ns;
}

std::optional<FileStamp> settled_stamp(int descriptor) noexcept {
  constexpr int tries = 10;  // does not wait for a file that never stops changing
  std::optional<FileStamp> stamp = stamp_of(descriptor);
  for (int i = 1; stamp && !is_settled(*stamp) && i < tries; ++i) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(tick_ns));
    stamp = stamp_of(descriptor);
  }
  return stamp;
}

Result<void> remove_exactly(const std::string& path, const FileStamp& stamp, int held) {
  FileDescriptor own;
  if (held < 0) {
    INGOT_TRY(own, open_locked(path, O_RDONLY, {.limit = {}, .on_wait = {}}));
    held = own.get();
  }
  if (!is_named(held, path) || stamp_of(held) != stamp) return fail(Errc::file_changed, path);
  if (::unlink(path.c_str()) != 0) return fail_with_errno(errno, path, "remove it");
  return {};
}

}  // namespace ingot::io
