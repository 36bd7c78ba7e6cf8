// SPDX-License-Identifier: MIT
#include "ingot/weight_grid.hpp"

#include <algorithm>
#include <array>

#include "codec/grid/grid_finder.hpp"
#include "ingot/quantize.hpp"

namespace ingot {
namespace {

/// A type whose blocks are lattices.
struct GridType {
  TensorType type;
  WeightGrid grid;
  Effort effort;  ///< What comes near to the lattice.
};

// Q4_K and Q5_K hold a lattice of 256 weights, and round the scales of several to 6 bits. Q6_K has
// scales of 8 bits, which its search uses well.
constexpr std::array grid_types = {GridType{TensorType::q4_0, {4, 32, false}, Effort::automatic},
                                   GridType{TensorType::q4_1, {4, 32, true}, Effort::automatic},
                                   GridType{TensorType::q5_0, {5, 32, false}, Effort::automatic},
                                   GridType{TensorType::q5_1, {5, 32, true}, Effort::automatic},
                                   GridType{TensorType::q8_0, {8, 32, false}, Effort::automatic},
                                   GridType{TensorType::q4_k, {4, 32, true}, Effort::automatic},
                                   GridType{TensorType::q5_k, {5, 32, true}, Effort::automatic},
                                   GridType{TensorType::q6_k, {6, 16, false}, Effort::best}};

}  // namespace

std::string grid_text(const WeightGrid& grid) {
  return std::to_string(grid.bits) + "-bit lattice" + (grid.has_minimum ? " with minimums" : "") +
         ", groups of " + std::to_string(grid.group_elements) +
         (grid.group_elements == codec::GridSample::longest_part ? " or more" : "");
}

Effort effort_for(TensorType type, const std::optional<WeightGrid>& grid) noexcept {
  const auto row = std::ranges::find(grid_types, type, &GridType::type);
  const bool is_held = grid && row != grid_types.end() && row->grid.bits >= grid->bits &&
                       row->grid.group_elements <= grid->group_elements &&
                       (row->grid.has_minimum || !grid->has_minimum);
  return is_held ? row->effort : Effort::reference;
}

std::optional<WeightGrid> find_grid(std::span<const float> rows,
                                    std::size_t row_elements) noexcept {
  if (row_elements == 0) return std::nullopt;
  const codec::GridSample sample(row_elements, rows.size() / row_elements);
  codec::GridFinder finder;
  for (std::uint64_t part = 0; part < sample.part_count(); ++part) {
    const auto first = static_cast<std::size_t>(sample.first_element(part));
    if (!finder.add(rows.subspan(first, static_cast<std::size_t>(sample.part_elements())))) break;
  }
  return finder.result();
}

}  // namespace ingot
