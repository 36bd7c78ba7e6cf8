// SPDX-License-Identifier: MIT
// A file that appears complete or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "ingot/error.hpp"
#include "ingot/source.hpp"
#include "io/file_descriptor.hpp"
#include "io/file_stamp.hpp"
#include "io/in_place_file.hpp"
#include "system/files.hpp"

namespace ingot::io {

/// The bytes that AtomicFile::copy copies between two calls of `go_on`, in about 10 ms.
inline constexpr std::uint64_t max_copy_piece_bytes = std::uint64_t{16} << 20;

/// Whether AtomicFile locks the file that it replaces, from its creation until it has its name, or
/// the caller holds the lock already.
enum class ReplacedLock { take, is_held };

/// Whether a symbolic link at the path is followed to the file that it replaces, or refused.
using system::Links;

/// Whether a file is flushed to the disk before it has its name.
enum class Durability { flushed, of_the_system };

/// Writes a new file beside its final place. Until `commit` nothing changes at the path; a file
/// that is not committed is removed. If the system supports it, the file has no name at all until
/// then, so that even a kill leaves nothing behind.
class AtomicFile {
 public:
  /// Errc::already_exists if there is a file at `path` and it may not be replaced;
  /// Errc::not_a_regular_file if there is something else; Errc::file_in_use if another process
  /// edits or replaces the file for longer than lock_wait.
  [[nodiscard]] static Result<AtomicFile> create(const std::string& path, bool may_replace,
                                                 ReplacedLock replaced_lock = ReplacedLock::take,
                                                 Links links = Links::follow);

  AtomicFile(AtomicFile&&) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  /// Gives the file the owner, the group and the permissions of another file, as far as this
  /// process may.
  void take_access_of(const FileIdentity& other);

  /// Takes the descriptor of the file that is replaced, with its lock, from a caller that holds it:
  /// where no open file can be replaced, it is closed for that moment.
  void take_older(FileDescriptor older) noexcept { replaced_ = std::move(older); }

  /// Claims disk space, so that a full disk is noticed before the work.
  [[nodiscard]] Result<void> reserve(std::uint64_t size_bytes);

  /// Appends bytes; small ones are gathered.
  [[nodiscard]] Result<void> write(std::span<const std::byte> bytes);
  [[nodiscard]] Result<void> write_zeros(std::uint64_t size_bytes);

  /// Replaces bytes that were written before.
  [[nodiscard]] Result<void> overwrite(std::uint64_t file_offset, std::span<const std::byte> bytes);

  /// Appends `size_bytes` bytes of a source: shares its blocks if the file system can, lets the
  /// system copy if it can, and else reads and writes piece by piece. After each piece of at most
  /// max_copy_piece_bytes it calls `go_on`, if set, with `size_bytes()`; Errc::interrupted if that
  /// returns false.
  [[nodiscard]] Result<void> copy(const Source& source, std::uint64_t file_offset,
                                  std::uint64_t size_bytes,
                                  const std::function<bool(std::uint64_t)>& go_on = {});

  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }

  /// Flushes everything to the disk.
  [[nodiscard]] Result<void> sync();

  /// Gives the file its name, atomically, and closes it; must be the last call.
  [[nodiscard]] Result<void> commit(Durability durability = Durability::flushed);

  // --- for a file of a set, which gets its name together with the others

  /// The final path of the file, without symbolic links.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Flushes the file, names it `name` in a locked folder of its set, and closes it.
  [[nodiscard]] Result<void> park(const std::string& name);
  /// Unlocks the older file until the set replaces it.
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
  FileDescriptor replaced_;  // the older file; open as long as its lock is needed
  FileDescriptor descriptor_;
  std::string gathered_;
  std::uint64_t size_bytes_ = 0;
  std::uint64_t started_bytes_ = 0;  // the system is already writing these to the disk
  bool is_flushed_ = false;
};

}  // namespace ingot::io
