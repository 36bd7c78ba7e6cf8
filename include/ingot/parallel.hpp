// SPDX-License-Identifier: MIT
// Work on many rows with many threads (target ingot::convert).
//
// Rows are independent of one another, so results do not depend on the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/quantize.hpp"
#include "ingot/types.hpp"

namespace ingot {

/// The number of threads for some pieces of work: `wanted` (0: as many as the machine has cores),
/// but not more than pieces, and at least one.
[[nodiscard]] INGOT_EXPORT unsigned threads_for(unsigned wanted,
                                                std::uint64_t piece_count) noexcept;

/// Works on the items first, first + 1, ... first + count - 1.
using PieceOfWork = std::function<Result<void>(std::uint64_t first, std::uint64_t count)>;

/// Spreads items, rows for instance, over threads: calls `work` for pieces of `piece_items` (the
/// last one may be smaller), each item exactly once, several calls at a time, and returns when all
/// are done. Pieces begin in ascending order. The calling thread works too.
///
/// @param piece_items   at least 1. Pieces of some 100 microseconds are long enough.
/// @param thread_count  0: as many as the machine has cores.
/// @return  the error of the first piece, by position, of those that failed; after an error no
///          further piece begins. An exception of `work` is thrown again, from here.
[[nodiscard]] INGOT_EXPORT Result<void> spread(std::uint64_t item_count, std::uint64_t piece_items,
                                               unsigned thread_count, const PieceOfWork& work);

/// Threads for many calls of `spread`, so that none of them makes its own. They begin when a call
/// first needs them and end with the team. The calling thread never waits for one that has not
/// begun: where other work keeps the cores busy, it does all pieces itself.
///
/// Thread-safe: calls from several threads, and from within a piece, share the threads. After a
/// fork, the child has none of the threads and must not use the team.
class INGOT_EXPORT ThreadTeam {
 public:
  /// @param thread_count  the calling thread included; 0: as many as the machine has cores.
  explicit ThreadTeam(unsigned thread_count);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  /// At least 1.
  [[nodiscard]] unsigned thread_count() const noexcept;

  /// The same as the function `spread`, by these threads.
  [[nodiscard]] Result<void> spread(std::uint64_t item_count, std::uint64_t piece_items,
                                    const PieceOfWork& work);

 private:
  class Threads;
  std::unique_ptr<Threads> threads_;
};

/// `dequantize` of quantize.hpp on many threads.
[[nodiscard]] INGOT_EXPORT Result<void> dequantize_spread(TensorType type,
                                                          std::span<const std::byte> src,
                                                          std::span<float> dst,
                                                          unsigned thread_count,
                                                          const DequantizeOptions& options = {});

/// `quantize` of quantize.hpp on many threads; pieces are whole rows.
[[nodiscard]] INGOT_EXPORT Result<void> quantize_spread(TensorType type, std::span<const float> src,
                                                        std::size_t row_elements,
                                                        std::span<std::byte> dst,
                                                        unsigned thread_count,
                                                        const QuantizeOptions& options = {});

}  // namespace ingot
