// SPDX-License-Identifier: MIT
// Progress of work that many threads share.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/mutex.hpp"
#include "ingot/error.hpp"

namespace ingot {

/// Adds up the bytes that are done, and reports the sum from one thread at a time.
class SharedProgress {
 public:
  /// Receives the sum and returns whether to go on; may be empty. Must outlive the SharedProgress.
  using Function = std::function<bool(std::uint64_t done_bytes)>;

  explicit SharedProgress(const Function& progress) noexcept : progress_(progress) {}

  /// Adds bytes. Thread-safe. Fails with Errc::interrupted and the subject if the work must end.
  [[nodiscard]] Result<void> add(std::uint64_t bytes, std::string_view subject = {}) {
    if (!progress_) return {};
    const MutexLock lock(mutex_);
    done_bytes_ += bytes;
    if (progress_(done_bytes_)) return {};
    return fail(Errc::interrupted, std::string(subject));
  }

 private:
  const Function& progress_;
  Mutex mutex_;
  std::uint64_t done_bytes_ = 0;
};

}  // namespace ingot
