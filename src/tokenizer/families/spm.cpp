// SPDX-License-Identifier: MIT
// SentencePiece: characters merge as long as two neighbours together are a token, the token of the
// highest score first.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "tokenizer/families/family_encoder.hpp"
#include "tokenizer/families/join_filter.hpp"
#include "tokenizer/families/merge.hpp"
#include "tokenizer/families/whole_tokens.hpp"
#include "tokenizer/vocabulary/escapes.hpp"

namespace ingot::tokenizer {
namespace {

/// Numbers in the order of falling scores. There is no NaN, and both zeros are one.
std::uint32_t rank_of(float score) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(score + 0.0F);
  constexpr std::uint32_t sign = 0x8000'0000;
  return (bits & sign) != 0 ? bits : ~(bits | sign);
}

class SpmEncoder final : public FamilyEncoder {
 public:
  explicit SpmEncoder(const VocabularyData& data)
      : data_(data), filter_(data.texts.size()), whole_tokens_(data.texts.size()) {
    for (std::size_t id = 0; id < data.texts.size(); ++id) {
      filter_.add_token(data.texts[id]);
      max_token_bytes_ = std::max(max_token_bytes_, data.texts[id].size());
    }
    for (std::size_t byte = 0; byte < byte_ids_.size(); ++byte) {
      const auto value = static_cast<unsigned char>(byte);
      TokenId id = data.find(token_of_byte(value));
      if (id == no_token) id = data.find(std::string(1, static_cast<char>(value)));
      byte_ids_[byte] = id == no_token ? data.special(SpecialToken::unk) : id;
    }
  }

  void encode(std::string_view piece, bool follows_special, Work& work) const override {
    replace_spaces(piece, follows_special && data_.flags.has_space_prefix, work.normalized);
    work.origins = work.normalized.origins;
    const std::string_view text = work.normalized.text;
    filter_.split(text, [&](std::string_view word) {
      const auto begin = static_cast<std::size_t>(word.data() - text.data());
      encode_word(word, begin, work, [&](std::string_view anew, std::size_t place) {
        encode_anew(anew, place, work);
      });
    });
  }

  [[nodiscard]] bool can_cut(std::string_view text, std::size_t place) const override {
    return filter_.is_cut(text, place, true);
  }

 private:
  /// Two neighbours merge if their joined text is a token.
  struct Rules {
    const SpmEncoder& encoder;
    std::string_view word;

    [[nodiscard]] Join join_first(const MergeSymbol& left, const MergeSymbol& right,
                                  std::uint32_t end) const {
      return join(left, right, end);
    }
    [[nodiscard]] Join join(const MergeSymbol& left, const MergeSymbol&, std::uint32_t end) const {
      const std::size_t size_bytes = end - left.begin;
      if (size_bytes > encoder.max_token_bytes_) return {};
      const TokenId id = encoder.data_.find(word.substr(left.begin, size_bytes));
      if (id == no_token) return {};
      return {rank_of(encoder.data_.scores[static_cast<std::size_t>(id)]),
              static_cast<std::uint32_t>(id)};
    }
  };

  void encode_anew(std::string_view word, std::size_t begin, Work& work) const {
    const TokenId whole = data_.find(word);
    using Answer = WholeTokens::Answer;
    const Answer answer = whole == no_token ? Answer::no : whole_tokens_[whole];
    if (answer == Answer::yes) return work.put(whole, begin, begin + word.size());
    std::vector<MergeSymbol>& symbols = work.merging.symbols;
    symbols.clear();
    for (std::size_t i = 0; i < word.size();) {
      const std::string_view character = word.substr(i, character_bytes(word[i]));
      symbols.push_back(
          {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(data_.find(character))});
      i += character.size();
    }
    symbols.push_back({static_cast<std::uint32_t>(word.size()), 0});
    merge(Rules{*this, word}, work.merging);
    if (answer == Answer::open) whole_tokens_.set(whole, symbols.size() == 2);
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
      put_symbol(word, begin, symbols[i], symbols[i + 1].begin, work);
    }
  }

  /// The token of a symbol, or the tokens of its bytes.
  void put_symbol(std::string_view word, std::size_t begin, const MergeSymbol& symbol,
                  std::uint32_t end, Work& work) const {
    const auto id = static_cast<TokenId>(symbol.id);
    if (id != no_token) return work.put(id, begin + symbol.begin, begin + end);
    for (std::size_t i = symbol.begin; i < end; ++i) {
      work.put(byte_ids_[static_cast<unsigned char>(word[i])], begin + i, begin + i + 1);
    }
  }

  const VocabularyData& data_;
  JoinFilter filter_;
  WholeTokens whole_tokens_;
  std::size_t max_token_bytes_ = 0;
  std::array<TokenId, 256> byte_ids_ = {};
};

}  // namespace

Result<std::unique_ptr<const FamilyEncoder>> make_spm(const Model&, const VocabularyData& data) {
  return std::make_unique<const SpmEncoder>(data);
}

}  // namespace ingot::tokenizer
