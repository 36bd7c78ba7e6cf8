// SPDX-License-Identifier: MIT
// Byte-pair encoding.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "tokenizer/families/bpe_merges.hpp"
#include "tokenizer/families/family_encoder.hpp"
#include "tokenizer/families/whole_tokens.hpp"
#include "tokenizer/pre_tokenize/splitter.hpp"

namespace ingot::tokenizer {

/// The text is split into words, and in each word pairs merge by rank.
class BpeEncoder : public FamilyEncoder {
 public:
  BpeEncoder(const VocabularyData& data, Splitter splitter, BpeMerges merges);

  void encode(std::string_view piece, bool follows_special, Work& work) const final;
  [[nodiscard]] bool can_cut(std::string_view text, std::size_t place) const override;
  [[nodiscard]] bool has_unknown_merges() const noexcept final { return merges_.has_unknown(); }

 protected:
  /// Encodes a text whose spaces are spelled as in tokens; resolves the ranges within it.
  virtual void encode_spaced(std::string_view text, Work& work) const;

  /// Encodes text that is clean UTF-8. `offset` is its place in the normalized piece.
  void encode_clean(std::string_view text, std::size_t offset, Work& work) const;

  const VocabularyData& data_;

 private:
  struct Rules;

  /// The token that a word is without any merging; no_token if merging decides.
  [[nodiscard]] TokenId find_unmerged(std::string_view word) const;
  void merge_word(std::string_view word, std::size_t begin, Work& work) const;
  void encode_part(std::string_view part, std::size_t begin, Work& work) const;
  void encode_unbroken(std::string_view word, std::size_t begin, Work& work) const;
  std::size_t merge_all(std::string_view word, std::size_t begin, Work& work) const;
  void fill_symbols(std::string_view word, std::vector<MergeSymbol>& symbols) const;
  void put_symbol(std::string_view word, std::size_t begin, const MergeSymbol& symbol,
                  std::uint32_t end, Work& work) const;
  /// The token that stands for a word.
  [[nodiscard]] TokenId find_word(std::string_view word) const;

  Splitter splitter_;
  BpeMerges merges_;
  WholeTokens whole_tokens_;
  // The symbol of each byte, of byte-encoded vocabularies.
  std::array<std::uint32_t, 256> byte_symbols_ = {};
  // The id of a byte that is part of no token; no_token: none.
  std::array<TokenId, 256> byte_ids_ = {};
};

}  // namespace ingot::tokenizer
