// SPDX-License-Identifier: MIT
// Buffers that threads borrow, and the batch of texts that a pass works on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "evaluation/panels.hpp"

namespace ingot::evaluation {

/// Chunks of text that are computed together. Every chunk begins a panel.
struct Batch {
  std::size_t chunk_count = 0;
  std::size_t chunk_tokens = 0;

  [[nodiscard]] std::size_t panels_of_chunk() const noexcept {
    return rounded_up(chunk_tokens, panel_tokens) / panel_tokens;
  }
  [[nodiscard]] std::size_t panel_count() const noexcept { return chunk_count * panels_of_chunk(); }
  /// Position in its chunk of the first token of a panel.
  [[nodiscard]] std::size_t position_of(std::size_t panel) const noexcept {
    return panel % panels_of_chunk() * panel_tokens;
  }
  /// Tokens of a panel that belong to its chunk: the first ones.
  [[nodiscard]] std::size_t tokens_of(std::size_t panel) const noexcept {
    return std::min(panel_tokens, chunk_tokens - position_of(panel));
  }
};

/// Buffers for threads, made when they are first needed and used again. Thread-safe.
class BufferPool {
 public:
  struct Buffer {
    std::size_t count = 0;
    AlignedFloats floats;
  };

  /// A buffer for as long as this lives.
  class Loan {
   public:
    Loan(BufferPool& pool, std::size_t count) : pool_(pool), buffer_(pool.take(count)) {}
    ~Loan() { pool_.give_back(std::move(buffer_)); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    [[nodiscard]] float* data() noexcept { return buffer_.floats.data(); }

   private:
    BufferPool& pool_;
    Buffer buffer_;
  };

 private:
  Buffer take(std::size_t count) {
    Buffer buffer;
    {
      const std::lock_guard lock(mutex_);
      if (buffers_.empty()) {
        buffers_.reserve(++made_);  // there is room for all of them when they come back
      } else {
        buffer = std::move(buffers_.back());
        buffers_.pop_back();
      }
    }
    if (buffer.count < count) buffer = {count, AlignedFloats(count)};
    return buffer;
  }
  void give_back(Buffer buffer) noexcept {
    const std::lock_guard lock(mutex_);
    buffers_.push_back(std::move(buffer));
  }

  std::size_t made_ = 0;
  std::mutex mutex_;
  std::vector<Buffer> buffers_;
};

}  // namespace ingot::evaluation
