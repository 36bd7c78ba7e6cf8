// SPDX-License-Identifier: MIT
// Finds the tokens that a text begins with.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/byte_order.hpp"
#include "tokenizer/vocabulary/text_map.hpp"

namespace ingot::tokenizer {

/// A tree in which a node stands for the common beginning of the texts below it, so that it has at
/// most two nodes per text, however long the texts are. Texts are those of a list that the caller
/// keeps.
class Trie {
 public:
  static constexpr std::uint32_t no_text = 0xFFFF'FFFF;

  Trie() = default;
  /// @param numbers  the texts of `list` to find; empty ones are left out. Of equal texts the one
  ///                 whose number comes first is found.
  Trie(const TextList& list, const std::vector<std::uint32_t>& numbers);

  /// Makes a trie of the texts whose numbers satisfy `is_wanted`; of equal texts the first is
  /// found.
  template <class IsWanted>
  [[nodiscard]] static Trie of(const TextList& list, const IsWanted& is_wanted) {
    std::vector<std::uint32_t> numbers;
    for (std::uint32_t number = 0; number < list.size(); ++number) {
      if (is_wanted(number)) numbers.push_back(number);
    }
    return Trie(list, numbers);
  }

  [[nodiscard]] bool empty() const noexcept { return nodes_.empty(); }
  /// Whether a text can be found that begins with a byte.
  [[nodiscard]] bool can_begin_with(char byte) const noexcept {
    return roots_[static_cast<unsigned char>(byte)] != no_node;
  }

  /// Calls `visit(number, size_bytes)` for each text that `text` begins with, shortest first.
  template <class Visit>
  void visit_prefixes(const TextList& list, std::string_view text, const Visit& visit) const {
    if (text.empty()) return;
    std::uint32_t at = roots_[static_cast<unsigned char>(text[0])];
    std::size_t depth = 1;
    while (at != no_node) {
      const Node& node = nodes_[at];
      // The first byte of the node's own part is known to be equal.
      if (node.depth > text.size()) return;
      if (node.depth != depth && list[node.sample].substr(depth, node.depth - depth) !=
                                     text.substr(depth, node.depth - depth)) {
        return;
      }
      if (node.is_text) visit(node.sample, std::size_t{node.depth});
      if (node.depth == text.size()) return;
      at = find_child(node, text[node.depth]);
      depth = std::size_t{node.depth} + 1;
    }
  }

  struct Match {
    std::uint32_t number = no_text;
    std::size_t size_bytes = 0;
  };
  /// The longest of them.
  [[nodiscard]] Match longest_prefix(const TextList& list, std::string_view text) const {
    Match longest;
    visit_prefixes(list, text, [&](std::uint32_t number, std::size_t size_bytes) {
      longest = {number, size_bytes};
    });
    return longest;
  }

 private:
  static constexpr std::uint32_t no_node = 0xFFFF'FFFF;
  static constexpr std::size_t word_bytes = 8;
  /// A larger number leaves few gaps between the first bytes.
  static constexpr std::size_t few_children = 32;

  struct Node {
    std::uint32_t sample = 0;       // the text that ends here, else one below this node
    std::uint32_t depth = 0;        // bytes that all texts below have in common
    std::uint32_t first_child = 0;  // children stand side by side, by their first byte
    std::uint16_t child_count = 0;
    bool is_text = false;  // whether a text ends here
    char only_child = 0;   // the first byte of the child, if there is one alone
  };
  struct Range;

  [[nodiscard]] std::uint32_t find_child(const Node& node, char byte) const noexcept {
    if (node.child_count == 1) return byte == node.only_child ? node.first_child : no_node;
    const char* bytes = first_bytes_.data() + node.first_child;
    const std::size_t count = node.child_count;
    const std::size_t child = count <= few_children ? find_among_few(bytes, count, byte)
                                                    : find_among_many(bytes, count, byte);
    return child < count ? node.first_child + static_cast<std::uint32_t>(child) : no_node;
  }

  /// The place of a byte among `count`, eight of them compared at once; at least `count` if it is
  /// not there. `word_bytes` behind them can be read.
  static std::size_t find_among_few(const char* bytes, std::size_t count, char byte) noexcept {
    constexpr std::uint64_t ones = 0x0101'0101'0101'0101;
    const std::uint64_t wanted = ones * static_cast<unsigned char>(byte);
    for (std::size_t i = 0; i < count; i += word_bytes) {
      const auto* word = reinterpret_cast<const std::byte*>(bytes + i);
      const std::uint64_t difference = load_little<std::uint64_t>(word) ^ wanted;
      // The lowest bit is that of the first byte that is 0; those above it may be wrong.
      const std::uint64_t zeros = (difference - ones) & ~difference & (ones << 7);
      if (zeros != 0) return i + static_cast<std::size_t>(std::countr_zero(zeros)) / 8;
    }
    return count;
  }

  /// Finds a byte in a list with most bytes between the first and the last: a byte lies no further
  /// from the beginning than its value from that of the first byte.
  static std::size_t find_among_many(const char* bytes, std::size_t count, char byte) noexcept {
    const auto value = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
    const auto wanted = static_cast<unsigned char>(byte);
    if (wanted < value(0)) return count;
    std::size_t i = std::min<std::size_t>(wanted - value(0), count - 1);
    while (value(i) > wanted) --i;
    return value(i) == wanted ? i : count;
  }

  std::vector<Node> nodes_;
  // The first bytes of each node's part. They are separate from the nodes, so that the bytes of all
  // children are in one or a few cache lines.
  std::vector<char> first_bytes_;  // and word_bytes more
  std::array<std::uint32_t, 256> roots_ = make_empty_roots();

  static std::array<std::uint32_t, 256> make_empty_roots() {
    std::array<std::uint32_t, 256> roots;
    roots.fill(no_node);
    return roots;
  }
};

}  // namespace ingot::tokenizer
