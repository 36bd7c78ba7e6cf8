// SPDX-License-Identifier: MIT
// Finds the tokens that a text begins with.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tokenizer/vocabulary/text_map.hpp"

namespace ingot::tokenizer {

/// A tree in which a node stands for what the texts below it have in common, so that it has at most
/// two nodes for a text, however long the texts are. Texts are those of a list that the caller
/// keeps.
class Trie {
 public:
  static constexpr std::uint32_t no_text = 0xFFFF'FFFF;

  Trie() = default;
  /// @param numbers  the texts of `list` to find; empty ones are left out. Of equal texts the one
  ///                 whose number comes first is found.
  Trie(const TextList& list, const std::vector<std::uint32_t>& numbers);

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

  struct Node {
    std::uint32_t sample = 0;       // the text that ends here, else one below this node
    std::uint32_t depth = 0;        // bytes that all texts below have in common
    std::uint32_t first_child = 0;  // children stand side by side, by their first byte
    std::uint16_t child_count = 0;
    bool is_text = false;  // whether a text ends here
  };
  struct Range;

  [[nodiscard]] std::uint32_t find_child(const Node& node, char byte) const noexcept;

  std::vector<Node> nodes_;
  // Of each node's own part: apart from the nodes, so that those of all children are in one or a
  // few cache lines.
  std::vector<char> first_bytes_;
  std::array<std::uint32_t, 256> roots_ = make_empty_roots();

  static std::array<std::uint32_t, 256> make_empty_roots() {
    std::array<std::uint32_t, 256> roots;
    roots.fill(no_node);
    return roots;
  }
};

}  // namespace ingot::tokenizer
