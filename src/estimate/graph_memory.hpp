// SPDX-License-Identifier: MIT
// The engine's allocator for the tensors of a graph (ggml-alloc.c): best fit, and a block is free
// again after the last use of its tensor.
#pragma once

#include <vector>

#include "base/checked.hpp"

namespace ingot::estimate {

class GraphMemory {
 public:
  struct Block {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
  };

  /// A place for a tensor. If it lies beyond 64 bits, the peak is an overflow.
  Block take(CheckedNumber bytes);
  void drop(Block block);

  /// The end of the furthest block since the start or the last call.
  [[nodiscard]] CheckedNumber next_peak() noexcept;

 private:
  std::vector<Block> holes_;  ///< By offset, none beside another.
  std::uint64_t end_ = 0;     ///< All from here on is free.
  CheckedNumber peak_;
};

}  // namespace ingot::estimate
