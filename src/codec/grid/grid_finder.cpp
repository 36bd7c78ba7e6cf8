// SPDX-License-Identifier: MIT
#include "codec/grid/grid_finder.hpp"

#include <bit>
#include <cmath>

#include "codec/grid/grid_fit.hpp"

namespace ingot::codec {
namespace {

std::uint32_t bits_for(int codes) noexcept {
  return static_cast<std::uint32_t>(std::bit_width(static_cast<unsigned>(codes) - 1));
}

}  // namespace

void GridFinder::look(std::span<const float> part, std::size_t size_index) noexcept {
  Groups& groups = groups_[size_index];
  const std::size_t size = sizes[size_index];
  for (std::size_t first = 0; first + size <= part.size() && !groups.is_over(); first += size) {
    const GridGroup group(part.subspan(first, size));
    if (group.is_zero()) continue;
    const std::optional<GridFit> multiples = group.fit_multiples();
    const std::optional<GridFit> differences = group.fit_differences();
    if (!multiples && !differences) {
      ++groups.misses;
      continue;
    }
    std::uint32_t symmetric = most_bits;
    std::uint32_t bits = most_bits;
    if (multiples && multiples->chance <= greatest_chance) {
      bits = bits_for(multiples->highest - multiples->lowest + 1);
      // Two's complement, or its mirror image: -8 to 7 or -7 to 8.
      symmetric = std::max(bits, bits_for(std::max(-multiples->lowest, multiples->highest)) + 1);
    }
    if (differences && differences->chance <= greatest_chance) {
      bits = std::min(bits, bits_for(differences->highest - differences->lowest + 1));
    }
    if (bits == most_bits) continue;
    ++groups.hits;
    ++groups.symmetric[symmetric];
    ++groups.any[bits];
  }
}

bool GridFinder::add(std::span<const float> part) noexcept {
  // What is not finite is refused, or wanted, elsewhere.
  if (!std::ranges::all_of(part, [](float weight) { return std::isfinite(weight); })) return true;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    // Where no group of 16 is on a lattice, no larger one is.
    if (i == 0 || groups_[i - 1].fits()) look(part, i);
  }
  return !groups_[0].is_over();
}

std::optional<WeightGrid> GridFinder::result() const noexcept {
  std::optional<WeightGrid> found;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Groups& groups = groups_[i];
    if (groups.hits == 0 || !groups.fits()) continue;
    const std::uint32_t bits = groups.usual(groups.any);
    // Two groups of few levels each lie on a lattice of more bits, too.
    if (found && bits > found->bits + 1) break;
    found = {bits, sizes[i], groups.usual(groups.symmetric) > bits};
  }
  return found;
}

}  // namespace ingot::codec
