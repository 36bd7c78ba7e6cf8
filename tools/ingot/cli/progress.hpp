// SPDX-License-Identifier: MIT
// A bar with rate and time left, on standard error.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "cli/interrupt.hpp"

namespace ingot::cli {

class Console;

/// The library calls this with the number of bytes done; it returns false if the user wants to
/// stop.
using GoOn = std::function<bool(std::uint64_t done_bytes)>;

/// Shows how far a piece of work is, in bytes. Under `--progress auto` the bar appears after a
/// second and only on a terminal. The destructor takes the line away again.
class Progress {
 public:
  Progress(const Console& console, std::string subject, std::uint64_t total_bytes);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// The size of the work, where only the work itself finds it.
  void set_total(std::uint64_t total_bytes) noexcept { total_bytes_ = total_bytes; }

  void update(std::uint64_t done_bytes);

  /// Shows how far the work is, and stops it where the user wants that. Valid as long as this.
  [[nodiscard]] GoOn go_on();

 private:
  using Clock = std::chrono::steady_clock;

  void draw(std::uint64_t done_bytes, double seconds);
  void replace_line(const std::string& line);

  const Console& console_;
  std::string subject_;
  std::uint64_t total_bytes_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_draw_;
  bool is_enabled_;
  std::size_t drawn_columns_ = 0;
};

/// Runs `work(go_on)` and returns its result. A request to stop ends the work in order, and `go_on`
/// shows how far it is.
template <class Work>
auto run_with_progress(const Console& console, std::string subject, std::uint64_t total_bytes,
                       const Work& work) {
  const OrderlyStop orderly_stop;
  Progress progress(console, std::move(subject), total_bytes);
  return work(progress.go_on());
}

}  // namespace ingot::cli
