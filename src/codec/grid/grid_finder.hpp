// SPDX-License-Identifier: MIT
// Finds out whether weights lie on a lattice (weight_grid.hpp), by a sample.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "ingot/export.h"
#include "ingot/weight_grid.hpp"

namespace ingot::codec {

/// The parts of rows that are looked at, spread evenly over the rows and over their columns. They
/// begin where a group of 256 does, and so do groups of other sizes.
class GridSample {
 public:
  static constexpr std::uint64_t longest_part = 256;

  GridSample(std::uint64_t row_elements, std::uint64_t row_count) noexcept
      : row_elements_(row_elements), row_count_(row_count) {}

  /// Weights of a part: whole groups of 32, if the rows have any.
  [[nodiscard]] std::uint64_t part_elements() const noexcept {
    return std::min(longest_part, row_elements_ / 32 * 32);
  }
  [[nodiscard]] std::uint64_t part_count() const noexcept {
    const std::uint64_t parts = part_elements() == 0 ? 0 : row_elements_ / part_elements();
    return parts >= most_parts ? (row_count_ == 0 ? 0 : most_parts)
                               : std::min(most_parts, parts * row_count_);
  }
  /// The element at which a part begins.
  [[nodiscard]] std::uint64_t first_element(std::uint64_t part) const noexcept {
    const std::uint64_t count = part_count();
    // Of the quotient and the rest, so that no product is larger than the rows.
    const std::uint64_t row = row_count_ / count * part + row_count_ % count * part / count;
    const std::uint64_t parts = row_elements_ / part_elements();
    const std::uint64_t column =
        parts < most_parts ? part % parts : parts / count * part + parts % count * part / count;
    return row * row_elements_ + column * part_elements();
  }

 private:
  static constexpr std::uint64_t most_parts = 16;

  std::uint64_t row_elements_;
  std::uint64_t row_count_;
};

/// Takes parts one after the other.
class INGOT_EXPORT GridFinder {
 public:
  /// Looks at a part; false if no further one can change that there is no lattice.
  bool add(std::span<const float> part) noexcept;

  [[nodiscard]] std::optional<WeightGrid> result() const noexcept;

 private:
  static constexpr std::array<std::uint32_t, 5> sizes = {16, 32, 64, 128, 256};

  /// Beyond the bits of any integer that is looked for.
  static constexpr std::uint32_t most_bits = 10;
  /// How many groups have integers of so many bits.
  using BitCounts = std::array<std::uint32_t, most_bits + 1>;

  /// Groups of one size.
  struct Groups {
    std::uint32_t hits = 0;    ///< Those on a lattice; others are not clear.
    std::uint32_t misses = 0;  ///< Those on none.
    BitCounts symmetric = {};  ///< Of hits, for integers around 0; most_bits if they are not.
    BitCounts any = {};        ///< Of hits, for integers of any range.

    /// A few groups may be what they like: rows that were added later, say.
    [[nodiscard]] std::uint32_t exceptions() const noexcept { return hits / 16; }
    [[nodiscard]] bool fits() const noexcept { return misses <= exceptions(); }
    [[nodiscard]] bool is_over() const noexcept { return misses > 2 + exceptions(); }
    /// The bits that suffice but for these.
    [[nodiscard]] std::uint32_t usual(const BitCounts& counts) const noexcept {
      std::uint32_t bits = most_bits;
      for (std::uint32_t left = exceptions(); bits > 0 && counts[bits] <= left; --bits) {
        left -= counts[bits];
      }
      return bits;
    }
  };

  void look(std::span<const float> part, std::size_t size_index) noexcept;

  std::array<Groups, sizes.size()> groups_;
};

}  // namespace ingot::codec
