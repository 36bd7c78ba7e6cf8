// SPDX-License-Identifier: MIT
#define HWY_TARGET_INCLUDE "digest/blake3_simd.cpp"
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

#include <algorithm>

#include "base/byte_order.hpp"
#include "codec/cpu_targets.hpp"
#include "codec/kernel_choice.hpp"
#include "digest/blake3.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::digest::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <std::size_t lanes>
using RowTag = hn::CappedTag<std::uint32_t, lanes>;
template <std::size_t lanes>
using RowWords = hn::Vec<RowTag<lanes>>;

// A lane is a row. More than 16 lanes no vector of today has.
constexpr std::size_t most_lanes = hn::MaxLanes(RowTag<16>());

template <int bits, std::size_t lanes>
HWY_INLINE RowWords<lanes> Rotate(RowWords<lanes> words) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3
  // These have no rotation; moving bytes is one instruction instead of three.
  if constexpr (bits % 8 == 0) {
    constexpr auto moved = [](int byte) {
      return static_cast<std::uint8_t>(byte / 4 * 4 + (byte + bits / 8) % 4);
    };
    HWY_ALIGN static constexpr std::uint8_t order[16] = {
        moved(0), moved(1), moved(2),  moved(3),  moved(4),  moved(5),  moved(6),  moved(7),
        moved(8), moved(9), moved(10), moved(11), moved(12), moved(13), moved(14), moved(15)};
    const hn::Repartition<std::uint8_t, RowTag<lanes>> bytes;
    return hn::BitCast(RowTag<lanes>(), hn::TableLookupBytes(hn::BitCast(bytes, words),
                                                             hn::LoadDup128(bytes, order)));
  }
#endif
  return hn::RotateRight<bits>(words);
}

/// The function G of BLAKE3.
template <std::size_t lanes>
HWY_INLINE void Mix(RowWords<lanes>& a, RowWords<lanes>& b, RowWords<lanes>& c, RowWords<lanes>& d,
                    RowWords<lanes> first, RowWords<lanes> second) {
  a = hn::Add(hn::Add(a, b), first);
  d = Rotate<16, lanes>(hn::Xor(d, a));
  c = hn::Add(c, d);
  b = Rotate<12, lanes>(hn::Xor(b, c));
  a = hn::Add(hn::Add(a, b), second);
  d = Rotate<8, lanes>(hn::Xor(d, a));
  c = hn::Add(c, d);
  b = Rotate<7, lanes>(hn::Xor(b, c));
}

// The words of a block in the order of each of the seven rounds: the permutation of BLAKE3, applied
// again and again.
constexpr auto word_orders = [] {
  constexpr std::uint8_t permutation[16] = {2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8};
  std::array<std::array<std::uint8_t, 16>, 7> orders{};
  for (std::uint8_t i = 0; i < 16; ++i) orders[0][i] = i;
  for (std::size_t round = 1; round < 7; ++round) {
    for (std::size_t i = 0; i < 16; ++i) orders[round][i] = orders[round - 1][permutation[i]];
  }
  return orders;
}();

// The first half of SHA-256's initial value.
constexpr std::uint32_t initial_words[4] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a};

#if HWY_TARGET == HWY_SCALAR
/// The 16 words of a block.
template <std::size_t lanes>
HWY_INLINE void LoadBlock(const std::byte* const* rows, std::size_t offset,
                          RowWords<lanes>* words) {
  for (std::size_t i = 0; i < 16; ++i) {
    words[i] = hn::Set(RowTag<lanes>(), load_little<std::uint32_t>(rows[0] + offset + 4 * i));
  }
}
#else
/// Four words of each row: those of row 4b + j become lanes 4b to 4b + 3 of vector j, where `rows`
/// begins with row j.
template <std::size_t lanes>
HWY_INLINE RowWords<lanes> LoadQuads(const std::byte* const* rows, std::size_t offset) {
  constexpr RowTag<lanes> tag;
  if constexpr (lanes == 4) {
    return hn::LoadU(tag, reinterpret_cast<const std::uint32_t*>(rows[0] + offset));
  } else {
    return hn::Combine(tag, LoadQuads<lanes / 2>(rows + lanes / 2, offset),
                       LoadQuads<lanes / 2>(rows, offset));
  }
}

/// The 16 words of a block, of each row in its lane.
template <std::size_t lanes>
HWY_INLINE void LoadBlock(const std::byte* const* rows, std::size_t offset,
                          RowWords<lanes>* words) {
  constexpr RowTag<lanes> tag;
  const hn::Repartition<std::uint64_t, RowTag<lanes>> pairs;
  for (std::size_t quad = 0; quad < 4; ++quad, offset += 16, words += 4) {
    const auto row0 = LoadQuads<lanes>(rows, offset);
    const auto row1 = LoadQuads<lanes>(rows + 1, offset);
    const auto row2 = LoadQuads<lanes>(rows + 2, offset);
    const auto row3 = LoadQuads<lanes>(rows + 3, offset);
    const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(tag, row0, row1));
    const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(tag, row2, row3));
    const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(tag, row0, row1));
    const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(tag, row2, row3));
    words[0] = hn::BitCast(tag, hn::InterleaveLower(pairs, low01, low23));
    words[1] = hn::BitCast(tag, hn::InterleaveUpper(pairs, low01, low23));
    words[2] = hn::BitCast(tag, hn::InterleaveLower(pairs, high01, high23));
    words[3] = hn::BitCast(tag, hn::InterleaveUpper(pairs, high01, high23));
  }
}
#endif

/// Hashes the rows from `done` on, as many as there are lanes.
template <std::size_t lanes>
HWY_INLINE void HashSomeRows(const Blake3Words& key, const Blake3Rows& rows, std::size_t done,
                             std::byte* hashes) {
  constexpr RowTag<lanes> tag;
  using Words = RowWords<lanes>;
  const std::byte* places[lanes];
  HWY_ALIGN std::uint32_t low_counters[lanes];
  HWY_ALIGN std::uint32_t high_counters[lanes];
  for (std::size_t i = 0; i < lanes; ++i) {
    const std::size_t row =
        std::min(done + i, rows.count - 1);  // lanes without a row repeat the last one
    places[i] = rows.first + row * rows.distance_bytes;
    const std::uint64_t counter = rows.counter + row * rows.counter_step;
    low_counters[i] = static_cast<std::uint32_t>(counter);
    high_counters[i] = static_cast<std::uint32_t>(counter >> 32);
  }
  const Words low_counter = hn::Load(tag, low_counters);
  const Words high_counter = hn::Load(tag, high_counters);

  Words chain[8];
  for (std::size_t i = 0; i < 8; ++i) chain[i] = hn::Set(tag, key[i]);
  for (std::size_t block = 0; block < rows.block_count; ++block) {
    const bool is_last = block + 1 == rows.block_count;
    const std::uint32_t flags = rows.flags | (block == 0 ? rows.first_block_flags : 0) |
                                (is_last ? rows.last_block_flags : 0);
    Words m[16];
    LoadBlock<lanes>(places, 64 * block, m);
    Words v0 = chain[0], v1 = chain[1], v2 = chain[2], v3 = chain[3];
    Words v4 = chain[4], v5 = chain[5], v6 = chain[6], v7 = chain[7];
    Words v8 = hn::Set(tag, initial_words[0]), v9 = hn::Set(tag, initial_words[1]);
    Words v10 = hn::Set(tag, initial_words[2]), v11 = hn::Set(tag, initial_words[3]);
    Words v12 = low_counter, v13 = high_counter;
    Words v14 = hn::Set(tag, is_last ? rows.last_block_bytes : 64), v15 = hn::Set(tag, flags);
    for (const auto& order : word_orders) {
      Mix<lanes>(v0, v4, v8, v12, m[order[0]], m[order[1]]);
      Mix<lanes>(v1, v5, v9, v13, m[order[2]], m[order[3]]);
      Mix<lanes>(v2, v6, v10, v14, m[order[4]], m[order[5]]);
      Mix<lanes>(v3, v7, v11, v15, m[order[6]], m[order[7]]);
      Mix<lanes>(v0, v5, v10, v15, m[order[8]], m[order[9]]);
      Mix<lanes>(v1, v6, v11, v12, m[order[10]], m[order[11]]);
      Mix<lanes>(v2, v7, v8, v13, m[order[12]], m[order[13]]);
      Mix<lanes>(v3, v4, v9, v14, m[order[14]], m[order[15]]);
    }
    chain[0] = hn::Xor(v0, v8);
    chain[1] = hn::Xor(v1, v9);
    chain[2] = hn::Xor(v2, v10);
    chain[3] = hn::Xor(v3, v11);
    chain[4] = hn::Xor(v4, v12);
    chain[5] = hn::Xor(v5, v13);
    chain[6] = hn::Xor(v6, v14);
    chain[7] = hn::Xor(v7, v15);
  }
  HWY_ALIGN std::uint32_t words[8][lanes];
  for (std::size_t i = 0; i < 8; ++i) hn::Store(chain[i], tag, words[i]);
  for (std::size_t lane = 0; lane < std::min(lanes, rows.count - done); ++lane) {
    for (std::size_t i = 0; i < 8; ++i)
      store_little(hashes + 32 * (done + lane) + 4 * i, words[i][lane]);
  }
}

/// Hashes the rows from `done` on; the last ones in vectors that are not too wide for them.
template <std::size_t lanes>
HWY_INLINE void HashRowsFrom(const Blake3Words& key, const Blake3Rows& rows, std::size_t done,
                             std::byte* hashes) {
  for (; rows.count - done > lanes / 2; done = std::min(done + lanes, rows.count)) {
    HashSomeRows<lanes>(key, rows, done, hashes);
  }
  if constexpr (lanes > 4) {
    HashRowsFrom<lanes / 2>(key, rows, done, hashes);
  } else if (done != rows.count) {
    HashSomeRows<lanes>(key, rows, done, hashes);
  }
}

void HashBlake3Rows(const Blake3Words& key, const Blake3Rows& rows, std::byte* hashes) {
  HashRowsFrom<most_lanes>(key, rows, 0, hashes);
}

}  // namespace ingot::digest::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::digest {

using codec::KernelTable;
INGOT_KERNELS(HashBlake3Rows);

void hash_blake3_rows(const Blake3Words& key, const Blake3Rows& rows, std::byte* hashes) noexcept {
  HashBlake3RowsKernels[static_cast<std::size_t>(codec::chosen_kernel_position())](key, rows,
                                                                                   hashes);
}

}  // namespace ingot::digest
#endif
