// SPDX-License-Identifier: MIT
// The content of a vocabulary, after everything in the file has been checked.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/tokenizer.hpp"
#include "tokenizer/pre_tokenize/pre_tokenizer.hpp"
#include "tokenizer/vocabulary/text_map.hpp"

namespace ingot::tokenizer {

struct VocabularyData {
  std::string model_name;
  std::string pre_name;
  const PreTokenizer* pre_tokenizer = nullptr;  ///< nullptr if the name is unknown
  TokenizerFamily family = TokenizerFamily::none;
  TokenizerFlags flags;

  TextList texts;
  TextMap ids;  ///< The ids of texts; the first of equal texts.
  std::vector<float> scores;
  std::vector<TokenKind> file_kinds;
  std::vector<TokenKind> kinds;
  std::size_t nameless_count = 0;  ///< Ids without texts, of a vocabulary that has none.
  std::array<TokenId, special_token_count> specials = {};
  std::vector<TokenId> ends;         ///< End of generation, ascending.
  std::vector<TokenId> strip_left;   ///< Ascending.
  std::vector<TokenId> strip_right;  ///< Ascending.
  /// Tokens from here on that end in k_mer_mark are printed without it; no_token: none do.
  TokenId first_k_mer = no_token;

  [[nodiscard]] std::size_t size() const noexcept { return texts.size() + nameless_count; }
  [[nodiscard]] std::string_view text(TokenId id) const noexcept {
    return texts[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] TokenKind kind(TokenId id) const noexcept {
    return kinds[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] TokenId find(std::string_view token_text) const noexcept {
    const std::uint32_t number = ids.find(texts, token_text);
    return number == TextMap::not_found ? no_token : static_cast<TokenId>(number);
  }
  [[nodiscard]] TokenId& special(SpecialToken token) noexcept {
    return specials[static_cast<std::size_t>(token)];
  }
  [[nodiscard]] TokenId special(SpecialToken token) const noexcept {
    return specials[static_cast<std::size_t>(token)];
  }
  /// Whether tokens hold printable characters for bytes (byte_alphabet.hpp).
  [[nodiscard]] bool is_byte_encoded() const noexcept {
    return family == TokenizerFamily::bpe &&
           !(pre_tokenizer != nullptr && pre_tokenizer->has(PreTokenizer::raw_utf8));
  }
  /// Ids by kind: those that are looked for in a text before it is tokenized.
  [[nodiscard]] bool is_found_in_text(TokenId id) const noexcept {
    return kind(id) == TokenKind::user_defined || is_hidden(id);
  }
  /// Whether a special token is found and shown only on request.
  [[nodiscard]] bool is_hidden(TokenId id) const noexcept {
    return kind(id) == TokenKind::control || kind(id) == TokenKind::unknown;
  }
};

/// U+E000 at the end of a token of six letters of DNA.
inline constexpr std::string_view k_mer_mark = "\xEE\x80\x80";

/// Fills special tokens that no key names, the ends of generation, and the members that depend on
/// them.
void resolve_special_tokens(const Model& model, VocabularyData& data);

}  // namespace ingot::tokenizer
