// SPDX-License-Identifier: MIT
#include "codec/lattice/lattice_neighbours.hpp"

#include <algorithm>

#include "codec/lattice/lattice.hpp"

namespace ingot::codec {
namespace {

/// A bound of the length of a list; the longest, without padding, has 292 neighbours.
constexpr std::size_t neighbours_max = 511;

/// The tables of a lattice, and the parameters they are built from. `neighbour_count` is the length
/// of all lists together, padding included.
template <std::size_t dimensions, unsigned level_count, std::size_t point_count,
          std::size_t distance_count, std::size_t neighbour_count>
class NeighbourTables {
 public:
  explicit NeighbourTables(const std::array<std::uint16_t, point_count>& codes) noexcept {
    for (std::size_t rank = 0; rank < point_count; ++rank) {
      points_[rank] = packed(codes[rank]);
    }
    fill_squares();
    std::size_t next_code = 0;
    for (unsigned code = 0; code < code_count; ++code) {
      if (next_code < point_count && codes[next_code] == code) {
        snaps_[code] = {static_cast<std::uint32_t>(used_), 0};
        for (std::size_t i = 0; i < 2 * dimensions; ++i) {
          append(static_cast<std::uint16_t>(next_code));
        }
        ++next_code;
      } else {
        append_neighbours(code);
      }
    }
  }

  [[nodiscard]] LatticeNeighbours view() const noexcept {
    return {dimensions,     level_count,   snaps_.data(),
            points_.data(), ranks_.data(), neighbour_points_.data()};
  }

 private:
  static constexpr std::size_t code_count = [] {
    std::size_t count = 1;
    for (std::size_t i = 0; i < dimensions; ++i) count *= level_count;
    return count;
  }();

  using Row = std::array<std::uint8_t, point_count>;

  static std::uint32_t packed(unsigned code) noexcept {
    std::uint32_t point = 0;
    for (std::size_t i = 0; i < dimensions; ++i, code /= level_count) {
      point |= (code % level_count) << (4 * i);
    }
    return point;
  }

  /// Squares of the differences between a level and the points, one row for each level of each
  /// dimension.
  void fill_squares() noexcept {
    for (std::size_t i = 0; i < dimensions; ++i) {
      for (unsigned level = 0; level < level_count; ++level) {
        for (std::size_t rank = 0; rank < point_count; ++rank) {
          const int difference =
              static_cast<int>(points_[rank] >> (4 * i) & 15u) - static_cast<int>(level);
          squares_[i * level_count + level][rank] =
              static_cast<std::uint8_t>(difference * difference);
        }
      }
    }
  }

  /// Squared distances from a point to all of the lattice; at most 4 * 7 * 7.
  void fill_distances(std::uint32_t point) noexcept {
    distances_ = squares_[point & 15u];
    for (std::size_t i = 1; i < dimensions; ++i) {
      const Row& squares = squares_[i * level_count + (point >> (4 * i) & 15u)];
      for (std::size_t rank = 0; rank < point_count; ++rank) {
        distances_[rank] = static_cast<std::uint8_t>(distances_[rank] + squares[rank]);
      }
    }
  }

  /// The smallest distance above `bound`.
  [[nodiscard]] std::uint8_t next_distance(std::uint8_t bound) const noexcept {
    std::uint8_t smallest = 255;
    for (const std::uint8_t distance : distances_) {
      const std::uint8_t candidate = distance > bound ? distance : std::uint8_t{255};
      smallest = std::min(smallest, candidate);
    }
    return smallest;
  }

  void append_neighbours(unsigned code) noexcept {
    fill_distances(packed(code));
    // No point outside the lattice has distance 0.
    std::array<std::uint8_t, distance_count> nearest{};
    std::uint8_t bound = 0;
    for (std::uint8_t& distance : nearest) bound = distance = next_distance(bound);
    std::array<std::uint16_t, neighbours_max + 1> close;
    std::size_t close_count = 0;
    for (std::size_t rank = 0; rank < point_count; ++rank) {
      close[close_count] = static_cast<std::uint16_t>(rank);
      close_count += distances_[rank] <= bound ? 1 : 0;
    }
    snaps_[code] = {static_cast<std::uint32_t>(used_), static_cast<std::uint32_t>(close_count)};
    const std::size_t first = used_;
    for (const std::uint8_t distance : nearest) {
      for (std::size_t i = 0; i < close_count; ++i) {
        if (distances_[close[i]] == distance) append(close[i]);
      }
    }
    while (used_ % (2 * dimensions) != 0) append(ranks_[first]);
  }

  void append(std::uint16_t rank) noexcept {
    ranks_[used_] = rank;
    neighbour_points_[used_++] = points_[rank];
  }

  alignas(64) std::array<std::uint32_t, neighbour_count> neighbour_points_{};
  std::array<std::uint16_t, neighbour_count> ranks_{};
  std::array<LatticeSnap, code_count> snaps_{};
  std::array<std::uint32_t, point_count> points_{};
  std::array<Row, dimensions * level_count> squares_{};
  Row distances_{};
  std::size_t used_ = 0;
};

/// The neighbours of a lattice; neighbour_count is that of NeighbourTables.
template <std::size_t dimensions, unsigned level_count, std::size_t distance_count,
          std::size_t neighbour_count, std::size_t point_count>
const LatticeNeighbours& neighbours_of(const std::array<std::uint16_t, point_count>& codes) {
  static const NeighbourTables<dimensions, level_count, point_count, distance_count,
                               neighbour_count>
      tables(codes);
  static const LatticeNeighbours view = tables.view();
  return view;
}

}  // namespace

const LatticeNeighbours& iq2_xxs_neighbours() noexcept {
  return neighbours_of<8, 3, 2, 165232>(iq2_xxs_codes);
}
const LatticeNeighbours& iq2_xs_neighbours() noexcept {
  return neighbours_of<8, 3, 2, 238752>(iq2_xs_codes);
}
const LatticeNeighbours& iq2_s_neighbours() noexcept {
  return neighbours_of<8, 3, 1, 116960>(iq2_s_codes);
}
const LatticeNeighbours& iq3_xxs_neighbours() noexcept {
  return neighbours_of<4, 8, 2, 36352>(iq3_xxs_codes);
}
const LatticeNeighbours& iq3_s_neighbours() noexcept {
  return neighbours_of<4, 8, 3, 40552>(iq3_s_codes);
}
const LatticeNeighbours& iq1_neighbours() noexcept {
  return neighbours_of<8, 3, 3, 395120>(iq1_codes);
}

}  // namespace ingot::codec
