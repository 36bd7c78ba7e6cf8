// SPDX-License-Identifier: MIT
// The merges of byte-pair encoding, by numbers of symbols.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ingot/model.hpp"
#include "tokenizer/families/byte_pairs.hpp"
#include "tokenizer/families/join_filter.hpp"
#include "tokenizer/families/pair_table.hpp"
#include "tokenizer/vocabulary/vocabulary_data.hpp"

namespace ingot::tokenizer {

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
