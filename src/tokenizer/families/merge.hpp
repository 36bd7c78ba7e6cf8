// SPDX-License-Identifier: MIT
// Merges neighbouring symbols, the pair of the lowest rank first and the leftmost of equal ranks,
// until no pair has a rank.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/sort_unique.hpp"

namespace ingot::tokenizer {

/// A part of a text: from `begin` to the beginning of the next symbol. The list ends with a symbol
/// that begins at the end of the text and stands for nothing.
struct MergeSymbol {
  std::uint32_t begin = 0;
  std::uint32_t id = 0;  ///< What the rules call it.
};

/// What becomes of two neighbours.
struct Join {
  static constexpr std::uint32_t no_rank = 0xFFFF'FFFF;

  std::uint32_t rank = no_rank;  ///< Lower ones first; no_rank: they stay apart.
  std::uint32_t id = 0;          ///< Of the result.
};

/// Memory that is used again from text to text.
struct MergeBuffers {
  std::vector<MergeSymbol> symbols;
  std::vector<std::uint32_t> previous;
  std::vector<std::uint32_t> next;
  std::vector<std::uint64_t> heap;
};

/// Symbols up to which trying all pairs for each merge is faster than a heap.
inline constexpr std::size_t short_merge_symbols = 32;

/// For short lists: quadratic, but in two cache lines.
template <class Rules>
void merge_short(const Rules& rules, std::vector<MergeSymbol>& symbols) {
  std::array<Join, short_merge_symbols> joins;
  std::size_t count = symbols.size() - 1;
  const auto join_at = [&](std::size_t i) {
    return i + 1 < count ? rules.join(symbols[i], symbols[i + 1], symbols[i + 2].begin) : Join();
  };
  for (std::size_t i = 0; i < count; ++i) joins[i] = join_at(i);
  for (;;) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < count; ++i) {
      if (joins[i].rank < joins[best].rank) best = i;
    }
    if (count == 0 || joins[best].rank == Join::no_rank) break;
    symbols[best].id = joins[best].id;
    std::copy(symbols.begin() + static_cast<std::ptrdiff_t>(best) + 2,
              symbols.begin() + static_cast<std::ptrdiff_t>(count) + 1,
              symbols.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    std::copy(joins.begin() + best + 1, joins.begin() + count, joins.begin() + best);
    --count;
    joins[best] = join_at(best);
    if (best != 0) joins[best - 1] = join_at(best - 1);
  }
  symbols.resize(count + 1);
}

/// For long lists: O(n log n) time. A heap holds rank and position of pairs; an entry whose pair is
/// gone is noticed when it comes up, because the pair that is there has another rank.
template <class Rules>
class LongMerge {
 public:
  LongMerge(const Rules& rules, MergeBuffers& buffers)
      : rules_(rules),
        symbols_(buffers.symbols),
        previous_(buffers.previous),
        next_(buffers.next),
        heap_(buffers.heap),
        end_(static_cast<std::uint32_t>(buffers.symbols.size() - 1)) {}

  void run() {
    previous_.resize(symbols_.size());
    next_.resize(symbols_.size());
    heap_.clear();
    // Twice as many entries can be pushed; beyond this the stale ones are thrown out.
    capacity_ = std::size_t{end_} + end_ / 4 + 16;
    heap_.reserve(capacity_);
    for (std::uint32_t i = 0; i <= end_; ++i) {
      previous_[i] = i - 1;
      next_[i] = i + 1;
    }
    for (std::uint32_t i = 0; i < end_; ++i) {
      const Join join = join_at(i);
      if (join.rank != Join::no_rank) heap_.push_back(entry(join.rank, i));
    }
    std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      const std::uint64_t best = heap_.back();
      heap_.pop_back();
      const Join join = join_at(position_of(best));
      if (is_current(best, join)) merge_at(position_of(best), join.id);
    }
    keep_living();
  }

 private:
  static constexpr std::uint32_t dead = 0xFFFF'FFFF;  // in next_

  static std::uint64_t entry(std::uint32_t rank, std::uint32_t position) noexcept {
    return std::uint64_t{rank} << 32 | position;
  }
  static std::uint32_t position_of(std::uint64_t entry) noexcept {
    return static_cast<std::uint32_t>(entry);
  }
  static bool is_current(std::uint64_t entry, const Join& join) noexcept {
    return join.rank == entry >> 32 && join.rank != Join::no_rank;
  }
  Join join_at(std::uint32_t i) const {
    const std::uint32_t right = next_[i];
    if (right >= end_) return {};  // the last symbol, or a dead one
    return rules_.join(symbols_[i], symbols_[right], symbols_[next_[right]].begin);
  }
  void merge_at(std::uint32_t i, std::uint32_t id) {
    const std::uint32_t right = next_[i];
    symbols_[i].id = id;
    next_[i] = next_[right];
    previous_[next_[right]] = i;
    next_[right] = dead;
    if (i != 0) push(previous_[i]);
    push(i);
  }
  void push(std::uint32_t i) {
    const Join join = join_at(i);
    if (join.rank == Join::no_rank) return;
    if (heap_.size() == capacity_) drop_stale();
    heap_.push_back(entry(join.rank, i));
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }
  /// At most one entry for each pair remains, so that a quarter of the capacity is free.
  void drop_stale() {
    std::erase_if(heap_,
                  [&](std::uint64_t one) { return !is_current(one, join_at(position_of(one))); });
    sort_unique(heap_);  // which is a heap, too
  }
  void keep_living() {
    std::size_t count = 0;
    for (std::uint32_t i = 0; i < end_; i = next_[i]) symbols_[count++] = symbols_[i];
    symbols_[count++] = symbols_[end_];
    symbols_.resize(count);
  }

  const Rules& rules_;
  std::vector<MergeSymbol>& symbols_;
  std::vector<std::uint32_t>& previous_;
  std::vector<std::uint32_t>& next_;
  std::vector<std::uint64_t>& heap_;
  std::uint32_t end_;
  std::size_t capacity_ = 0;
};

/// Merges buffers.symbols in place. `rules.join(left, right, end)` returns a Join for two
/// neighbours, the second of which ends at `end`.
template <class Rules>
void merge(const Rules& rules, MergeBuffers& buffers) {
  if (buffers.symbols.size() <= short_merge_symbols) {
    merge_short(rules, buffers.symbols);
  } else {
    LongMerge<Rules>(rules, buffers).run();
  }
}

}  // namespace ingot::tokenizer
