// SPDX-License-Identifier: MIT
// Reads all weights of a model, on many threads, and looks for what is not finite.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "check/inspection.hpp"

namespace ingot::check {

/// Reads all weights of some tensors of a model; one result for each, in their order.
[[nodiscard]] Result<std::vector<TensorScan>> scan_tensors(
    const Model& model, std::span<const TensorInfo* const> tensors, const CheckOptions& options);

/// Fills `scans` of the inspection, or `unreadable` with the reason why it cannot.
[[nodiscard]] Result<void> scan_data(Inspection& inspection, const CheckOptions& options);

/// The numbers in a run of whole blocks that are not finite.
struct BlockScan {
  std::uint64_t bad_count = 0;         ///< Numbers, or scales of blocks.
  std::uint64_t first_bad_offset = 0;  ///< Byte from the start of the blocks.
};

/// Looks at every number of the plain float types and at every scale of the block types; integer
/// types have nothing to find. `type` must be live. Linear; does not allocate.
[[nodiscard]] BlockScan scan_blocks(TensorType type, Endian byte_order,
                                    std::span<const std::byte> blocks) noexcept;

}  // namespace ingot::check
