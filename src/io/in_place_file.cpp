// SPDX-License-Identifier: MIT
#include "io/in_place_file.hpp"

#include <cerrno>
#include <chrono>
#include <thread>
#include <vector>

#include "base/checked.hpp"
#include "io/file_lock.hpp"

namespace ingot::io {
namespace {

constexpr unsigned private_file = 0600;

/// A file without a name, with two blocks of data, for trying what the file system supports.
FileDescriptor make_probe(const std::string& directory, std::uint64_t block_bytes) {
  FileDescriptor probe(system::open_unnamed(directory, system::Access::read_write, private_file));
  if (!probe.is_open()) return probe;
  const std::vector<std::byte> blocks(to_size(2 * block_bytes));
  const std::ptrdiff_t written = system::write_at(probe.get(), blocks.data(), blocks.size(), 0);
  if (written != static_cast<std::ptrdiff_t>(blocks.size())) return {};
  return probe;
}

}  // namespace

std::string real_path(const std::string& path) {
  std::string resolved = system::real_path(path);
  return resolved.empty() ? path : resolved;
}

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  const bool is_root = slash == 0 || path[slash - 1] == ':';  // of a drive: C:/
  return path.substr(0, is_root ? slash + 1 : slash);
}

void flush_directory(const std::string& directory) { system::flush_folder(directory); }

Result<FileIdentity> identify(int descriptor) {
  FileIdentity identity;
  if (!system::look_at(descriptor, identity)) return fail_with_errno(errno, {}, "look at it");
  identity.block_bytes = system::block_bytes_of(descriptor);
  return identity;
}

std::optional<FileIdentity> identify(const std::string& path) {
  FileIdentity identity;
  if (!system::look_at(path, identity)) return std::nullopt;
  identity.block_bytes = system::block_bytes_of(path);
  return identity;
}

bool can_insert_range(const std::string& directory, std::uint64_t block_bytes) {
  if (block_bytes == 0) return false;
  const FileDescriptor probe = make_probe(directory, block_bytes);
  return probe.is_open() && system::insert_range(probe.get(), 0, block_bytes);
}

bool can_share_blocks(int descriptor, const std::string& directory, std::uint64_t block_bytes) {
  if (block_bytes == 0 || descriptor < 0) return false;
  const FileDescriptor probe(
      system::open_unnamed(directory, system::Access::read_write, private_file));
  return probe.is_open() && system::share_blocks(descriptor, probe.get(), block_bytes);
}

std::uint64_t find_hole(int descriptor, std::uint64_t file_offset) {
  return system::find_hole(descriptor, file_offset).value_or(file_offset);
}

Result<InPlaceFile> InPlaceFile::open(const std::string& path, const LockWait& wait) {
  const int refusal = system::refusal_to_write(path);
  const auto access = refusal == 0 ? system::Access::read_write : system::Access::read;
  INGOT_TRY(FileDescriptor file, open_locked(path, access, wait));
  return InPlaceFile(std::move(file), refusal);
}

Result<InPlaceFile> InPlaceFile::reopen(int locked) {
  FileDescriptor file(system::open_again(locked));
  if (!file.is_open()) return fail_with_errno(errno, {}, "open it for changes");
  return InPlaceFile(std::move(file), 0);
}

Result<void> InPlaceFile::check_writable() const {
  if (refusal_ == 0) return {};
  return fail_with_errno(refusal_, {}, "open it for changes");
}

bool InPlaceFile::is_open_elsewhere() const noexcept {
  // A process that waits for the lock has the file open only for moments; a reader keeps it open.
  constexpr int tries = 10;
  for (int i = 0; i < tries; ++i) {
    if (i != 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (!system::is_open_elsewhere(descriptor_.get()).value_or(false)) return false;
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
  if (!system::flush(descriptor_.get())) return fail_with_errno(errno, {}, "flush it");
  return {};
}

Result<bool> InPlaceFile::insert_at_front(std::uint64_t bytes) {
  if (system::insert_range(descriptor_.get(), 0, bytes)) return true;
  if ((system::is_lack_of_room(errno) && errno != EFBIG) || errno == EIO) {
    return fail_with_errno(errno, {}, "insert room into it");
  }
  return false;
}

Result<void> InPlaceFile::punch(std::uint64_t file_offset, std::uint64_t bytes) {
  if (!system::punch_range(descriptor_.get(), file_offset, bytes)) {
    return fail_with_errno(errno, {}, "free room in it");
  }
  return {};
}

Result<void> InPlaceFile::collapse(std::uint64_t file_offset, std::uint64_t bytes) {
  if (!system::collapse_range(descriptor_.get(), file_offset, bytes)) {
    return fail_with_errno(errno, {}, "take room out of it");
  }
  return {};
}

}  // namespace ingot::io
