// SPDX-License-Identifier: MIT
// What every system of the POSIX family has.
#include "system/files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <system_error>

namespace ingot::system {
namespace {

std::int64_t nanoseconds(const timespec& time) noexcept {
  // A time beyond the year 2262 wraps, which is no overflow.
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
                                   static_cast<std::uint64_t>(time.tv_nsec));
}

FileKind kind_of(mode_t mode) noexcept {
  if (S_ISREG(mode)) return FileKind::regular;
  if (S_ISDIR(mode)) return FileKind::folder;
  if (S_ISLNK(mode)) return FileKind::link;
  return S_ISFIFO(mode) ? FileKind::fifo : FileKind::other;
}

FileFacts facts_of(const struct stat& status) noexcept {
  return {.kind = kind_of(status.st_mode),
          .device = static_cast<std::uint64_t>(status.st_dev),
          .inode = static_cast<std::uint64_t>(status.st_ino),
          .size_bytes = static_cast<std::uint64_t>(status.st_size),
          .link_count = static_cast<std::uint64_t>(status.st_nlink),
#ifdef __APPLE__
          .modified_ns = nanoseconds(status.st_mtimespec),
          .changed_ns = nanoseconds(status.st_ctimespec),
#else
          .modified_ns = nanoseconds(status.st_mtim),
          .changed_ns = nanoseconds(status.st_ctim),
#endif
          .permissions = static_cast<std::uint32_t>(status.st_mode & 0777),
          .owner = static_cast<std::uint32_t>(status.st_uid),
          .group = static_cast<std::uint32_t>(status.st_gid)};
}

int flags_of(Access access) noexcept {
  if (access == Access::read) return O_RDONLY;
  return access == Access::write ? O_WRONLY : O_RDWR;
}

int folder_flags(unsigned flags) noexcept {
  return O_RDONLY | O_DIRECTORY | O_CLOEXEC | ((flags & no_links) != 0 ? O_NOFOLLOW : 0);
}

}  // namespace

bool look_at(int descriptor, FileFacts& facts) noexcept {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return false;
  facts = facts_of(status);
  return true;
}

bool look_at(const std::string& path, FileFacts& facts, Links links) noexcept {
  struct stat status {};
  const int failed =
      links == Links::follow ? ::stat(path.c_str(), &status) : ::lstat(path.c_str(), &status);
  if (failed != 0) return false;
  facts = facts_of(status);
  return true;
}

bool exists(const std::string& path) noexcept { return ::access(path.c_str(), F_OK) == 0; }

int refusal_to_write(const std::string& path) noexcept {
  return ::access(path.c_str(), W_OK) == 0 ? 0 : errno;
}

bool is_own(const FileFacts& facts) noexcept { return facts.owner == ::geteuid(); }

std::optional<std::uint64_t> free_bytes(int descriptor) noexcept {
  struct statvfs disk {};
  if (::fstatvfs(descriptor, &disk) != 0 || disk.f_blocks == 0) return std::nullopt;
  return std::uint64_t{disk.f_bavail} * disk.f_frsize;
}

std::string real_path(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> resolved(::realpath(path.c_str(), nullptr), ::free);
  return resolved == nullptr ? std::string() : std::string(resolved.get());
}

std::string find_forbidden_name(const std::string&) { return {}; }

std::string words_for(int error_number) { return std::generic_category().message(error_number); }

int open_file(const std::string& path, Access access, unsigned flags) noexcept {
  constexpr mode_t mode = 0666;  // the system subtracts the umask
  return ::open(path.c_str(),
                flags_of(access) | O_CLOEXEC | O_NOCTTY |
                    ((flags & made_new) != 0 ? O_CREAT | O_EXCL : 0) |
                    ((flags & no_links) != 0 ? O_NOFOLLOW : 0) |
                    ((flags & never_waits) != 0 ? O_NONBLOCK : 0),
                mode);
}

int open_folder(const std::string& path, unsigned flags) noexcept {
  return ::open(path.c_str(), folder_flags(flags));
}

int duplicate(int descriptor) noexcept { return ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0); }
void close_file(int descriptor) noexcept { ::close(descriptor); }

std::ptrdiff_t read_at(int descriptor, void* bytes, std::size_t size,
                       std::uint64_t file_offset) noexcept {
  return ::pread(descriptor, bytes, size, static_cast<off_t>(file_offset));
}

std::ptrdiff_t write_at(int descriptor, const void* bytes, std::size_t size,
                        std::uint64_t file_offset) noexcept {
  return ::pwrite(descriptor, bytes, size, static_cast<off_t>(file_offset));
}

std::ptrdiff_t read_next(int descriptor, void* bytes, std::size_t size) noexcept {
  return ::read(descriptor, bytes, size);
}

std::ptrdiff_t write_next(int descriptor, const void* bytes, std::size_t size) noexcept {
  return ::write(descriptor, bytes, size);
}

bool wait_for_bytes(int descriptor) noexcept {
  pollfd readable{descriptor, POLLIN, 0};
  return ::poll(&readable, 1, -1) >= 0 || errno == EINTR;
}

bool set_size(int descriptor, std::uint64_t size_bytes) noexcept {
  return ::ftruncate(descriptor, static_cast<off_t>(size_bytes)) == 0;
}

void flush_folder(const std::string& folder) noexcept {
  const int opened = open_folder(folder);
  if (opened < 0) return;
  static_cast<void>(flush(opened));
  ::close(opened);
}

bool is_lack_of_room(int error_number) noexcept {
  return error_number == ENOSPC || error_number == EDQUOT || error_number == EFBIG;
}

bool link_file(const std::string& from, const std::string& to) noexcept {
  return ::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

bool rename_file(const std::string& from, const std::string& to) noexcept {
  return ::rename(from.c_str(), to.c_str()) == 0;
}

bool replace_file(const std::string& from, const std::string& to, int&) noexcept {
  return rename_file(from, to);
}

bool remove_file(const std::string& path) noexcept { return ::unlink(path.c_str()) == 0; }

bool make_folder(const std::string& path, Privacy privacy) noexcept {
  return ::mkdir(path.c_str(), privacy == Privacy::only_user ? 0700 : 0777) == 0;
}

bool remove_folder(const std::string& path) noexcept { return ::rmdir(path.c_str()) == 0; }

void remove_files_of(int folder) noexcept {
  // The stream takes the descriptor and closes it.
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(
      ::fdopendir(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)), ::closedir);
  if (entries == nullptr) return;
  while (const dirent* entry = ::readdir(entries.get())) ::unlinkat(folder, entry->d_name, 0);
}

bool list_names(const std::string& folder, const std::function<void(const char*)>& take) {
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(folder.c_str()), ::closedir);
  if (stream == nullptr) return false;
  while (const dirent* entry = ::readdir(stream.get())) take(entry->d_name);
  return true;
}

void take_access(int descriptor, const FileFacts& other) noexcept {
  // The owner comes first, as changing it takes permissions away.
  if (::fchown(descriptor, other.owner, other.group) != 0) {
    static_cast<void>(!::fchown(descriptor, static_cast<uid_t>(-1), other.group));
  }
  static_cast<void>(::fchmod(descriptor, static_cast<mode_t>(other.permissions)));
}

LockAttempt try_lock(int descriptor, LockKind kind) noexcept {
  const int operation = kind == LockKind::exclusive ? LOCK_EX : LOCK_SH;
  while (::flock(descriptor, operation | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return LockAttempt::busy;
    if (errno != EINTR) return LockAttempt::no_locks_here;
  }
  return LockAttempt::locked;
}

void unlock(int descriptor) noexcept { ::flock(descriptor, LOCK_UN); }

}  // namespace ingot::system
