// SPDX-License-Identifier: MIT
// RWKV: the longest token that begins here, again and again. There is no normalization.
#include <algorithm>

#include "tokenizer/escapes.hpp"
#include "tokenizer/family_encoder.hpp"
#include "tokenizer/trie.hpp"

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
  }

  void encode(std::string_view piece, bool, Work& work) const override {
    for (std::size_t i = 0; i < piece.size();) {
      const Trie::Match match = trie_.longest_prefix(texts_, piece.substr(i));
      const bool is_known = match.number != Trie::no_text;
      const std::size_t size_bytes = is_known ? match.size_bytes : 1;
      work.put(is_known ? static_cast<TokenId>(match.number) : unknown_, i, i + size_bytes);
      i += size_bytes;
    }
  }

 private:
  TokenId unknown_;
  TextList texts_;  // by id
  Trie trie_;
};

}  // namespace

Result<std::unique_ptr<const FamilyEncoder>> make_rwkv(const Model&, const VocabularyData& data) {
  return std::make_unique<const RwkvEncoder>(data);
}

}  // namespace ingot::tokenizer
