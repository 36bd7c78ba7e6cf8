// SPDX-License-Identifier: MIT
// Locks of files and folders that end with their process (flock).
//
// A lock belongs to the inode, not to the name. So after it is taken the name is looked up again,
// and whatever takes a name away from a file holds the lock of that file: while it is held, no
// other process of this library changes the file or gives its name to another one.
#pragma once

#include <string>

#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/lock_wait.hpp"
#include "io/file_descriptor.hpp"
#include "system/files.hpp"

namespace ingot::io {

using system::LockAttempt;
using system::LockKind;
using system::try_lock;

/// Locks an open file until its descriptor is closed; Errc::file_in_use names `path` and the
/// holder. Succeeds where the file system has no locks.
[[nodiscard]] Result<void> lock(int descriptor, LockKind kind, const std::string& path,
                                const LockWait& wait);

/// Opens a regular file and locks it exclusively; at that moment the path leads to it. `access` is
/// not for writing alone. While this process waits it does not have the file open, so that the
/// holder is still the only one to have it open.
[[nodiscard]] Result<FileDescriptor> open_locked(const std::string& path, system::Access access,
                                                 const LockWait& wait);

/// Locks the file that another one will replace; opens it only for the lock. The descriptor is
/// closed if there is no such file, or if it may not be read: then no edit of ours changes it,
/// either.
[[nodiscard]] INGOT_EXPORT Result<FileDescriptor> lock_older(const std::string& path,
                                                             const LockWait& wait);

/// Locks a folder while the files of a set get their names. A shared lock waits for that to be
/// over.
[[nodiscard]] Result<FileDescriptor> lock_directory(const std::string& directory,
                                                    const LockWait& wait,
                                                    LockKind kind = LockKind::exclusive);

/// Whether a path leads to an open file.
[[nodiscard]] INGOT_EXPORT bool is_named(int descriptor, const std::string& path) noexcept;

}  // namespace ingot::io
