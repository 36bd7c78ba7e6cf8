// SPDX-License-Identifier: MIT
// Ctrl-C and the other polite requests to stop.
#pragma once

namespace ingot::cli {

/// From now on SIGINT, SIGTERM and SIGHUP end the process with status 128 + signal (130 for
/// Ctrl-C), a closed pipe or a file beyond `ulimit -f` is an error of write instead of a signal,
/// and a mapped file that becomes shorter ends the process with a message and status 4.
void handle_signals() noexcept;

/// While one of these is alive, a request to stop is only noted: the work that checks
/// `stop_signal` can leave everything in order first.
class OrderlyStop {
 public:
  OrderlyStop() noexcept;
  ~OrderlyStop();
  OrderlyStop(const OrderlyStop&) = delete;
  OrderlyStop& operator=(const OrderlyStop&) = delete;
};

/// The signal that asked to stop, or 0.
[[nodiscard]] int stop_signal() noexcept;

}  // namespace ingot::cli
