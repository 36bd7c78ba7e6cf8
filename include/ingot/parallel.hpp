// SPDX-License-Identifier: MIT
// Work on many rows with many threads (target ingot::convert).
//
// Rows are independent of one another, so results do not depend on the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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
