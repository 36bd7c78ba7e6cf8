// SPDX-License-Identifier: MIT
// Range, mean, spread and oddities of the numbers of a tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "ingot/describe.hpp"
#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/types.hpp"

namespace ingot {

/// Statistics of numbers. Those that are NaN or infinite are counted and left out of all else.
struct Statistics {
  std::uint64_t count = 0;  ///< Finite numbers.
  std::uint64_t zeros = 0;  ///< The zeros among the elements: 0 and -0.
  std::uint64_t nans = 0;
  std::uint64_t infinities = 0;
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  double mean = 0.0;
  double squares = 0.0;  ///< Sum of the squared distances from the mean.

  /// The standard deviation of the numbers as a whole population; 0 if there are none.
  [[nodiscard]] INGOT_EXPORT double deviation() const noexcept;

  /// Adds the statistics of other numbers. The order matters to the last digits.
  INGOT_EXPORT void add(const Statistics& other) noexcept;
};

template <class Visitor>
void describe(Visitor& visit, const Statistics& statistics) {
  const auto number = [&](double value) {  // There is no smallest of no numbers.
    return statistics.count > 0 ? std::optional(value) : std::nullopt;
  };
  visit("min", number(statistics.min), "", "the smallest finite weight; null if there are none");
  visit("max", number(statistics.max), "", "the largest, likewise");
  visit("mean", number(statistics.mean), "", "their mean");
  visit("std", number(statistics.deviation()), "",
        "their standard deviation, as a whole population");
  visit("finite", statistics.count, "weights", "that are neither NaN nor infinite");
  visit("zeros", statistics.zeros, "weights", "that are 0, of either sign");
  visit("nan", statistics.nans, "weights", "that are NaN");
  visit("inf", statistics.infinities, "weights", "that are infinite, of either sign");
}

/// Numbers that are summed as one piece. Work that is split at multiples of it, and added up in
/// order, has the same digits for any number of threads.
inline constexpr std::size_t statistics_piece = 16384;

/// Statistics of some numbers, the same on every CPU. Linear; thread-safe; does not allocate.
[[nodiscard]] INGOT_EXPORT Statistics compute_statistics(std::span<const float> numbers) noexcept;

/// The statistics of the numbers in whole blocks of a type: exactly those of the decoded floats,
/// without keeping them. Linear; thread-safe; allocates only to report an error.
/// @return Errc::unsupported_type for removed and unknown types, Errc::size_mismatch if `blocks`
///         are not whole ones
[[nodiscard]] INGOT_EXPORT Result<Statistics> compute_statistics(
    TensorType type, std::span<const std::byte> blocks, Endian byte_order = Endian::little);

}  // namespace ingot
