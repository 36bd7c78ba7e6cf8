// SPDX-License-Identifier: MIT
// The merges of byte-pair encoding, by numbers of symbols.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/checked.hpp"
#include "base/large_pages.hpp"
#include "ingot/model.hpp"
#include "tokenizer/families/join_filter.hpp"
#include "tokenizer/families/merge.hpp"
#include "tokenizer/vocabulary/hashing.hpp"
#include "tokenizer/vocabulary/vocabulary_data.hpp"

namespace ingot::tokenizer {

/// The results of merging two neighbouring bytes, one entry for each pair. The last byte of a
/// character and the first of the next seldom stand side by side in a token: between those that
/// never do, a word falls apart. Only bytes of UTF-8 are remembered, so that an entry of 16 bits is
/// enough for all merges.
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

/// The results of merging two neighbouring symbols, by their numbers: a flat hash table with open
/// addressing, 16 bytes a slot.
class PairTable {
 public:
  explicit PairTable(std::size_t expected_count = 0)
      : slots_(std::bit_ceil(std::max<std::size_t>(2, expected_count + expected_count / 2 + 1))),
        mask_(slots_.size() - 1) {}

  [[nodiscard]] Join find(std::uint32_t left, std::uint32_t right) const noexcept {
    const std::uint64_t pair = key(left, right);
    for (std::size_t i = to_size(hasher_(pair) & mask_);; i = (i + 1) & mask_) {
      if (slots_[i].pair == pair) return slots_[i].join;
      if (slots_[i].pair == no_pair) return {};
    }
  }
  /// Asks for the memory that `insert` will look at.
  void prefetch(std::uint32_t left, std::uint32_t right) const noexcept {
    __builtin_prefetch(&slots_[to_size(hasher_(key(left, right)) & mask_)], 1);
  }
  /// Adds a pair unless it is there. There must be room: no more pairs than were expected.
  void insert(std::uint32_t left, std::uint32_t right, Join join) noexcept {
    const std::uint64_t pair = key(left, right);
    for (std::size_t i = to_size(hasher_(pair) & mask_);; i = (i + 1) & mask_) {
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

/// Symbols are texts as the file spells them: the tokens by their ids, then other texts that merges
/// name or make.
class BpeMerges {
 public:
  static constexpr std::uint32_t no_symbol = TextMap::not_found;

  /// Reads tokenizer.ggml.merges; without that key there are none.
  [[nodiscard]] static Result<BpeMerges> make(const Model& model, const VocabularyData& data);

  [[nodiscard]] Join join(std::uint32_t left, std::uint32_t right) const noexcept {
    return pairs_.find(left, right);
  }
  /// The symbol of a text; no_symbol if no merge knows it and it is no token.
  [[nodiscard]] std::uint32_t find(std::string_view text) const noexcept {
    return find(data_->ids.key_of(text));
  }
  [[nodiscard]] bool is_token(std::uint32_t symbol) const noexcept {
    return symbol < data_->texts.size();
  }
  /// Whether a merge has no two symbols, or names or makes one that is no token.
  [[nodiscard]] bool has_unknown() const noexcept { return has_odd_ || extra_texts_.size() != 0; }
  /// The characters that merges bring together; not for byte-encoded vocabularies.
  [[nodiscard]] const JoinFilter& filter() const noexcept { return filter_; }
  /// The bytes that merges bring together; only for byte-encoded vocabularies.
  [[nodiscard]] const BytePairs& byte_pairs() const noexcept { return byte_pairs_; }
  /// Whether no merge joins symbols at a place inside a text; for byte-encoded vocabularies alone.
  [[nodiscard]] bool is_cut(std::string_view text, std::size_t place) const noexcept {
    const char left = text[place - 1];
    const char right = text[place];
    if (byte_pairs_.is_apart(left, right)) return true;
    return is_beyond_ascii(left) && !byte_pairs_.may_join(left, right) &&
           !may_join_ends(text, place);
  }

 private:
  BpeMerges(const VocabularyData& data, std::size_t merge_count)
      : data_(&data),
        pairs_(merge_count),
        filter_(data.is_byte_encoded() ? merge_count / 4 : data.texts.size()),
        has_distinct_tokens_(data.ids.size() == data.texts.size()) {}

  /// A merge on its way into the table.
  struct Pending {
    TextKey left;
    TextKey right;
    std::uint32_t rank = 0;
    std::uint32_t left_symbol = 0;
    std::uint32_t right_symbol = 0;
    std::uint32_t product = 0;
  };
  /// Adds merges, which are strings. Returns whether their texts fit.
  [[nodiscard]] bool add_all(const Array& merges);
  /// Adds merges; looks all of a list up at once, so that they wait for memory together.
  [[nodiscard]] bool add(std::span<Pending> merges);
  /// Remembers the ends of two symbols that merge, at most two bytes of each.
  void add_byte_pair(const Pending& merge);
  /// Adds the ends of two symbols of which the left one ends beyond ASCII; `before` and `after` are
  /// their other bytes.
  void add_ends(std::string_view before, unsigned char left, unsigned char right,
                std::string_view after);
  /// Whether a merge may join symbols that end and begin as the text does at a place.
  [[nodiscard]] bool may_join_ends(std::string_view text, std::size_t place) const noexcept;
  [[nodiscard]] static bool is_beyond_ascii(char byte) noexcept {
    return static_cast<unsigned char>(byte) >= 0x80;
  }
  [[nodiscard]] std::uint32_t find(const TextKey& key) const noexcept {
    const std::uint32_t id = data_->ids.find(data_->texts, key);
    return id != TextMap::not_found ? id : find_extra(key);
  }
  /// Works like find() for a text that is no token.
  [[nodiscard]] std::uint32_t find_extra(const TextKey& key) const noexcept;
  [[nodiscard]] std::uint32_t find_or_add(const TextKey& key) {
    const std::uint32_t id = data_->ids.find(data_->texts, key);
    return id != TextMap::not_found ? id : add_extra(key);
  }
  [[nodiscard]] std::uint32_t add_extra(const TextKey& key);
  /// Whether a number is that of left + right, as far as one look tells.
  [[nodiscard]] bool is_product(std::uint32_t token, const TextKey& left,
                                const TextKey& right) const noexcept;
  /// The symbol of left + right.
  [[nodiscard]] std::uint32_t find_product(const TextKey& left, const TextKey& right);

  const VocabularyData* data_;
  PairTable pairs_;
  TextList extra_texts_;
  TextMap extra_ids_;
  bool is_full_ = false;  // a text did not fit
  bool has_odd_ = false;  // a merge has no two symbols
  // The filter of byte-encoded vocabularies: the last one or two bytes of the left symbol, if the
  // last is beyond ASCII, and the first of the right one. Few characters with such a pair of bytes
  // between them merge.
  JoinFilter filter_;
  BytePairs byte_pairs_;
  bool has_distinct_tokens_;
  std::uint32_t last_product_ = 0;
  std::string product_;
};

}  // namespace ingot::tokenizer
