// SPDX-License-Identifier: MIT
// How long to wait for a file that another process edits or writes.
//
// Edits lock the file that they change, and a new file that replaces an older one locks the older
// one, from its creation until it has taken the name: with flock, so that a lock ends with its
// process and leaves nothing behind. Readers need no lock. Where the file system has no such locks
// (some network file systems), nothing waits.
#pragma once

#include <chrono>
#include <functional>

#include "ingot/error.hpp"
#include "ingot/export.h"

namespace ingot {

struct LockWait {
  /// Then the call fails with Errc::file_in_use; 0: at once.
  std::chrono::milliseconds limit{10'000};
  /// Called once when the wait begins, with Errc::file_in_use, the path, and, as far as the system
  /// tells, the process that holds the lock.
  std::function<void(const Error&)> on_wait = {};
};

/// Sets how calls of this process wait by default; thread-safe.
INGOT_EXPORT void set_lock_wait(LockWait wait);
[[nodiscard]] INGOT_EXPORT LockWait lock_wait();

}  // namespace ingot
