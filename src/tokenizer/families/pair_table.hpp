// SPDX-License-Identifier: MIT
// The results of merging two neighbouring symbols, by their numbers.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/large_pages.hpp"
#include "tokenizer/families/merge.hpp"
#include "tokenizer/vocabulary/hashing.hpp"

namespace ingot::tokenizer {

/// A flat hash table with open addressing; 16 bytes a slot.
class PairTable {
 public:
  explicit PairTable(std::size_t expected_count = 0)
      : slots_(std::bit_ceil(std::max<std::size_t>(2, expected_count + expected_count / 2 + 1))),
        mask_(slots_.size() - 1) {}

  [[nodiscard]] Join find(std::uint32_t left, std::uint32_t right) const noexcept {
    const std::uint64_t pair = key(left, right);
    for (std::size_t i = hasher_(pair) & mask_;; i = (i + 1) & mask_) {
      if (slots_[i].pair == pair) return slots_[i].join;
      if (slots_[i].pair == no_pair) return {};
    }
  }
  /// Asks for the memory that `insert` will look at.
  void prefetch(std::uint32_t left, std::uint32_t right) const noexcept {
    __builtin_prefetch(&slots_[hasher_(key(left, right)) & mask_], 1);
  }
  /// Adds a pair unless it is there. There must be room: no more pairs than were expected.
  void insert(std::uint32_t left, std::uint32_t right, Join join) noexcept {
    const std::uint64_t pair = key(left, right);
    for (std::size_t i = hasher_(pair) & mask_;; i = (i + 1) & mask_) {
      if (slots_[i].pair == pair) return;
      if (slots_[i].pair != no_pair) continue;
      slots_[i] = {pair, join};
      return;
    }
  }

 private:
  static constexpr std::uint64_t no_pair = ~std::uint64_t{0};
  struct Slot {
    std::uint64_t pair = no_pair;
    Join join;
  };
  [[nodiscard]] static std::uint64_t key(std::uint32_t left, std::uint32_t right) noexcept {
    return std::uint64_t{left} << 32 | right;
  }

  Hasher hasher_;
  LargeVector<Slot> slots_;
  std::size_t mask_;
};

}  // namespace ingot::tokenizer
