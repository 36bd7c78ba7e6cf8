// SPDX-License-Identifier: MIT
// The result of merging two neighbouring bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tokenizer/families/merge.hpp"

namespace ingot::tokenizer {

/// One entry for each pair of bytes. The last byte of a character and the first of the next seldom
/// stand side by side in a token: between those that never do, a word falls apart. Only bytes of
/// UTF-8 are remembered, so that an entry of 16 bits is enough for all merges.
class BytePairs {
 public:
  BytePairs() : entries_(std::size_t{256} * 256) {}

  /// Remembers a merge of two symbols: the last byte of the left and the first of the right one.
  void add(unsigned char left, unsigned char right) {
    std::uint16_t& entry = entries_[index(left, right)];
    entry = std::max(entry, inner);
  }
  /// Remembers a merge of two bytes; the first of a pair counts.
  void add_join(unsigned char left, unsigned char right, Join join) {
    std::uint16_t& entry = entries_[index(left, right)];
    if (entry >= first_join || !is_of_utf8(left) || !is_of_utf8(right)) return;
    entry = static_cast<std::uint16_t>(joins_.size() + first_join);
    joins_.push_back(join);
  }
  /// Whether no merge joins symbols between two bytes of a text.
  [[nodiscard]] bool is_apart(char left, char right) const noexcept {
    return entry_of(left, right) == apart;
  }
  /// Whether two symbols of one byte merge.
  [[nodiscard]] bool may_join(char left, char right) const noexcept {
    return entry_of(left, right) >= first_join;
  }
  /// The result of joining two symbols of one byte.
  [[nodiscard]] Join join(char left, char right) const noexcept {
    const std::uint16_t entry = entry_of(left, right);
    return entry < first_join ? Join() : joins_[entry - first_join];
  }

 private:
  static constexpr std::uint16_t apart = 0;       // no symbol has these bytes side by side
  static constexpr std::uint16_t inner = 1;       // some symbol has them, but they do not merge
  static constexpr std::uint16_t first_join = 2;  // from here on: numbers in joins_

  [[nodiscard]] static bool is_of_utf8(unsigned char byte) noexcept {
    return byte != 0xC0 && byte != 0xC1 && byte < 0xF5;
  }
  [[nodiscard]] static std::size_t index(unsigned char left, unsigned char right) noexcept {
    return std::size_t{left} << 8 | right;
  }
  [[nodiscard]] std::uint16_t entry_of(char left, char right) const noexcept {
    return entries_[index(static_cast<unsigned char>(left), static_cast<unsigned char>(right))];
  }

  std::vector<std::uint16_t> entries_;
  std::vector<Join> joins_;
};

}  // namespace ingot::tokenizer
