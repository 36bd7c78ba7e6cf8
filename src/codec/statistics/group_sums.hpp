// SPDX-License-Identifier: MIT
// Sums of weights and of their squares straight from the levels of a block, for types below 4 bits:
// decoding these is so fast that adding up their floats would take longer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "ingot/types.hpp"

namespace ingot::codec {

/// Weights whose sums are made at once: a super-block, or several small blocks.
inline constexpr std::size_t summed_run = 256;
inline constexpr std::size_t group_lanes = 8;

struct Extremes {
  float least = std::numeric_limits<float>::infinity();
  float most = -std::numeric_limits<float>::infinity();
};

/// Group g (weights 16g .. 16g + 15) belongs to lane g % 8. Its levels share a scale, so its sums
/// are products of scales and small integers: exact, and the same however they are made.
struct GroupSums {
  alignas(64) double sums[group_lanes] = {};
  alignas(64) double squares[group_lanes] = {};  ///< Sums of squares.
  std::uint64_t zeros = 0;                       ///< The zeros of the runs that are not open.
  /// Bit r is set if weights of run r may lie outside of the extremes, or their zeros are not
  /// counted: their floats have to be looked at.
  std::uint64_t open_runs = 0;
};

/// Adds 1 to 64 runs, of each its groups g and g + 8 together, and sets `open_runs`. A scale that
/// is not finite makes sums that are not. Q2_K is summed before its weights are rounded.
using SumGroups = void (*)(const std::byte* src, std::size_t run_count, const Extremes& known,
                           GroupSums& sums) noexcept;

/// The function of a type; null if it has 4 bits or more. O(1), thread-safe.
[[nodiscard]] SumGroups find_group_sums(TensorType type) noexcept;

/// Sums groups of the decoded weights; all runs stay open.
void sum_groups_ref(TensorType type, const std::byte* src, std::size_t run_count,
                    GroupSums& sums) noexcept;

}  // namespace ingot::codec
