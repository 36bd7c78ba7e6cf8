// SPDX-License-Identifier: MIT
// A pipe that somebody writes to.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <utility>

#include "support/gguf_builder.hpp"

namespace ingot::test {

/// Writes bytes into a pipe from a thread of its own, piece by piece, then closes it.
class PipeWriter {
 public:
  explicit PipeWriter(Bytes content, std::size_t piece_bytes = 4096,
                      std::chrono::milliseconds pause = {}) {
    std::signal(SIGPIPE, SIG_IGN);  // a reader may have seen enough
    int ends[2];
    if (::pipe(ends) != 0) std::abort();
    read_end_ = ends[0];
    writer_ = std::thread([=, content = std::move(content), write_end = ends[1]] {
      for (std::size_t at = 0; at < content.size();) {
        std::this_thread::sleep_for(pause);
        const ssize_t written =
            ::write(write_end, content.data() + at, std::min(piece_bytes, content.size() - at));
        if (written <= 0) break;
        at += static_cast<std::size_t>(written);
      }
      ::close(write_end);
    });
  }
  PipeWriter(const PipeWriter&) = delete;
  PipeWriter& operator=(const PipeWriter&) = delete;
  ~PipeWriter() {
    ::close(read_end_);
    writer_.join();
  }

  [[nodiscard]] int read_end() const { return read_end_; }

 private:
  int read_end_ = -1;
  std::thread writer_;
};

}  // namespace ingot::test
