// SPDX-License-Identifier: MIT
// Which requests are sent again after a failure, how often, and after which time.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string_view>

#include "ingot/error.hpp"

namespace ingot::remote {

/// Whether a server that answers so may give another answer soon.
[[nodiscard]] bool is_busy(int status) noexcept;

/// Seconds to wait, from a number or a date; a date that is over is no wait.
[[nodiscard]] std::optional<std::chrono::seconds> parse_retry_after(std::string_view text,
                                                                    std::time_t now) noexcept;

/// The failures of one request, in a row without progress.
class Retries {
 public:
  Retries(int most, std::chrono::milliseconds first_wait, std::uint64_t received_bytes)
      : most_(most), first_wait_(first_wait), received_bytes_(received_bytes) {}

  /// Counts a failure; one after progress, by the bytes received so far, is the first again. Gives
  /// the error back if it is one too many.
  [[nodiscard]] Result<void> count(const Error& error, std::uint64_t received_bytes);

  /// How long to wait after that failure: twice as long as after the one before it, times `jitter`,
  /// within the limits, and at least what the server `wanted`. The error if it wants too much.
  [[nodiscard]] Result<std::chrono::milliseconds> wait_after(
      const Error& error, std::optional<std::chrono::seconds> wanted, double jitter) const;

 private:
  int most_;
  std::chrono::milliseconds first_wait_;
  std::uint64_t received_bytes_;
  int failures_ = 0;
};

/// A factor for `Retries::wait_after`, by chance.
[[nodiscard]] double retry_jitter();

}  // namespace ingot::remote
