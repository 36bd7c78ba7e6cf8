// SPDX-License-Identifier: MIT
// The identity and the state of the file at a path, so that exactly the file that was read is
// removed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ingot/error.hpp"
#include "ingot/export.h"

namespace ingot::io {

/// A file and its present state. Every change of its bytes, names or permissions gives it another
/// stamp, except a change within the same tick of the system's clock (see is_settled).
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size_bytes = 0;
  std::int64_t modified_ns = 0;  ///< When its bytes changed, since 1970.
  std::int64_t changed_ns = 0;   ///< When anything about it changed.
  bool operator==(const FileStamp&) const = default;

  [[nodiscard]] bool is_same_file(const FileStamp& other) const noexcept {
    return device == other.device && inode == other.inode;
  }
};

/// The stamp of an open file; nothing if the system does not give it.
[[nodiscard]] std::optional<FileStamp> stamp_of(int descriptor) noexcept;
[[nodiscard]] INGOT_EXPORT std::optional<FileStamp> stamp_of(const std::string& path) noexcept;

/// Whether the tick of the last change is over, so that a later change gives another stamp.
[[nodiscard]] bool is_settled(const FileStamp& stamp) noexcept;

/// The stamp of an open file, taken when the tick of its last change is over, so that every later
/// change gives another stamp.
[[nodiscard]] std::optional<FileStamp> settled_stamp(int descriptor) noexcept;

/// Removes the name of a file, under its lock, if the file still has this stamp. `held` is a
/// descriptor that has the lock already, or -1.
/// @return  Errc::file_changed if another file is there, or this one was changed; Errc::file_in_use
///          at once if another process has it locked; Errc::io_error.
[[nodiscard]] Result<void> remove_exactly(const std::string& path, const FileStamp& stamp,
                                          int held = -1);

}  // namespace ingot::io
