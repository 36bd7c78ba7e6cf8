// SPDX-License-Identifier: MIT
#include "tokenizer/vocabulary/trie.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <utility>

namespace ingot::tokenizer {
namespace {

/// A text with its first eight bytes as a number of the same order, which decides nearly always.
struct SortedText {
  std::uint64_t head = 0;
  std::uint32_t place = 0;  // index in the list of numbers
};

std::uint64_t head_of(std::string_view text) noexcept {
  std::uint64_t head = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    head = head << 8 | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0u);
  }
  return head;
}

/// The numbers in the order of their texts; of equal texts the first remains.
std::vector<std::uint32_t> sorted(const TextList& list, const std::vector<std::uint32_t>& numbers) {
  std::vector<SortedText> texts;
  texts.reserve(numbers.size());
  for (std::uint32_t place = 0; place < numbers.size(); ++place) {
    const std::string_view text = list[numbers[place]];
    if (!text.empty()) texts.push_back({head_of(text), place});
  }
  std::ranges::sort(texts, [&](const SortedText& a, const SortedText& b) {
    if (a.head != b.head) return a.head < b.head;
    const int order = list[numbers[a.place]].compare(list[numbers[b.place]]);
    return order != 0 ? order < 0 : a.place < b.place;
  });
  std::vector<std::uint32_t> result;
  result.reserve(texts.size());
  for (const SortedText& text : texts) {
    const std::uint32_t number = numbers[text.place];
    if (result.empty() || list[result.back()] != list[number]) result.push_back(number);
  }
  return result;
}

/// Bytes that two texts have in common.
std::size_t common_bytes(std::string_view a, std::string_view b) noexcept {
  const auto [end, other] = std::ranges::mismatch(a, b);
  return static_cast<std::size_t>(end - a.begin());
}

}  // namespace

/// Texts that become the children of a node: those from `first` to `last` have `depth` bytes in
/// common.
struct Trie::Range {
  std::size_t first = 0;
  std::size_t last = 0;  // one past the end
  std::size_t depth = 0;
  std::uint32_t parent = no_node;
};

Trie::Trie(const TextList& list, const std::vector<std::uint32_t>& numbers) {
  const std::vector<std::uint32_t> order = sorted(list, numbers);
  std::deque<Range> pending;
  pending.push_back({0, order.size(), 0, no_node});
  while (!pending.empty()) {
    const Range range = pending.front();
    pending.pop_front();
    if (range.parent != no_node) {
      nodes_[range.parent].first_child = static_cast<std::uint32_t>(nodes_.size());
    }
    for (std::size_t first = range.first; first != range.last;) {
      const char byte = list[order[first]][range.depth];
      const auto* text = order.data() + first;
      const auto* end = std::find_if(text, order.data() + range.last, [&](std::uint32_t number) {
        return list[number][range.depth] != byte;
      });
      const auto last = static_cast<std::size_t>(end - order.data());
      const std::size_t depth = common_bytes(list[*text], list[order[last - 1]]);
      // The shortest text comes first.
      const bool ends_here = list[*text].size() == depth;
      const auto index = static_cast<std::uint32_t>(nodes_.size());
      if (range.parent == no_node) {
        roots_[static_cast<unsigned char>(byte)] = index;
      } else {
        ++nodes_[range.parent].child_count;
        nodes_[range.parent].only_child = byte;
      }
      nodes_.push_back(
          {.sample = *text, .depth = static_cast<std::uint32_t>(depth), .is_text = ends_here});
      first_bytes_.push_back(byte);
      const std::size_t first_longer = first + (ends_here ? 1 : 0);
      if (first_longer != last) pending.push_back({first_longer, last, depth, index});
      first = last;
    }
  }
  nodes_.shrink_to_fit();
  first_bytes_.resize(first_bytes_.size() + word_bytes);
  first_bytes_.shrink_to_fit();
}

}  // namespace ingot::tokenizer
