// SPDX-License-Identifier: MIT
// A file that appears complete or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "ingot/error.hpp"
#include "ingot/source.hpp"
#include "io/file_descriptor.hpp"
#include "io/in_place_file.hpp"

namespace ingot::io {

/// Bytes that AtomicFile::copy copies between two calls of `go_on`: some 10 ms.
inline constexpr std::uint64_t max_copy_piece_bytes = std::uint64_t{16} << 20;

/// Whether the file that a new one replaces is locked from the creation of the new one until it
/// has its name, or already is.
enum class ReplacedLock { take, is_held };

/// Writes a new file beside its final place. Until `commit` nothing can be seen at the path, and
/// whatever was there is untouched; a file that is not committed is removed. Where the system
/// supports it the file has no name at all until then, so that even a kill leaves nothing behind.
class AtomicFile {
 public:
  /// Errc::already_exists if there is a file at `path` and it may not be replaced;
  /// Errc::not_a_regular_file if there is something else; Errc::file_in_use if another process
  /// edits or replaces the file and does not end soon (see lock_wait).
  [[nodiscard]] static Result<AtomicFile> create(const std::string& path, bool may_replace,
                                                 ReplacedLock replaced_lock = ReplacedLock::take);

  AtomicFile(AtomicFile&&) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  /// Gives the file the owner, the group and the permissions of another one, where we may.
  void take_access_of(const FileIdentity& other);

  /// Claims disk space, so that a disk that is too full is noticed before the work.
  [[nodiscard]] Result<void> reserve(std::uint64_t size_bytes);

  /// Appends bytes; small ones are gathered.
  [[nodiscard]] Result<void> write(std::span<const std::byte> bytes);
  [[nodiscard]] Result<void> write_zeros(std::uint64_t size_bytes);

  /// Replaces bytes that were written before.
  [[nodiscard]] Result<void> overwrite(std::uint64_t file_offset, std::span<const std::byte> bytes);

  /// Appends `size_bytes` bytes of a source: shared with it where the file system can, copied by
  /// the system where that can, else read and written piece by piece. `go_on`, if set, is told
  /// `size_bytes()` after each piece (at most max_copy_piece_bytes) and returns whether to go on,
  /// else Errc::interrupted.
  [[nodiscard]] Result<void> copy(const Source& source, std::uint64_t file_offset,
                                  std::uint64_t size_bytes,
                                  const std::function<bool(std::uint64_t)>& go_on = {});

  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }

  /// Flushes everything to the disk.
  [[nodiscard]] Result<void> sync();

  /// Flushes everything to the disk and gives the file its name, atomically. The last call: the
  /// file is closed then.
  [[nodiscard]] Result<void> commit();

 private:
  AtomicFile(std::string path, bool may_replace, ReplacedLock replaced_lock);
  [[nodiscard]] Result<void> lock_replaced();
  [[nodiscard]] Result<void> open_unnamed_or_temporary();
  [[nodiscard]] Result<void> write_through(std::span<const std::byte> bytes);
  [[nodiscard]] Result<bool> copy_by_system(const Source& source, std::uint64_t file_offset,
                                            std::uint64_t size_bytes);
  [[nodiscard]] Result<void> copy_by_reading(const Source& source, std::uint64_t file_offset,
                                             std::uint64_t size_bytes);
  void start_writing_out() noexcept;
  [[nodiscard]] Result<void> flush();
  [[nodiscard]] Result<void> publish();
  [[nodiscard]] Result<void> give_temporary_name();

  std::string path_;
  std::string directory_;
  std::string temporary_path_;  // empty while the file has no name
  bool may_replace_;
  ReplacedLock replaced_lock_;
  FileDescriptor replaced_;  // open as long as its lock is needed
  FileDescriptor descriptor_;
  std::string gathered_;
  std::uint64_t size_bytes_ = 0;
  std::uint64_t started_bytes_ = 0;  // on their way to the disk
};

}  // namespace ingot::io
