// SPDX-License-Identifier: MIT
// Finds the longest of some texts that a place of a text begins with, in a time that grows with the
// logarithm of their lengths: a file may hold thousands of tokens, each of which begins the next.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tokenizer/vocabulary/text_map.hpp"
#include "tokenizer/vocabulary/trie.hpp"

namespace ingot::tokenizer {

/// A text whose parts can be hashed in a time that does not depend on their length. Two different
/// parts have the same hash only by chance, about once in 2^61 / length: the key is random.
class HashedText {
 public:
  HashedText() = default;
  explicit HashedText(std::string_view text);

  /// The hash of all bytes before a place.
  [[nodiscard]] std::uint64_t before(std::size_t place) const noexcept;

 private:
  std::string_view text_;
  std::vector<std::uint64_t> sums_;  // sums before each `step`th byte
};

/// Short texts are in a trie. A long one is found by steps of powers of two: the table has the hash
/// of each prefix that the steps to its end lead to, with the longest text that begins so.
class PrefixTable {
 public:
  PrefixTable() = default;
  /// The parameters are those of Trie.
  PrefixTable(const TextList& list, const std::vector<std::uint32_t>& numbers);

  [[nodiscard]] bool empty() const noexcept { return short_.empty() && long_.empty(); }
  [[nodiscard]] bool can_begin_with(char byte) const noexcept {
    return short_.can_begin_with(byte) || long_begins_.test(static_cast<unsigned char>(byte));
  }
  /// Hashes a text, if a long text may be found in it.
  [[nodiscard]] HashedText hash(std::string_view text) const;

  /// The longest text at `begin` that ends at `end` at the latest. `hashed`: of `text`, by `hash`.
  [[nodiscard]] Trie::Match longest(const TextList& list, std::string_view text,
                                    const HashedText& hashed, std::size_t begin,
                                    std::size_t end) const;

 private:
  [[nodiscard]] Trie::Match longest_long(const HashedText& hashed, std::size_t begin,
                                         std::size_t max_bytes) const;

  Trie short_;
  std::unordered_map<std::uint64_t, Trie::Match> long_;
  std::bitset<256> long_begins_;
  std::size_t max_bytes_ = 0;
};

}  // namespace ingot::tokenizer
