// SPDX-License-Identifier: MIT
// The tree of hashes above the chunks of Xet.
#pragma once

#include <array>
#include <cstdint>

#include "digest/blake3.hpp"
#include "ingot/xet.hpp"

namespace ingot {

[[nodiscard]] XetHash xet_hash_of(const digest::Blake3Words& words) noexcept;

/// Makes the hash of the root while chunks come in: a level holds only the nodes of the group that
/// is not complete.
class XetTree {
 public:
  void add(const XetChunk& chunk) noexcept { add(0, chunk); }

  /// The hash of the root: that of the chunk if there is only one, zeros if there is none. Then the
  /// tree is empty.
  [[nodiscard]] XetHash finish() noexcept;

 private:
  // A group has 3 to 9 nodes, the last one of a level perhaps fewer. A node with a hash that
  // is a multiple of 4 ends its group: 4 of them on average.
  static constexpr std::size_t least_group = 3;
  static constexpr std::size_t most_group = 9;

  // Groups of at least three: 2^64 bytes have no more levels than this.
  static constexpr std::size_t most_levels = 36;

  struct Level {
    std::array<XetChunk, most_group> nodes;
    std::size_t count = 0;
    bool has_groups = false;  ///< Whether the level above has nodes.
  };

  void add(std::size_t level, const XetChunk& node) noexcept;
  void close_group(std::size_t level) noexcept;

  std::array<Level, most_levels> levels_;
};

}  // namespace ingot
