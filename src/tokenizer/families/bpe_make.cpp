// SPDX-License-Identifier: MIT
// The three kinds of byte-pair encoding, by tokenizer.ggml.model.
#include <algorithm>
#include <string>
#include <utility>

#include "tokenizer/families/bpe.hpp"
#include "tokenizer/unicode/unicode.hpp"
#include "tokenizer/vocabulary/token_keys.hpp"

namespace ingot::tokenizer {
namespace {

/// "hybriddna": between <dna> and </dna>, six letters are a token.
class DnaEncoder final : public BpeEncoder {
 public:
  DnaEncoder(const VocabularyData& data, Splitter splitter, BpeMerges merges)
      : BpeEncoder(data, std::move(splitter), std::move(merges)),
        begin_(data.find(begin_text)),
        end_(data.find(end_text)),
        unknown_(data.find("<oov>")) {}

  void encode_spaced(std::string_view piece, Work& work) const override {
    if (begin_ == no_token || end_ == no_token || unknown_ == no_token) {
      return BpeEncoder::encode_spaced(piece, work);
    }
    for (std::size_t at = 0; at < piece.size();) {
      const std::size_t tag = std::min(piece.find(begin_text, at), piece.size());
      encode_between(piece.substr(at, tag - at), at, work);
      if (tag == piece.size()) return;
      const std::size_t first = tag + begin_text.size();
      work.put(begin_, tag, first);
      const std::size_t last = std::min(piece.find(end_text, first), piece.size());
      encode_letters(piece.substr(first, last - first), first, work);
      if (last == piece.size()) return;
      at = last + end_text.size();
      work.put(end_, last, at);
    }
  }

  /// Letters of DNA are counted from the tag before them.
  [[nodiscard]] bool can_cut(std::string_view text, std::size_t place) const override {
    const bool has_tags = begin_ != no_token && end_ != no_token && unknown_ != no_token;
    return !has_tags && BpeEncoder::can_cut(text, place);
  }

 private:
  static constexpr std::string_view begin_text = "<dna>";
  static constexpr std::string_view end_text = "</dna>";
  static constexpr std::size_t letters_per_token = 6;

  void encode_between(std::string_view text, std::size_t offset, Work& work) const {
    if (text.empty()) return;
    const std::size_t first = work.ranges.size();
    BpeEncoder::encode_spaced(text, work);
    work.resolve_ranges(first, offset);
  }

  void encode_letters(std::string_view letters, std::size_t offset, Work& work) const {
    for (std::size_t i = 0; i < letters.size(); i += letters_per_token) {
      std::string token(letters.substr(i, letters_per_token));
      const std::size_t end = offset + i + token.size();
      for (char& c : token) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
      token.resize(letters_per_token, 'A');
      const TokenId id = data_.find(token.append(k_mer_mark));
      work.put(id == no_token ? unknown_ : id, offset + i, end);
    }
  }

  TokenId begin_;
  TokenId end_;
  TokenId unknown_;
};

/// "whitespace": drops white space and encodes each text between separately.
class WhitespaceEncoder final : public BpeEncoder {
 public:
  WhitespaceEncoder(const VocabularyData& data, Splitter splitter, BpeMerges merges,
                    bool is_lower_cased)
      : BpeEncoder(data, std::move(splitter), std::move(merges)), is_lower_cased_(is_lower_cased) {}

  void encode_spaced(std::string_view piece, Work& work) const override {
    NormalizedText& normalized = work.normalized;
    const std::size_t first_range = work.ranges.size();
    normalized.clear();
    std::vector<ByteRange> words;
    bool is_in_word = false;
    for (std::size_t i = 0; i < piece.size();) {
      const LenientCharacter character = decode_lenient(piece.substr(i));
      const bool is_space = class_of(character.code_point).is_white_space();
      if (is_space) {
        normalized.text += ' ';
      } else {
        if (!is_in_word) words.push_back({normalized.text.size(), 0});
        append_utf8(normalized.text,
                    is_lower_cased_ ? to_lower(character.code_point) : character.code_point);
        words.back().end = normalized.text.size();
      }
      normalized.mark(i);
      is_in_word = !is_space;
      i += character.size_bytes;
    }
    if (normalized.keeps_origins) normalized.origins.push_back(piece.size());
    for (const ByteRange& word : words) {
      encode_clean(std::string_view(normalized.text).substr(word.begin, word.end - word.begin),
                   word.begin, work);
    }
    work.origins = normalized.origins;
    work.resolve_ranges(first_range, 0);
  }

  [[nodiscard]] bool can_cut(std::string_view text, std::size_t place) const override {
    return is_ascii_space(text[place]);
  }

 private:
  bool is_lower_cased_;
};

}  // namespace

Result<std::unique_ptr<const FamilyEncoder>> make_bpe(const Model& model,
                                                      const VocabularyData& data) {
  if (data.pre_tokenizer == nullptr) {
    return fail(Errc::pre_tokenizer_unknown, token_key("pre"), "found \"" + data.pre_name + "\"");
  }
  INGOT_TRY(Splitter splitter, Splitter::of(*data.pre_tokenizer));
  INGOT_TRY(BpeMerges merges, BpeMerges::make(model, data));
  if (data.model_name == "hybriddna") {
    return std::make_unique<const DnaEncoder>(data, std::move(splitter), std::move(merges));
  }
  if (data.model_name == "whitespace") {
    const bool is_lower_cased = model.get_or<bool>(token_key("normalizer.lowercase"), false);
    return std::make_unique<const WhitespaceEncoder>(data, std::move(splitter), std::move(merges),
                                                     is_lower_cased);
  }
  return std::make_unique<const BpeEncoder>(data, std::move(splitter), std::move(merges));
}

}  // namespace ingot::tokenizer
