// SPDX-License-Identifier: MIT
// What can be counted over all tokens of a vocabulary (target ingot::text).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingot/describe.hpp"
#include "ingot/export.h"
#include "ingot/tokenizer.hpp"

namespace ingot {

struct VocabularyStatistics {
  TokenizerFamily family = {};
  std::string model;              ///< The value of `tokenizer.ggml.model`.
  std::string pre;                ///< The value of `tokenizer.ggml.pre`; empty without the key.
  std::optional<bool> pre_known;  ///< See knows_pre_tokenizer.
  std::uint64_t tokens = 0;
  std::uint64_t text_bytes = 0;                              ///< Of all tokens' texts together.
  std::vector<std::pair<std::string, std::uint64_t>> types;  ///< One for each TokenKind, in order.
  std::optional<TokenId> longest;           ///< The first of the longest; nothing without tokens.
  std::vector<TokenId> repeated;            ///< Tokens whose text a lower id has.
  std::vector<std::uint8_t> missing_bytes;  ///< See Vocabulary::missing_bytes.
  std::vector<std::pair<std::string, TokenId>> special_tokens;  ///< Those that there are, by role.
  std::vector<TokenId> end_of_generation;
};

template <class Visitor>
void describe(Visitor& visit, const VocabularyStatistics& statistics) {
  visit("family", statistics.family, "", "the algorithm: SPM, BPE, WPM, UGM, RWKV or PLAMO2");
  visit("model", statistics.model, "", "the key that names the algorithm");
  visit("pre", statistics.pre, "", "the key that names the pre-tokenizer; empty without it");
  visit("pre_known", statistics.pre_known, "",
        "the pre-tokenizer is known; null for families that have none");
  visit("tokens", statistics.tokens, "tokens", "of the vocabulary");
  visit("text_bytes", statistics.text_bytes, "bytes", "of their texts together");
  visit("types", statistics.types, "tokens", "of each type");
  visit("longest", statistics.longest, "", "the id of the longest token; null without tokens");
  visit("repeated", statistics.repeated, "", "ids of tokens whose text a lower id has");
  visit("missing_bytes", statistics.missing_bytes, "",
        "bytes that occur in UTF-8 and that no token stands for");
  visit("special_tokens", statistics.special_tokens, "", "ids by role");
  visit("end_of_generation", statistics.end_of_generation, "", "ids of tokens that end a text");
}

/// Counts the tokens of a vocabulary. Linear in their texts.
[[nodiscard]] INGOT_EXPORT VocabularyStatistics compute_statistics(const Vocabulary& vocabulary);

/// Whether the pre-tokenizer `pre` of a tokenizer `model` (the values of these keys) is known;
/// nothing for families that have none, and for unknown ones.
[[nodiscard]] INGOT_EXPORT std::optional<bool> knows_pre_tokenizer(std::string_view model,
                                                                   std::string_view pre) noexcept;

}  // namespace ingot
