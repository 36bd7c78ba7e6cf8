// SPDX-License-Identifier: MIT
// Merges neighbouring symbols, the pair of the lowest rank first and the leftmost of equal ranks,
// until no pair has a rank.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/ranges.hpp"

namespace ingot::tokenizer {

/// A part of a text: from `begin` to the beginning of the next symbol. The list ends with a symbol
/// that begins at the end of the text and stands for nothing.
struct MergeSymbol {
  std::uint32_t begin = 0;
  std::uint32_t id = 0;  ///< The id in the rules.
};

/// The result of joining two neighbours.
struct Join {
  static constexpr std::uint32_t no_rank = 0xFFFF'FFFF;

  std::uint32_t rank = no_rank;  ///< Lower ones first; no_rank: they stay apart.
  std::uint32_t id = 0;          ///< The id of the result.
};

/// Memory that is used again from text to text.
struct MergeBuffers {
  std::vector<MergeSymbol> symbols;
  std::vector<std::uint32_t> previous;
  std::vector<std::uint32_t> next;
  std::vector<std::uint64_t> heap;
};

/// Symbols up to which trying all pairs for each merge is faster than a heap; at most 64.
inline constexpr std::size_t short_merge_symbols = 32;

/// A rank and the position of its pair as one number: lower ranks first, then from left to right.
[[nodiscard]] constexpr std::uint64_t merge_entry(std::uint32_t rank,
                                                  std::size_t position) noexcept {
  return std::uint64_t{rank} << 32 | position;
}

/// A merge of short lists: quadratic, but in a few cache lines and without branches. A symbol that
/// was merged into its neighbour keeps its place; a set of bits tells the living ones.
template <class Rules>
class ShortMerge {
 public:
  ShortMerge(const Rules& rules, std::vector<MergeSymbol>& symbols) noexcept
      : rules_(rules), symbols_(symbols), end_(symbols.size() - 1) {}

  void run() {
    if (end_ == 0) return;
    for (std::size_t i = 0; i + 1 < end_; ++i) {
      put(i, rules_.join_first(symbols_[i], symbols_[i + 1], symbols_[i + 2].begin));
    }
    put(end_ - 1, {});
    living_ = (std::uint64_t{2} << end_) - 1;
    for (;;) {
      std::uint64_t best = entries_[0];
      for (std::size_t i = 1; i < end_; ++i) best = std::min(best, entries_[i]);
      if (best >> 32 == Join::no_rank) break;
      merge_at(static_cast<std::uint32_t>(best));
    }
    std::size_t count = 0;
    for (; living_ != 0; living_ &= living_ - 1) {
      symbols_[count++] = symbols_[static_cast<std::size_t>(std::countr_zero(living_))];
    }
    symbols_.resize(count);
  }

 private:
  void put(std::size_t i, const Join& join) noexcept {
    entries_[i] = merge_entry(join.rank, i);
    ids_[i] = join.id;
  }
  [[nodiscard]] std::size_t after(std::size_t i) const noexcept {
    return i + 1 + static_cast<std::size_t>(std::countr_zero(living_ >> (i + 1)));
  }
  /// Looks at the pair anew that begins at a living symbol.
  void refresh(std::size_t i) {
    const std::size_t right = after(i);
    put(i, right == end_ ? Join()
                         : rules_.join(symbols_[i], symbols_[right], symbols_[after(right)].begin));
  }
  void merge_at(std::size_t i) {
    const std::size_t right = after(i);
    symbols_[i].id = ids_[i];
    entries_[right] = merge_entry(Join::no_rank, right);
    living_ &= ~(std::uint64_t{1} << right);
    refresh(i);
    const std::uint64_t before = living_ & ((std::uint64_t{1} << i) - 1);
    if (before != 0) refresh(63 - static_cast<std::size_t>(std::countl_zero(before)));
  }

  const Rules& rules_;
  std::vector<MergeSymbol>& symbols_;
  std::size_t end_;
  std::uint64_t living_ = 0;
  std::array<std::uint64_t, short_merge_symbols> entries_;
  std::array<std::uint32_t, short_merge_symbols> ids_;
};

/// A merge of long lists in O(n log n) time. A heap holds rank and position of pairs. A stale entry
/// is noticed when it comes up, because the pair at its position has another rank.
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
    for (std::uint32_t i = 0; i + 1 < end_; ++i) {
      const Join join = rules_.join_first(symbols_[i], symbols_[i + 1], symbols_[i + 2].begin);
      if (join.rank != Join::no_rank) heap_.push_back(merge_entry(join.rank, i));
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
  static constexpr std::uint32_t dead = 0xFFFF'FFFF;  // marks a dead symbol in next_

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
    heap_.push_back(merge_entry(join.rank, i));
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }
  /// At most one entry for each pair remains, so that a quarter of the capacity is free.
  void drop_stale() {
    std::erase_if(heap_,
                  [&](std::uint64_t one) { return !is_current(one, join_at(position_of(one))); });
    sort_unique(heap_);  // a sorted list is a heap, too
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
/// neighbours, the second of which ends at `end`; join_first() the same before any merge.
template <class Rules>
void merge(const Rules& rules, MergeBuffers& buffers) {
  if (buffers.symbols.size() <= short_merge_symbols) {
    ShortMerge<Rules>(rules, buffers.symbols).run();
  } else {
    LongMerge<Rules>(rules, buffers).run();
  }
}

}  // namespace ingot::tokenizer
