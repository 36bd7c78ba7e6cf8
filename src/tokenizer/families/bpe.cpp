// SPDX-License-Identifier: MIT
#include "tokenizer/families/bpe.hpp"

#include <algorithm>
#include <utility>

#include "tokenizer/vocabulary/byte_alphabet.hpp"
#include "tokenizer/vocabulary/escapes.hpp"

namespace ingot::tokenizer {
namespace {

/// Words up to this size are spelt on the stack.
constexpr std::size_t max_spelt_word_bytes = 64;

/// Merging words up to this size is faster than looking whether they are a token.
constexpr std::size_t max_merged_bytes = 4;

}  // namespace

/// Two neighbours merge if their pair has a rank.
struct BpeEncoder::Rules {
  const BpeMerges& merges;
  std::string_view word;
  bool is_byte_encoded;

  [[nodiscard]] Join join_first(const MergeSymbol& left, const MergeSymbol& right,
                                std::uint32_t end) const noexcept {
    return is_byte_encoded ? merges.byte_pairs().join(word[left.begin], word[right.begin])
                           : join(left, right, end);
  }
  [[nodiscard]] Join join(const MergeSymbol& left, const MergeSymbol& right,
                          std::uint32_t) const noexcept {
    return merges.join(left.id, right.id);
  }
};

BpeEncoder::BpeEncoder(const VocabularyData& data, Splitter splitter, BpeMerges merges)
    : data_(data),
      splitter_(std::move(splitter)),
      merges_(std::move(merges)),
      whole_tokens_(data.texts.size()) {
  const bool is_encoded = data.is_byte_encoded();
  for (std::size_t i = 0; i < 256; ++i) {
    const auto byte = static_cast<unsigned char>(i);
    const std::string single(1, static_cast<char>(byte));
    byte_ids_[i] = data.find(is_encoded ? single : token_of_byte(byte));
    byte_symbols_[i] = merges_.find(token_of_bytes(single));
  }
}

void BpeEncoder::encode(std::string_view piece, bool, Work& work) const {
  if (!data_.flags.escapes_spaces) return encode_spaced(piece, work);
  replace_spaces(piece, false, work.replaced);
  encode_spaced(work.replaced.text, work);
  work.origins = work.replaced.origins;
}

bool BpeEncoder::can_cut(std::string_view text, std::size_t place) const {
  const LenientCharacter left = character_before(text, place);
  if (left.size_bytes == 0 || is_continuation(text[place])) return false;
  const auto spelt = [&](char32_t character) {
    return data_.flags.escapes_spaces && character == ' ' ? space_character : character;
  };
  return splitter_.is_cut(spelt(left.code_point),
                          spelt(decode_lenient(text.substr(place)).code_point));
}

void BpeEncoder::encode_spaced(std::string_view text, Work& work) const {
  if (is_clean(text)) return encode_clean(text, 0, work);
  const std::size_t first = work.ranges.size();
  clean(text, work.normalized);
  encode_clean(work.normalized.text, 0, work);
  work.origins = work.normalized.origins;
  work.resolve_ranges(first, 0);
}

void BpeEncoder::encode_clean(std::string_view text, std::size_t offset, Work& work) const {
  const auto place_of = [&](std::string_view word) {
    return static_cast<std::size_t>(word.data() - text.data()) + offset;
  };
  const auto merge_anew = [&](std::string_view word, std::size_t begin) {
    merge_word(word, begin, work);
  };
  if (data_.is_byte_encoded()) {
    splitter_.split(text, [&](std::string_view word) {
      encode_word(word, place_of(word), work, [&](std::string_view anew, std::size_t begin) {
        const TokenId id = find_unmerged(anew);
        if (id != no_token) return work.put(id, begin, begin + anew.size());
        merge_word(anew, begin, work);
      });
    });
    return;
  }
  // Here a piece may be a whole line, so it is cut where no merge can reach across.
  splitter_.split(text, [&](std::string_view piece) {
    const TokenId id = find_unmerged(piece);
    if (id != no_token) return work.put(id, place_of(piece), place_of(piece) + piece.size());
    merges_.filter().split(
        piece, [&](std::string_view word) { encode_word(word, place_of(word), work, merge_anew); });
  });
}

TokenId BpeEncoder::find_word(std::string_view word) const {
  if (!data_.is_byte_encoded()) return data_.find(word);
  // No byte has more than two in the spelling of tokens.
  std::array<char, 2 * max_spelt_word_bytes> spelling;
  if (word.size() > max_spelt_word_bytes) return data_.find(token_of_bytes(word));
  std::size_t size = 0;
  spell_bytes(word, [&](char byte) { spelling[size++] = byte; });
  return data_.find(std::string_view(spelling.data(), size));
}

TokenId BpeEncoder::find_unmerged(std::string_view word) const {
  const PreTokenizer& pre = *data_.pre_tokenizer;
  const bool is_newlines =
      pre.has(PreTokenizer::gemma) && word.find_first_not_of('\n') == word.npos;
  return is_newlines || pre.has(PreTokenizer::ignore_merges) ? find_word(word) : no_token;
}

void BpeEncoder::merge_word(std::string_view word, std::size_t begin, Work& work) const {
  std::size_t part = 0;
  for (std::size_t i = 1; data_.is_byte_encoded() && i < word.size(); ++i) {
    if (!merges_.is_cut(word.substr(part), i - part)) continue;
    encode_part(word.substr(part, i - part), begin + part, work);
    part = i;
  }
  if (part == 0) return encode_unbroken(word, begin, work);
  encode_part(word.substr(part), begin + part, work);
}

/// A part of a word between bytes that no merge joins.
void BpeEncoder::encode_part(std::string_view part, std::size_t begin, Work& work) const {
  if (part.size() > 2) {
    return encode_word(
        part, begin, work,
        [&](std::string_view one, std::size_t place) { merge_all(one, place, work); },
        WordCache::Kind::part);
  }
  const Join join = merges_.byte_pairs().join(part.front(), part.back());
  if (part.size() == 2 && join.rank != Join::no_rank) {
    return put_symbol(part, begin, {0, join.id}, 2, work);
  }
  for (std::uint32_t i = 0; i < part.size(); ++i) {
    put_symbol(part, begin, {i, byte_symbols_[static_cast<unsigned char>(part[i])]}, i + 1, work);
  }
}

/// A whole word, which often is a token.
void BpeEncoder::encode_unbroken(std::string_view word, std::size_t begin, Work& work) const {
  using Answer = WholeTokens::Answer;
  const TokenId whole = word.size() > max_merged_bytes ? find_word(word) : no_token;
  const Answer answer = whole == no_token ? Answer::no : whole_tokens_[whole];
  if (answer == Answer::yes) return work.put(whole, begin, begin + word.size());
  const std::size_t count = merge_all(word, begin, work);
  if (answer == Answer::open) whole_tokens_.set(whole, count == 1);
}

/// Merges the symbols of a word until no pair has a rank; returns how many are left.
std::size_t BpeEncoder::merge_all(std::string_view word, std::size_t begin, Work& work) const {
  std::vector<MergeSymbol>& symbols = work.merging.symbols;
  fill_symbols(word, symbols);
  merge(Rules{merges_, word, data_.is_byte_encoded()}, work.merging);
  const std::size_t count = symbols.size() - 1;
  for (std::size_t i = 0; i < count; ++i) {
    put_symbol(word, begin, symbols[i], symbols[i + 1].begin, work);
  }
  return count;
}

void BpeEncoder::fill_symbols(std::string_view word, std::vector<MergeSymbol>& symbols) const {
  symbols.clear();
  if (data_.is_byte_encoded()) {
    for (std::uint32_t i = 0; i < word.size(); ++i) {
      symbols.push_back({i, byte_symbols_[static_cast<unsigned char>(word[i])]});
    }
  } else {
    for (std::size_t i = 0; i < word.size();) {
      const std::string_view character = word.substr(i, character_bytes(word[i]));
      symbols.push_back({static_cast<std::uint32_t>(i), merges_.find(character)});
      i += character.size();
    }
  }
  symbols.push_back({static_cast<std::uint32_t>(word.size()), BpeMerges::no_symbol});
}

/// The token of a symbol; else a token for each byte of its spelling, where there is one.
void BpeEncoder::put_symbol(std::string_view word, std::size_t begin, const MergeSymbol& symbol,
                            std::uint32_t end, Work& work) const {
  if (merges_.is_token(symbol.id)) {
    return work.put(static_cast<TokenId>(symbol.id), begin + symbol.begin, begin + end);
  }
  const std::string_view text = word.substr(symbol.begin, end - symbol.begin);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view byte = text.substr(i, 1);
    const std::size_t place = begin + symbol.begin + i;
    for (const char spelt : data_.is_byte_encoded() ? token_of_bytes(byte) : std::string(byte)) {
      const TokenId id = byte_ids_[static_cast<unsigned char>(spelt)];
      if (id != no_token) work.put(id, place, place + 1);
    }
  }
}

}  // namespace ingot::tokenizer
