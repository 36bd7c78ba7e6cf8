// SPDX-License-Identifier: MIT
// What Linux alone has: files without names, ranges inserted into files, leases, /proc.
#include "system/files.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace ingot::system {
namespace {

/// A path that leads to an open file; with it an unnamed file gets its name.
std::string path_of_descriptor(int descriptor) {
  return "/proc/self/fd/" + std::to_string(descriptor);
}

/// The name of a program, which it may have chosen itself.
std::string program_of(long process) {
  std::string name;
  std::getline(std::ifstream("/proc/" + std::to_string(process) + "/comm"), name);
  return name;
}

}  // namespace

std::uint64_t block_bytes_of(int descriptor) noexcept {
  struct statfs file_system {};
  if (::fstatfs(descriptor, &file_system) != 0) return 0;
  return static_cast<std::uint64_t>(file_system.f_bsize);
}

std::uint64_t block_bytes_of(const std::string& path) noexcept {
  struct statfs file_system {};
  if (::statfs(path.c_str(), &file_system) != 0) return 0;
  return static_cast<std::uint64_t>(file_system.f_bsize);
}

std::string path_of(int descriptor) {
  std::array<char, PATH_MAX> path;
  const ssize_t size = ::readlink(path_of_descriptor(descriptor).c_str(), path.data(), path.size());
  return size <= 0 ? std::string() : std::string(path.data(), static_cast<std::size_t>(size));
}

int open_place(const std::string& path) noexcept {
  return ::open(path.c_str(), O_PATH | O_CLOEXEC);
}

int open_unnamed(const std::string& folder, Access access, unsigned permissions) noexcept {
  return ::open(folder.c_str(),
                O_TMPFILE | O_CLOEXEC | (access == Access::write ? O_WRONLY : O_RDWR), permissions);
}

bool can_give_name(int descriptor) noexcept {
  return ::access(path_of_descriptor(descriptor).c_str(), F_OK) == 0;
}

int open_again(int descriptor) noexcept {
  return ::open(path_of_descriptor(descriptor).c_str(), O_RDWR | O_CLOEXEC);
}

std::ptrdiff_t copy_next(int from, std::uint64_t& from_offset, int to, std::size_t size) noexcept {
  auto offset = static_cast<off_t>(from_offset);
  const ssize_t copied = ::copy_file_range(from, &offset, to, nullptr, size, 0);
  from_offset = static_cast<std::uint64_t>(offset);
  return copied;
}

bool flush(int descriptor) noexcept { return ::fsync(descriptor) == 0; }

void start_writing_out(int descriptor, std::uint64_t file_offset,
                       std::uint64_t size_bytes) noexcept {
  static_cast<void>(::sync_file_range(descriptor, static_cast<off64_t>(file_offset),
                                      static_cast<off64_t>(size_bytes), SYNC_FILE_RANGE_WRITE));
}

void advise_reading(int descriptor, std::uint64_t file_offset, std::uint64_t size_bytes) noexcept {
  ::posix_fadvise(descriptor, static_cast<off_t>(file_offset), static_cast<off_t>(size_bytes),
                  POSIX_FADV_WILLNEED);
}

bool reserve(int descriptor, std::uint64_t size_bytes, Room room) noexcept {
  return ::fallocate(descriptor, room == Room::beyond_the_end ? FALLOC_FL_KEEP_SIZE : 0, 0,
                     static_cast<off_t>(size_bytes)) == 0;
}

bool insert_range(int descriptor, std::uint64_t offset, std::uint64_t bytes) noexcept {
  return ::fallocate(descriptor, FALLOC_FL_INSERT_RANGE, static_cast<off_t>(offset),
                     static_cast<off_t>(bytes)) == 0;
}

bool punch_range(int descriptor, std::uint64_t offset, std::uint64_t bytes) noexcept {
  return ::fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                     static_cast<off_t>(offset), static_cast<off_t>(bytes)) == 0;
}

bool collapse_range(int descriptor, std::uint64_t offset, std::uint64_t bytes) noexcept {
  return ::fallocate(descriptor, FALLOC_FL_COLLAPSE_RANGE, static_cast<off_t>(offset),
                     static_cast<off_t>(bytes)) == 0;
}

bool share_blocks(int from, int to, std::uint64_t bytes) noexcept {
  file_clone_range range{};
  range.src_fd = from;
  range.src_length = bytes;
  return ::ioctl(to, FICLONERANGE, &range) == 0;
}

std::optional<std::uint64_t> find_hole(int descriptor, std::uint64_t offset) noexcept {
  const off_t hole = ::lseek(descriptor, static_cast<off_t>(offset), SEEK_HOLE);
  return hole < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(hole));
}

bool give_name(int descriptor, const std::string& path) noexcept {
  return link_file(path_of_descriptor(descriptor), path);
}

bool rename_to_new(const std::string& from, const std::string& to) noexcept {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  // EINVAL: the file system does not know that flag.
  if (errno != EINVAL || exists(to)) return false;
  return rename_file(from, to);
}

bool exchange_names(const std::string& a, const std::string& b) noexcept {
  return ::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0;
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

std::optional<bool> is_open_elsewhere(int descriptor) noexcept {
  // The system grants a lease for writing only if no other descriptor of the file is open. If
  // another process opens it meanwhile, the system sends a signal: this one does nothing by
  // default.
  ::fcntl(descriptor, F_SETSIG, SIGURG);
  if (::fcntl(descriptor, F_SETLEASE, F_WRLCK) == 0) {
    ::fcntl(descriptor, F_SETLEASE, F_UNLCK);
    return false;
  }
  return errno == EAGAIN ? std::optional(true) : std::nullopt;
}

}  // namespace ingot::system
