// SPDX-License-Identifier: MIT
#include "io/file_stamp.hpp"

#include <cerrno>
#include <chrono>
#include <thread>

#include "io/file_lock.hpp"
#include "system/files.hpp"

namespace ingot::io {
namespace {

constexpr std::int64_t tick_ns =
    10'000'000;  // the longest tick: Linux with 100 ticks a second; that of Windows is shorter

FileStamp stamp_from(const system::FileFacts& facts) noexcept {
  return {.device = facts.device,
          .inode = facts.inode,
          .size_bytes = facts.size_bytes,
          .modified_ns = facts.modified_ns,
          .changed_ns = facts.changed_ns};
}

}  // namespace

std::optional<FileStamp> stamp_of(int descriptor) noexcept {
  system::FileFacts facts;
  if (!system::look_at(descriptor, facts)) return std::nullopt;
  return stamp_from(facts);
}

std::optional<FileStamp> stamp_of(const std::string& path) noexcept {
  system::FileFacts facts;
  if (!system::look_at(path, facts)) return std::nullopt;
  return stamp_from(facts);
}

bool is_settled(const FileStamp& stamp) noexcept {
  const std::int64_t now_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                                  std::chrono::system_clock::now().time_since_epoch())
                                  .count();
  const std::int64_t age_ns = now_ns - stamp.changed_ns;
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
    INGOT_TRY(own, open_locked(path, system::Access::read, {.limit = {}, .on_wait = {}}));
    held = own.get();
  }
  if (!is_named(held, path) || stamp_of(held) != stamp) return fail(Errc::file_changed, path);
  if (!system::remove_file(path)) return fail_with_errno(errno, path, "remove it");
  return {};
}

}  // namespace ingot::io
