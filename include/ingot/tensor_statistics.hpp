// SPDX-License-Identifier: MIT
// Statistics of whole tensors, decoded on the fly by many threads (target ingot::convert).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/model.hpp"
#include "ingot/statistics.hpp"
#include "ingot/tensor.hpp"

namespace ingot {

/// Receives the bytes of tensor data done so far; false ends the work with Errc::interrupted.
/// Called from one thread at a time.
using StatisticsProgress = std::function<bool(std::uint64_t done_bytes)>;

/// The statistics of each tensor, in their order: the same digits for any number of threads, on any
/// CPU. Tensors larger than memory stream, through a few 100 KiB per thread.
///
/// @param tensors       of this model.
/// @param thread_count  0: as many as the machine has cores.
/// @return  Errc::unsupported_type for tensors that cannot be decoded, and errors of reading.
[[nodiscard]] INGOT_EXPORT Result<std::vector<Statistics>> compute_statistics(
    const Model& model, std::span<const TensorInfo* const> tensors, unsigned thread_count,
    const StatisticsProgress& progress = {});

}  // namespace ingot
