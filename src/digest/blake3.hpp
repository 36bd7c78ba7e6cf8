// SPDX-License-Identifier: MIT
// The keyed form of BLAKE3, of bytes that are all there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ingot::digest {

/// A key or a hash of BLAKE3: its bytes as eight little-endian numbers.
using Blake3Words = std::array<std::uint32_t, 8>;

/// The bytes of a chunk of BLAKE3, which is hashed from front to back; chunks become a binary tree.
inline constexpr std::size_t blake3_chunk_bytes = 1024;

/// The most bytes that `keyed_blake3` takes: those of the largest chunk of Xet.
inline constexpr std::size_t most_blake3_bytes = std::size_t{128} << 10;

/// The keyed hash of up to `most_blake3_bytes`. Linear; does not allocate.
[[nodiscard]] Blake3Words keyed_blake3(const Blake3Words& key,
                                       std::span<const std::byte> bytes) noexcept;

/// Inputs of the same size at equal distances, each of which becomes one hash.
struct Blake3Rows {
  const std::byte*
      first;  ///< The blocks of the first one, of 64 bytes, the last one filled up with zeros.
  std::size_t distance_bytes;  ///< From one to the next.
  std::size_t count;
  std::size_t block_count;          ///< The blocks of each, at least one.
  std::uint32_t last_block_bytes;   ///< Those of the last block that are not filling.
  std::uint64_t counter;            ///< The number of the first one in the input.
  std::uint64_t counter_step;       ///< 1 for chunks, 0 for nodes of the tree.
  std::uint32_t flags;              ///< Of all blocks.
  std::uint32_t first_block_flags;  ///< Of the first block, besides.
  std::uint32_t last_block_flags;   ///< Of the last block, besides.
};

/// Writes the hashes of all rows, 32 bytes each, one after the other; several rows at once, as many
/// as the vectors of the CPU have lanes.
void hash_blake3_rows(const Blake3Words& key, const Blake3Rows& rows, std::byte* hashes) noexcept;

}  // namespace ingot::digest
