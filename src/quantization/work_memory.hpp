// SPDX-License-Identifier: MIT
// How many threads and chunks fit a limit of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "quantization/quantize_work.hpp"

namespace ingot::quantization {

/// Who works, and how far ahead of the writing.
struct Crew {
  unsigned thread_count = 1;
  std::size_t chunks_ahead = 0;
};

/// The crew for these chunks: what the options ask for, or as much of it as their limit of memory
/// leaves; Errc::invalid_argument names the least limit. `header_bytes` are those of the source.
[[nodiscard]] Result<Crew> make_crew(std::span<const ChunkedTensor> tensors,
                                     const QuantizeModelOptions& options, std::uint64_t chunk_count,
                                     std::uint64_t header_bytes);

}  // namespace ingot::quantization
