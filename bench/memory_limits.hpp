// SPDX-License-Identifier: MIT
// How fast memory can be written at all: loops that do nothing else, by the widest vectors of the
// CPU, whatever kernels are forced.
#pragma once

#include <cstddef>

namespace ingot::bench {

/// Loops over whole groups of 64 bytes; `dst` is aligned to 64, `src` need not be.
struct MemoryLimits {
  void (*store)(float* dst, std::size_t dst_bytes);
  /// Past the caches.
  void (*stream)(float* dst, std::size_t dst_bytes);
  /// Read `src_bytes` evenly while they write. The result depends on all that was read.
  int (*read_and_store)(const std::byte* src, std::size_t src_bytes, float* dst,
                        std::size_t dst_bytes);
  int (*read_and_stream)(const std::byte* src, std::size_t src_bytes, float* dst,
                         std::size_t dst_bytes);
};

/// The limits of the best CPU target; call it before another one is forced.
[[nodiscard]] MemoryLimits memory_limits();

}  // namespace ingot::bench
