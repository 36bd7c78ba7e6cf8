// SPDX-License-Identifier: MIT
#include "ingot/vocabulary_statistics.hpp"

#include <algorithm>

namespace ingot {

std::optional<bool> knows_pre_tokenizer(std::string_view model, std::string_view pre) noexcept {
  if (family_of(model) != TokenizerFamily::bpe) return std::nullopt;
  return std::ranges::binary_search(known_pre_tokenizers(), pre);
}

VocabularyStatistics compute_statistics(const Vocabulary& vocabulary) {
  VocabularyStatistics result;
  result.family = vocabulary.family();
  result.model = vocabulary.model_name();
  result.pre = vocabulary.pre_tokenizer();
  result.tokens = vocabulary.size();
  result.pre_known = knows_pre_tokenizer(result.model, result.pre);
  for (auto kind = TokenKind::undefined; kind <= TokenKind::byte;
       kind = static_cast<TokenKind>(static_cast<int>(kind) + 1)) {
    result.types.emplace_back(name_of(kind), 0);
  }
  const bool has_equal_texts = vocabulary.has_equal_texts();
  for (TokenId id = 0; vocabulary.contains(id); ++id) {
    const std::string_view text = vocabulary.text(id);
    ++result.types[static_cast<std::size_t>(vocabulary.kind(id))].second;
    result.text_bytes += text.size();
    if (!result.longest || text.size() > vocabulary.text(*result.longest).size()) {
      result.longest = id;
    }
    const bool can_repeat = has_equal_texts && !text.empty();
    if (can_repeat && vocabulary.find(text) != id) result.repeated.push_back(id);
  }
  for (std::size_t i = 0; i < special_token_count; ++i) {
    const auto special = static_cast<SpecialToken>(i);
    const TokenId id = vocabulary.special(special);
    if (id != no_token) result.special_tokens.emplace_back(name_of(special), id);
  }
  result.missing_bytes = vocabulary.missing_bytes();
  const auto ends = vocabulary.end_of_generation();
  result.end_of_generation.assign(ends.begin(), ends.end());
  return result;
}

}  // namespace ingot
