// SPDX-License-Identifier: MIT
// Whether tensors of two models store the same bytes.
#pragma once

#include <vector>

#include "ingot/diff.hpp"

namespace ingot::detail {

/// Compares the stored bytes of tensors of the same type and shape, those of `b` in the byte order
/// of `a`. One read of each, up to the first difference; the same result for any number of threads.
/// Errc::unsupported_type for a tensor of unknown type in two byte orders.
[[nodiscard]] Result<std::vector<DataDifference>> compare_stored_bytes(
    const Model& a, const Model& b, std::span<const TensorPair> pairs, unsigned thread_count,
    const DistanceProgress& progress);

}  // namespace ingot::detail
