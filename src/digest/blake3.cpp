// SPDX-License-Identifier: MIT
#include "digest/blake3.hpp"

#include <algorithm>
#include <cstring>

#include "base/byte_order.hpp"
#include "base/checked.hpp"

namespace ingot::digest {
namespace {

constexpr std::size_t block_bytes = 64;
constexpr std::size_t hash_bytes = 32;
constexpr std::size_t most_chunks = most_blake3_bytes / blake3_chunk_bytes;

// The flags of section 2.2 of the paper on BLAKE3.
constexpr std::uint32_t chunk_start = 1;
constexpr std::uint32_t chunk_end = 2;
constexpr std::uint32_t parent = 4;
constexpr std::uint32_t root = 8;
constexpr std::uint32_t keyed_hash = 16;

/// Hashes the last chunk, which may be short, and may be the only one.
void hash_last_chunk(const Blake3Words& key, std::span<const std::byte> bytes,
                     std::uint64_t counter, std::uint32_t root_flag, std::byte* hash) noexcept {
  std::array<std::byte, blake3_chunk_bytes> filled{};
  std::ranges::copy(bytes, filled.begin());
  const std::size_t block_count =
      std::max<std::size_t>(1, to_size(divide_up(bytes.size(), block_bytes)));
  hash_blake3_rows(key,
                   {.first = filled.data(),
                    .distance_bytes = 0,
                    .count = 1,
                    .block_count = block_count,
                    .last_block_bytes =
                        static_cast<std::uint32_t>(bytes.size() - (block_count - 1) * block_bytes),
                    .counter = counter,
                    .counter_step = 0,
                    .flags = keyed_hash,
                    .first_block_flags = chunk_start,
                    .last_block_flags = chunk_end | root_flag},
                   hash);
}

}  // namespace

Blake3Words keyed_blake3(const Blake3Words& key, std::span<const std::byte> bytes) noexcept {
  std::array<std::byte, most_chunks * hash_bytes> hashes;
  const std::size_t whole_chunks = bytes.empty() ? 0 : (bytes.size() - 1) / blake3_chunk_bytes;
  hash_blake3_rows(key,
                   {.first = bytes.data(),
                    .distance_bytes = blake3_chunk_bytes,
                    .count = whole_chunks,
                    .block_count = blake3_chunk_bytes / block_bytes,
                    .last_block_bytes = block_bytes,
                    .counter = 0,
                    .counter_step = 1,
                    .flags = keyed_hash,
                    .first_block_flags = chunk_start,
                    .last_block_flags = chunk_end},
                   hashes.data());
  hash_last_chunk(key, bytes.subspan(whole_chunks * blake3_chunk_bytes), whole_chunks,
                  whole_chunks == 0 ? root : 0, hashes.data() + whole_chunks * hash_bytes);

  // A node without a neighbour moves up as it is: so left subtrees are full, as BLAKE3 has them.
  for (std::size_t count = whole_chunks + 1; count > 1; count = count / 2 + count % 2) {
    std::array<std::byte, most_chunks / 2 * hash_bytes> parents;
    hash_blake3_rows(key,
                     {.first = hashes.data(),
                      .distance_bytes = 2 * hash_bytes,
                      .count = count / 2,
                      .block_count = 1,
                      .last_block_bytes = block_bytes,
                      .counter = 0,
                      .counter_step = 0,
                      .flags = keyed_hash | parent | (count == 2 ? root : 0),
                      .first_block_flags = 0,
                      .last_block_flags = 0},
                     parents.data());
    if (count % 2 != 0) {
      std::memmove(hashes.data() + count / 2 * hash_bytes, hashes.data() + (count - 1) * hash_bytes,
                   hash_bytes);
    }
    std::memcpy(hashes.data(), parents.data(), count / 2 * hash_bytes);
  }
  Blake3Words hash;
  for (std::size_t i = 0; i < hash.size(); ++i) {
    hash[i] = load_little<std::uint32_t>(hashes.data() + i * sizeof(std::uint32_t));
  }
  return hash;
}

}  // namespace ingot::digest
