// SPDX-License-Identifier: MIT
// A bar with rate and time left, on standard error.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace ingot::cli {

class Console;

/// Shows how far a piece of work is, in bytes. Under `--progress auto` the bar appears after a
/// second and only on a terminal. The destructor takes the line away again.
class Progress {
 public:
  Progress(const Console& console, std::string subject, std::uint64_t total_bytes);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(std::uint64_t done_bytes);

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

}  // namespace ingot::cli
