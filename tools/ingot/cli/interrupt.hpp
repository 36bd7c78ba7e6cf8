// SPDX-License-Identifier: MIT
// Ctrl-C and the other polite requests to stop.
#pragma once

namespace ingot::cli {

/// Makes SIGINT, SIGTERM and SIGHUP end the process with status 128 + signal (130 for Ctrl-C),
/// makes a closed pipe or a file beyond `ulimit -f` an error of write instead of a signal, and lets
/// a mapped file that becomes shorter end the process with a message and status 4.
void handle_signals() noexcept;

/// While one of these is alive, a request to stop is only recorded, so that work that checks
/// `stop_signal` can leave everything in order.
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
