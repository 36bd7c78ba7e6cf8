// SPDX-License-Identifier: MIT
// A file that is changed where it is, and what the file system can do for that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/lock_wait.hpp"
#include "io/file_descriptor.hpp"
#include "system/files.hpp"

namespace ingot::io {

/// The path with all symbolic links followed; `path` itself if it leads nowhere.
[[nodiscard]] INGOT_EXPORT std::string real_path(const std::string& path);
[[nodiscard]] INGOT_EXPORT std::string directory_of(const std::string& path);

/// Flushes the names in a directory, if the file system supports it.
INGOT_EXPORT void flush_directory(const std::string& directory);

/// The identity of a file and of its present state.
struct FileIdentity : system::FileFacts {
  std::uint64_t block_bytes = 0;  ///< The block size of the file system; 0 if it is not known.
};
[[nodiscard]] Result<FileIdentity> identify(int descriptor);
/// The identity of the file at a path; nothing if there is no such file.
[[nodiscard]] std::optional<FileIdentity> identify(const std::string& path);

/// Whether the file system can insert a range into files of this directory; tries it with an
/// unnamed file.
[[nodiscard]] bool can_insert_range(const std::string& directory, std::uint64_t block_bytes);
/// Whether files of this directory can share blocks of an open file; tries it with an unnamed file.
[[nodiscard]] bool can_share_blocks(int descriptor, const std::string& directory,
                                    std::uint64_t block_bytes);

/// The first byte from `file_offset` on that belongs to a hole; the size of the file if none does.
[[nodiscard]] std::uint64_t find_hole(int descriptor, std::uint64_t file_offset);

/// An existing file, open for changes, and locked against other editors and against readers that
/// use a journal.
class InPlaceFile {
 public:
  /// Opens and locks a file; a file that this process may not change is locked, too, if its folder
  /// may change. Errc::file_in_use if another process holds the lock.
  [[nodiscard]] static Result<InPlaceFile> open(const std::string& path,
                                                const LockWait& wait = lock_wait());

  /// The file of a descriptor that has the lock already.
  [[nodiscard]] static Result<InPlaceFile> reopen(int locked);

  /// Fails with Errc::io_error if the file could be opened only for reading.
  [[nodiscard]] Result<void> check_writable() const;

  [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }
  /// Gives the descriptor away, with its lock; nothing else may be called then.
  [[nodiscard]] FileDescriptor release() noexcept { return std::move(descriptor_); }
  [[nodiscard]] Result<FileIdentity> identity() const { return identify(descriptor_.get()); }

  /// Whether another descriptor or mapping of the file exists. False if the file system or the
  /// user's rights do not allow to tell.
  [[nodiscard]] bool is_open_elsewhere() const noexcept;

  [[nodiscard]] Result<void> read(std::uint64_t file_offset, std::span<std::byte> bytes) const;
  [[nodiscard]] Result<void> write(std::uint64_t file_offset, std::span<const std::byte> bytes);
  [[nodiscard]] Result<void> flush();

  /// Inserts a hole of whole blocks before the first byte; false if the file system cannot.
  [[nodiscard]] Result<bool> insert_at_front(std::uint64_t bytes);
  /// Turns whole blocks into a hole.
  [[nodiscard]] Result<void> punch(std::uint64_t file_offset, std::uint64_t bytes);
  /// Removes whole blocks from the file.
  [[nodiscard]] Result<void> collapse(std::uint64_t file_offset, std::uint64_t bytes);

 private:
  InPlaceFile(FileDescriptor descriptor, int refusal) noexcept
      : descriptor_(std::move(descriptor)), refusal_(refusal) {}
  FileDescriptor descriptor_;
  int refusal_ = 0;  // the errno that tells why it is open only for reading
};

}  // namespace ingot::io
