// SPDX-License-Identifier: MIT
// A file that appears complete or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "ingot/error.hpp"
#include "ingot/source.hpp"
#include "io/file_descriptor.hpp"
#include "io/file_stamp.hpp"
#include "io/in_place_file.hpp"

namespace ingot::io {

/// Bytes that AtomicFile::copy copies between two calls of `go_on`: some 10 ms.
inline constexpr std::uint64_t max_copy_piece_bytes = std::uint64_t{16} << 20;

/// Whether the file that a new one replaces is locked from the creation of the new one until it
/// has its name, or already is.
enum class ReplacedLock { take, is_held };

/// Whether a symbolic link at the path leads to the file that is replaced.
enum class Links { follow, refuse };

/// Whether a file is flushed to the disk before it has its name.
enum class Durability { flushed, of_the_system };

/// Writes a new file beside its final place. Until `commit` nothing can be seen at the path, and
/// whatever was there is untouched; a file that is not committed is removed. Where the system
/// supports it the file has no name at all until then, so that even a kill leaves nothing behind.
class AtomicFile {
 public:
  /// Errc::already_exists if there is a file at `path` and it may not be replaced;
  /// Errc::not_a_regular_file if there is something else; Errc::file_in_use if another process
  /// edits or replaces the file and does not end soon (see lock_wait).
  [[nodiscard]] static Result<AtomicFile> create(const std::string& path, bool may_replace,
                                                 ReplacedLock replaced_lock = ReplacedLock::take,
                                                 Links links = Links::follow);

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

  /// Gives the file its name, atomically. The last call: the file is closed then.
  [[nodiscard]] Result<void> commit(Durability durability = Durability::flushed);

  // --- for a file of a set, which gets its name with the others

  /// Where the file goes, without symbolic links.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Flushes the file, names it `name` in a locked folder of its set, and closes it.
  [[nodiscard]] Result<void> park(const std::string& name);
  /// Lets others have the older file until the set replaces it.
  void release_older() noexcept { replaced_ = FileDescriptor(); }
  /// Gives the flushed file its name; the folder is to be flushed later. The stamp is that of the
  /// file under its name, or nothing if another process has already replaced it.
  [[nodiscard]] Result<std::optional<FileStamp>> publish();

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
  [[nodiscard]] Result<void> take_name();
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
  bool is_flushed_ = false;
};

}  // namespace ingot::io
