// SPDX-License-Identifier: MIT
// RWKV: the longest token that begins here, again and again. There is no normalization.
#include <algorithm>
#include <bitset>

#include "tokenizer/families/family_encoder.hpp"
#include "tokenizer/vocabulary/escapes.hpp"
#include "tokenizer/vocabulary/trie.hpp"

namespace ingot::tokenizer {
namespace {

class RwkvEncoder final : public FamilyEncoder {
 public:
  explicit RwkvEncoder(const VocabularyData& data) : unknown_(data.special(SpecialToken::unk)) {
    std::vector<std::uint32_t> numbers(data.texts.size());
    texts_.reserve(numbers.size(), data.texts.total_bytes());
    for (std::uint32_t i = 0; i < numbers.size(); ++i) {
      texts_.push_back(unescape(data.texts[i]));
      numbers[i] = i;
    }
    // Different spellings may be one text; then the last token is taken.
    std::ranges::reverse(numbers);
    trie_ = Trie(texts_, numbers);
    for (std::size_t i = 0; i < texts_.size(); ++i) add_pairs(texts_[i]);
  }

  /// Whether no token has these two bytes side by side.
  [[nodiscard]] bool can_cut(std::string_view text, std::size_t place) const override {
    return !pairs_[pair_of(text, place)];
  }

  void encode(std::string_view piece, bool, Work& work) const override {
    for (std::size_t i = 0; i < piece.size();) {
      const Trie::Match token = longest_token(piece.substr(i));
      work.put(static_cast<TokenId>(token.number), i, i + token.size_bytes);
      i += token.size_bytes;
    }
  }

  [[nodiscard]] std::size_t final_end(std::string_view text) const override {
    std::size_t end = 0;
    while (text.size() - end >= max_token_bytes_) end += longest_token(text.substr(end)).size_bytes;
    return end;
  }

 private:
  /// The longest token that the text begins with, or the unknown one for a byte.
  [[nodiscard]] Trie::Match longest_token(std::string_view text) const {
    const Trie::Match match = trie_.longest_prefix(texts_, text);
    if (match.number != Trie::no_text) return match;
    return {static_cast<std::uint32_t>(unknown_), 1};
  }
  /// The number of the bytes on both sides of a place.
  [[nodiscard]] static std::size_t pair_of(std::string_view text, std::size_t place) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    return std::size_t{byte(place - 1)} * 256 + byte(place);
  }
  void add_pairs(std::string_view token) {
    for (std::size_t i = 1; i < token.size(); ++i) pairs_.set(pair_of(token, i));
    max_token_bytes_ = std::max(max_token_bytes_, token.size());
  }

  std::bitset<65'536> pairs_;  // the bytes that stand side by side within tokens
  std::size_t max_token_bytes_ = 1;
  TokenId unknown_;
  TextList texts_;  // texts by id
  Trie trie_;
};

}  // namespace

Result<std::unique_ptr<const FamilyEncoder>> make_rwkv(const Model&, const VocabularyData& data) {
  return std::make_unique<const RwkvEncoder>(data);
}

}  // namespace ingot::tokenizer
