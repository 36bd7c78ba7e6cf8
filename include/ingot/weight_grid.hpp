// SPDX-License-Identifier: MIT
// Weights that were quantized before: on a lattice, integers times a scale for each group, which a
// type of few bits can hold without a second rounding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "ingot/export.h"
#include "ingot/types.hpp"

namespace ingot {

/// A lattice: in each group of a row, weight = scale * integer + minimum, perhaps rounded to BF16,
/// F16 or F32 afterwards.
struct WeightGrid {
  std::uint32_t bits = 0;            ///< The bits of the integers.
  std::uint32_t group_elements = 0;  ///< Weights with one scale: 16 to 256, the last "or more".
  bool has_minimum = false;          ///< The integers are not a range around 0.

  friend bool operator==(const WeightGrid&, const WeightGrid&) = default;
};

/// "4-bit lattice, groups of 32", for people.
[[nodiscard]] INGOT_EXPORT std::string grid_text(const WeightGrid& grid);

template <class Visitor>
void describe(Visitor& visit, const WeightGrid& grid) {
  visit("bits", grid.bits, "", "of the integers");
  visit("group", grid.group_elements, "weights", "with one scale; 256 stands for 256 or more");
  visit("minimum", grid.has_minimum, "", "whether the integers are not a range around 0");
  visit("text", grid_text(grid), "", "the same for people");
}

/// Looks at a few parts of some rows, spread evenly: 16 of 256 weights at most, and fewer as soon
/// as they are on no lattice. Weights that only look like one by chance are found once in 2^40
/// groups. find_grid of tensor_profile.hpp does this for a tensor. Thread-safe, does not allocate.
///
/// @param rows  whole rows, back to back.
/// @return      nothing for weights on no lattice, or if too few of them are not zero.
[[nodiscard]] INGOT_EXPORT std::optional<WeightGrid> find_grid(std::span<const float> rows,
                                                               std::size_t row_elements) noexcept;

}  // namespace ingot
