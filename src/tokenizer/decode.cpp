// SPDX-License-Identifier: MIT
// Turns ids into text.
#include <algorithm>
#include <string>
#include <utility>

#include "base/hexadecimal.hpp"
#include "base/utf8.hpp"
#include "tokenizer/vocabulary/byte_alphabet.hpp"
#include "tokenizer/vocabulary/escapes.hpp"
#include "tokenizer/vocabulary/vocabulary_data.hpp"

namespace ingot {
namespace tokenizer {
namespace {

/// The bytes of a token of byte-level BPE. A character that stands for no byte shows up as the
/// reference implementation shows it, with the whole token behind it.
std::string decode_byte_level(std::string_view token) {
  std::string bytes;
  for (std::string_view rest = token; !rest.empty();) {
    const LenientCharacter character = decode_lenient(rest);
    rest.remove_prefix(character.size_bytes);
    const int byte = byte_of(character.code_point);
    if (byte >= 0) {
      bytes += static_cast<char>(byte);
      continue;
    }
    std::string encoded;
    append_utf8(encoded, character.code_point);
    bytes += "[UNK_BYTE_0x";
    for (const char c : encoded) bytes += hexadecimal_byte(c, hexadecimal_digits);
    bytes.append(token).append("]");
  }
  return bytes;
}

std::string with_spaces(std::string_view token) {
  std::string text;
  while (!token.empty()) {
    const std::size_t symbol = std::min(token.find(space_symbol), token.size());
    text.append(token.substr(0, symbol));
    token.remove_prefix(symbol);
    if (token.empty()) break;
    text += ' ';
    token.remove_prefix(space_symbol.size());
  }
  return text;
}

/// The text of a token in the file, without the mark of a k-mer.
std::string_view shown_text(const VocabularyData& data, TokenId id) {
  std::string_view text = data.text(id);
  const bool can_be_k_mer = data.first_k_mer != no_token && id > data.first_k_mer;
  if (can_be_k_mer && text.size() > k_mer_mark.size() && text.ends_with(k_mer_mark)) {
    text.remove_suffix(k_mer_mark.size());
  }
  return text;
}

/// The byte of a token that is one; nothing if it is not spelt so.
std::string byte_piece(std::string_view text) {
  const int byte = byte_of_token(text);
  return byte < 0 ? std::string() : std::string(1, static_cast<char>(byte));
}

std::string make_piece(const VocabularyData& data, TokenId id, bool show_special) {
  const std::string_view text = shown_text(data, id);
  const TokenKind kind = data.kind(id);
  if (data.is_hidden(id) && !show_special) return {};
  if (data.family == TokenizerFamily::rwkv) return unescape(text);
  if (data.family == TokenizerFamily::plamo2) {
    return kind == TokenKind::byte ? byte_piece(text) : std::string(text);
  }
  if (data.is_found_in_text(id)) return std::string(text);
  if (kind == TokenKind::normal) {
    const bool is_byte_level = data.family == TokenizerFamily::bpe && !data.flags.escapes_spaces;
    return is_byte_level ? decode_byte_level(text) : with_spaces(text);
  }
  return kind == TokenKind::byte ? byte_piece(text) : std::string();
}

// --- clean-up of spaces ------------------------------------------------------------------------

/// Drops the space before each place that `is_dropped` holds for.
template <class IsDropped>
std::string drop_spaces(std::string_view text, const IsDropped& is_dropped) {
  std::string kept;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != ' ' || !is_dropped(text.substr(i + 1))) kept += text[i];
  }
  return kept;
}

/// An apostrophe between two spaces loses both; the second serves no other apostrophe.
std::string join_lonely_apostrophes(std::string_view text) {
  std::string kept(text.substr(0, 1));
  bool is_joined = false;
  for (std::size_t i = 1; i < text.size(); ++i) {
    const bool has_space = text[i - 1] == ' ' && !is_joined;
    is_joined = false;
    if (text[i] == '\'' && has_space && i + 1 < text.size() && text[i + 1] == ' ') {
      kept.back() = '\'';
      is_joined = true;
      ++i;
    } else {
      kept += text[i];
    }
  }
  return kept;
}

std::string clean_spaces(std::string_view text) {
  const std::string without_punctuation = drop_spaces(text, [](std::string_view rest) {
    return !rest.empty() && std::string_view("?!.,").find(rest.front()) != std::string_view::npos;
  });
  return drop_spaces(join_lonely_apostrophes(without_punctuation), [](std::string_view rest) {
    return rest.starts_with("'s") || rest.starts_with("'m") || rest.starts_with("'re") ||
           rest.starts_with("'ve");
  });
}

/// Whether the text of a first token loses the space that encoding has put before it.
bool loses_first_space(const VocabularyData& data) noexcept {
  return data.flags.has_space_prefix && data.family != TokenizerFamily::rwkv;
}

}  // namespace
}  // namespace tokenizer

std::string Vocabulary::piece(TokenId id, bool show_special) const {
  if (text(id).empty()) return {};
  return tokenizer::make_piece(*data_, id, show_special);
}

Result<std::string> Vocabulary::decode(std::span<const TokenId> ids,
                                       const DecodeOptions& options) const {
  const auto wrong = std::ranges::find_if(ids, [&](TokenId id) { return !contains(id); });
  if (wrong != ids.end()) {
    return fail(Errc::index_out_of_range, "token id " + std::to_string(*wrong),
                "there are " + std::to_string(size()) + " tokens");
  }
  bool loses_space = tokenizer::loses_first_space(*data_);
  if (options.remove_special && data_->flags.adds_bos && !ids.empty() &&
      ids.front() == special(SpecialToken::bos)) {
    ids = ids.subspan(1);
    loses_space = false;
  }
  if (options.remove_special && data_->flags.adds_eos && !ids.empty() &&
      ids.back() == special(SpecialToken::eos)) {
    ids = ids.first(ids.size() - 1);
  }
  std::string decoded;
  for (const TokenId id : ids) {
    const std::string part = piece(id, options.show_special);
    decoded.append(part, loses_space && part.starts_with(' ') ? 1 : 0);
    loses_space = false;
  }
  const bool is_cleaned = options.clean_spaces.value_or(data_->flags.cleans_spaces);
  return is_cleaned ? tokenizer::clean_spaces(decoded) : decoded;
}

// --- streaming ---------------------------------------------------------------------------------

namespace {

/// Whether well-formed UTF-8 can begin with `text`, which is a lead byte and continuation bytes.
bool can_become_character(std::string_view text) noexcept {
  std::string longest(text);
  longest.resize(tokenizer::character_bytes(text[0]), '\xBF');
  std::string shortest(text);
  shortest.resize(longest.size(), '\x80');
  return decode_utf8(longest).size_bytes != 0 || decode_utf8(shortest).size_bytes != 0;
}

/// Bytes at the end of `text` that are the beginning of a character of UTF-8.
std::size_t unfinished_bytes(std::string_view text) noexcept {
  for (std::size_t size = 1; size <= std::min<std::size_t>(3, text.size()); ++size) {
    const std::string_view tail = text.substr(text.size() - size);
    const auto lead = static_cast<unsigned char>(tail[0]);
    if ((lead & 0xC0) == 0x80) continue;
    return size < tokenizer::character_bytes(tail[0]) && can_become_character(tail) ? size : 0;
  }
  return 0;
}

/// Whole characters; every byte that is not part of one is U+FFFD.
std::string repaired(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const Utf8Character character = decode_utf8(text);
    if (character.size_bytes == 0) {
      tokenizer::append_utf8(result, tokenizer::replacement_character);
      text.remove_prefix(1);
    } else {
      result.append(text.substr(0, character.size_bytes));
      text.remove_prefix(character.size_bytes);
    }
  }
  return result;
}

}  // namespace

StreamDecoder::StreamDecoder(const Vocabulary& vocabulary, bool show_special)
    : vocabulary_(vocabulary), shows_special_(show_special) {}

Result<std::string> StreamDecoder::push(TokenId id) {
  if (!vocabulary_.contains(id)) {
    return fail(Errc::index_out_of_range, "token id " + std::to_string(id),
                "there are " + std::to_string(vocabulary_.size()) + " tokens");
  }
  std::string part = vocabulary_.piece(id, shows_special_);
  const bool loses_space = is_first_ && tokenizer::loses_first_space(*vocabulary_.data_);
  is_first_ = false;
  held_back_.append(part, loses_space && part.starts_with(' ') ? 1 : 0);
  const std::size_t unfinished = unfinished_bytes(held_back_);
  const std::string text =
      repaired(std::string_view(held_back_).substr(0, held_back_.size() - unfinished));
  held_back_.erase(0, held_back_.size() - unfinished);
  return text;
}

std::string StreamDecoder::finish() {
  const std::string rest = repaired(held_back_);
  held_back_.clear();
  is_first_ = true;
  return rest;
}

}  // namespace ingot
