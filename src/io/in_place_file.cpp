// SPDX-License-Identifier: MIT
#include "io/in_place_file.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <vector>

#include "io/file_lock.hpp"

namespace ingot::io {
namespace {

FileIdentity identity_of(const struct stat& status, decltype(statfs::f_bsize) block_bytes) {
  return {.device = static_cast<std::uint64_t>(status.st_dev),
          .inode = static_cast<std::uint64_t>(status.st_ino),
          .size_bytes = static_cast<std::uint64_t>(status.st_size),
          .link_count = static_cast<std::uint64_t>(status.st_nlink),
          .block_bytes = static_cast<std::uint64_t>(block_bytes),
          .permissions = static_cast<std::uint32_t>(status.st_mode & 0777),
          .owner = static_cast<std::uint32_t>(status.st_uid),
          .group = static_cast<std::uint32_t>(status.st_gid)};
}

/// A file without a name, with two blocks of data, for trying what the file system supports.
FileDescriptor make_probe(const std::string& directory, std::uint64_t block_bytes) {
  FileDescriptor probe(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!probe.is_open()) return probe;
  const std::vector<std::byte> blocks(static_cast<std::size_t>(2 * block_bytes));
  const ssize_t written = ::pwrite(probe.get(), blocks.data(), blocks.size(), 0);
  if (written != static_cast<ssize_t>(blocks.size())) return {};
  return probe;
}

}  // namespace

std::string real_path(const std::string& path) {
  char* resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;
  std::string result = resolved;
  ::free(resolved);
  return result;
}

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

void flush_directory(const std::string& directory) {
  const FileDescriptor opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.is_open()) ::fsync(opened.get());
}

Result<FileIdentity> identify(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return fail_with_errno(errno, {}, "look at it");
  struct statfs file_system {};
  const bool is_known = ::fstatfs(descriptor, &file_system) == 0;
  return identity_of(status, is_known ? file_system.f_bsize : 0);
}

std::optional<FileIdentity> identify(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  struct statfs file_system {};
  const bool is_known = ::statfs(path.c_str(), &file_system) == 0;
  return identity_of(status, is_known ? file_system.f_bsize : 0);
}

void take_access(int descriptor, const FileIdentity& other) noexcept {
  // The owner comes first, as changing it takes permissions away.
  if (::fchown(descriptor, other.owner, other.group) != 0) {
    static_cast<void>(!::fchown(descriptor, static_cast<uid_t>(-1), other.group));
  }
  static_cast<void>(::fchmod(descriptor, other.permissions));
}

bool can_insert_range(const std::string& directory, std::uint64_t block_bytes) {
  if (block_bytes == 0) return false;
  const FileDescriptor probe = make_probe(directory, block_bytes);
  return probe.is_open() &&
         ::fallocate(probe.get(), FALLOC_FL_INSERT_RANGE, 0, static_cast<off_t>(block_bytes)) == 0;
}

bool can_share_blocks(int descriptor, const std::string& directory, std::uint64_t block_bytes) {
  if (block_bytes == 0 || descriptor < 0) return false;
  const FileDescriptor probe(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  file_clone_range range{};
  range.src_fd = descriptor;
  range.src_length = block_bytes;
  return probe.is_open() && ::ioctl(probe.get(), FICLONERANGE, &range) == 0;
}

std::uint64_t find_hole(int descriptor, std::uint64_t file_offset) {
  const off_t hole = ::lseek(descriptor, static_cast<off_t>(file_offset), SEEK_HOLE);
  return hole < 0 ? file_offset : static_cast<std::uint64_t>(hole);
}

Result<InPlaceFile> InPlaceFile::open(const std::string& path, const LockWait& wait) {
  const int refusal = ::access(path.c_str(), W_OK) == 0 ? 0 : errno;
  INGOT_TRY(FileDescriptor file, open_locked(path, refusal == 0 ? O_RDWR : O_RDONLY, wait));
  return InPlaceFile(std::move(file), refusal);
}

Result<InPlaceFile> InPlaceFile::reopen(int locked) {
  const std::string path = "/proc/self/fd/" + std::to_string(locked);
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file.is_open()) return fail_with_errno(errno, {}, "open it for changes");
  return InPlaceFile(std::move(file), 0);
}

Result<void> InPlaceFile::check_writable() const {
  if (refusal_ == 0) return {};
  return fail_with_errno(refusal_, {}, "open it for changes");
}

bool InPlaceFile::is_open_elsewhere() const noexcept {
  // The system grants a lease for writing only if no other descriptor of the file is open. If
  // another process opens it meanwhile, the system sends a signal: this one does nothing by
  // default.
  ::fcntl(descriptor_.get(), F_SETSIG, SIGURG);
  // A process that waits for the lock has the file open only for moments; a reader keeps it open.
  constexpr int tries = 10;
  for (int i = 0; i < tries; ++i) {
    if (i != 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (::fcntl(descriptor_.get(), F_SETLEASE, F_WRLCK) == 0) {
      ::fcntl(descriptor_.get(), F_SETLEASE, F_UNLCK);
      return false;
    }
    if (errno != EAGAIN) return false;
  }
  return true;
}

Result<void> InPlaceFile::read(std::uint64_t file_offset, std::span<std::byte> bytes) const {
  return read_fully(descriptor_.get(), file_offset, bytes);
}

Result<void> InPlaceFile::write(std::uint64_t file_offset, std::span<const std::byte> bytes) {
  return write_fully(descriptor_.get(), file_offset, bytes, "write to it");
}

Result<void> InPlaceFile::flush() {
  if (::fsync(descriptor_.get()) != 0) return fail_with_errno(errno, {}, "flush it");
  return {};
}

Result<bool> InPlaceFile::insert_at_front(std::uint64_t bytes) {
  if (::fallocate(descriptor_.get(), FALLOC_FL_INSERT_RANGE, 0, static_cast<off_t>(bytes)) == 0) {
    return true;
  }
  if (errno == ENOSPC || errno == EDQUOT || errno == EIO) {
    return fail_with_errno(errno, {}, "insert room into it");
  }
  return false;
}

Result<void> InPlaceFile::punch(std::uint64_t file_offset, std::uint64_t bytes) {
  if (::fallocate(descriptor_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  static_cast<off_t>(file_offset), static_cast<off_t>(bytes)) != 0) {
    return fail_with_errno(errno, {}, "free room in it");
  }
  return {};
}

Result<void> InPlaceFile::collapse(std::uint64_t file_offset, std::uint64_t bytes) {
  if (::fallocate(descriptor_.get(), FALLOC_FL_COLLAPSE_RANGE, static_cast<off_t>(file_offset),
                  static_cast<off_t>(bytes)) != 0) {
    return fail_with_errno(errno, {}, "take room out of it");
  }
  return {};
}

}  // namespace ingot::io
