// SPDX-License-Identifier: MIT
// What macOS alone has: flushes that reach the disk, clones, names that are exchanged. It has no
// files without names and inserts no range into files; the callers do without.
#include "system/files.hpp"

#include <fcntl.h>
#include <sys/clonefile.h>
#include <sys/mount.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

namespace ingot::system {
namespace {

bool is_not_there() noexcept {
  errno = ENOTSUP;
  return false;
}

}  // namespace

std::uint64_t block_bytes_of(int descriptor) noexcept {
  struct statfs file_system {};
  return ::fstatfs(descriptor, &file_system) == 0 ? file_system.f_bsize : 0;
}

std::uint64_t block_bytes_of(const std::string& path) noexcept {
  struct statfs file_system {};
  return ::statfs(path.c_str(), &file_system) == 0 ? file_system.f_bsize : 0;
}

std::string path_of(int descriptor) {
  std::array<char, MAXPATHLEN> path{};
  return ::fcntl(descriptor, F_GETPATH, path.data()) == 0 ? std::string(path.data())
                                                          : std::string();
}

int open_place(const std::string& path) noexcept {
  return ::open(path.c_str(), O_EVTONLY | O_CLOEXEC);
}

int open_unnamed(const std::string&, Access, unsigned) noexcept {
  errno = ENOTSUP;
  return -1;
}

bool can_give_name(int) noexcept { return is_not_there(); }

int open_again(int descriptor) noexcept {
  FileFacts wanted;
  FileFacts found;
  const std::string path = path_of(descriptor);
  if (path.empty() || !look_at(descriptor, wanted)) return -1;
  const int opened = open_file(path, Access::read_write, no_links);
  if (opened < 0) return -1;
  if (look_at(opened, found) && found.is_same_file(wanted)) return opened;
  close_file(opened);  // another file has got the name
  errno = ENOENT;
  return -1;
}

std::ptrdiff_t copy_next(int, std::uint64_t&, int, std::size_t) noexcept {
  errno = ENOTSUP;  // the system clones whole files alone
  return -1;
}

bool flush(int descriptor) noexcept {
  // fsync leaves bytes in the memory of the disk. Not every file system knows the other way.
  if (::fcntl(descriptor, F_FULLFSYNC) != -1) return true;
  const bool is_unknown = errno == ENOTSUP || errno == ENOTTY || errno == EINVAL;
  return is_unknown && ::fsync(descriptor) == 0;
}

void start_writing_out(int, std::uint64_t, std::uint64_t) noexcept {}

void advise_reading(int descriptor, std::uint64_t file_offset, std::uint64_t size_bytes) noexcept {
  constexpr std::uint64_t most_bytes = std::numeric_limits<int>::max();
  radvisory wanted{};
  wanted.ra_offset = static_cast<off_t>(file_offset);
  wanted.ra_count = static_cast<int>(std::min(size_bytes, most_bytes));
  ::fcntl(descriptor, F_RDADVISE, &wanted);
}

bool reserve(int descriptor, std::uint64_t size_bytes, Room room) noexcept {
  constexpr std::uint64_t unit_bytes = 512;  // of st_blocks, whatever blocks the disk has
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return false;
  const std::uint64_t there = static_cast<std::uint64_t>(status.st_blocks) * unit_bytes;
  if (size_bytes > there) {
    fstore_t wanted{};
    wanted.fst_flags = F_ALLOCATEALL;
    wanted.fst_posmode = F_PEOFPOSMODE;
    wanted.fst_length = static_cast<off_t>(size_bytes - there);
    if (::fcntl(descriptor, F_PREALLOCATE, &wanted) == -1) return false;
  }
  return room == Room::beyond_the_end || static_cast<std::uint64_t>(status.st_size) >= size_bytes ||
         set_size(descriptor, size_bytes);
}

bool insert_range(int, std::uint64_t, std::uint64_t) noexcept { return is_not_there(); }
bool collapse_range(int, std::uint64_t, std::uint64_t) noexcept { return is_not_there(); }
bool share_blocks(int, int, std::uint64_t) noexcept { return is_not_there(); }

bool punch_range(int descriptor, std::uint64_t offset, std::uint64_t bytes) noexcept {
  fpunchhole_t hole{};
  hole.fp_offset = static_cast<off_t>(offset);
  hole.fp_length = static_cast<off_t>(bytes);
  return ::fcntl(descriptor, F_PUNCHHOLE, &hole) != -1;
}

std::optional<std::uint64_t> find_hole(int descriptor, std::uint64_t offset) noexcept {
  const off_t hole = ::lseek(descriptor, static_cast<off_t>(offset), SEEK_HOLE);
  return hole < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(hole));
}

bool give_name(int, const std::string&) noexcept { return is_not_there(); }

bool rename_to_new(const std::string& from, const std::string& to) noexcept {
  if (::renamex_np(from.c_str(), to.c_str(), RENAME_EXCL) == 0) return true;
  // ENOTSUP: the file system does not know that flag.
  if (errno != ENOTSUP || exists(to)) return false;
  return rename_file(from, to);
}

bool exchange_names(const std::string& a, const std::string& b) noexcept {
  return ::renamex_np(a.c_str(), b.c_str(), RENAME_SWAP) == 0;
}

// The system tells neither who holds a lock of flock nor who has a file open.
std::string describe_holder(int) { return {}; }
std::optional<bool> is_open_elsewhere(int) noexcept { return std::nullopt; }

}  // namespace ingot::system
