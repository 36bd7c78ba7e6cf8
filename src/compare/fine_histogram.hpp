// SPDX-License-Identifier: MIT
// A histogram of floats whose range is not known before all have been seen.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ingot/tensor_profile.hpp"

namespace ingot::detail {

/// The number of bins: one for each value of the upper 16 bits of a binary32: sign, exponent and
/// seven bits of the significand. Counts are whole numbers, so the order in which they are added
/// does not matter.
inline constexpr std::size_t fine_bin_count = std::size_t{1} << 16;

/// Counts of one part of a tensor, of less than 2^32 numbers.
class FineCounts {
 public:
  FineCounts() : counts_(fine_bin_count) {}

  void add(std::span<const float> numbers) noexcept;

  /// Adds the counts to `totals` (of fine_bin_count) and starts anew.
  void move_to(std::span<std::uint64_t> totals) noexcept;

 private:
  std::vector<std::uint32_t> counts_;
};

/// The counts of a tensor over bins of equal width from the smallest to the largest number.
[[nodiscard]] Histogram spread_over_bins(std::span<const std::uint64_t> totals,
                                         const Statistics& statistics, std::size_t bin_count);

/// The exact histogram of a few numbers.
[[nodiscard]] Histogram count_exactly(std::span<const float> numbers, const Statistics& statistics,
                                      std::size_t bin_count);

}  // namespace ingot::detail
