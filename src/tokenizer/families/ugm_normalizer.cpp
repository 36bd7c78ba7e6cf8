// SPDX-License-Identifier: MIT
#include "tokenizer/families/ugm_normalizer.hpp"

#include <algorithm>

namespace ingot::tokenizer {
namespace {

/// Normalized texts may be longer than the text by so much; Unicode's own forms need a factor
/// of 11.
constexpr std::size_t max_growth = 64;
constexpr std::size_t max_growth_slack = 65'536;
/// Places in the normalized text have 32 bits; a character may add a space symbol per byte.
constexpr std::size_t max_normalized_bytes = 0x3FFF'FFFF;

/// Spells the replacements of characters, one after the other. Spaces become the space symbol,
/// between words and before the first word as the file wants them.
class SpaceSpeller {
 public:
  SpaceSpeller(std::string& result, bool needs_prefix, bool joins_spaces, bool is_in_word)
      : result_(result),
        needs_prefix_(needs_prefix),
        joins_spaces_(joins_spaces),
        is_in_word_(is_in_word) {}

  void append(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t space = std::min(text.find(' ', at), text.size());
      if (space != at && !is_in_word_) {
        if (needs_prefix_ || joins_spaces_) result_ += space_symbol;
        needs_prefix_ = false;
        is_in_word_ = true;
      }
      result_.append(text, at, space - at);
      at = space;
      for (; at < text.size() && text[at] == ' '; ++at) {
        is_in_word_ = false;
        if (!joins_spaces_) result_ += space_symbol;
      }
    }
  }

 private:
  std::string& result_;
  bool needs_prefix_;
  bool joins_spaces_;
  bool is_in_word_;
};

}  // namespace

UgmNormalizer::UgmNormalizer(const VocabularyData& data, Charsmap charsmap, Trie user_defined)
    : data_(data), charsmap_(std::move(charsmap)), user_defined_(std::move(user_defined)) {
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    const char c = static_cast<char>(i);
    const bool is_ascii = i < 0x80;
    const bool is_free = !user_defined_.can_begin_with(c);
    changes_[i] = !is_ascii || !is_free || !charsmap_.leaves_before_ascii(c) ? Change::possible
                  : charsmap_.can_begin_with(c)                              ? Change::before_ascii
                                                                             : Change::none;
  }
  can_find_parts_ = data.flags.removes_extra_spaces && changes_[' '] == Change::none;
}

std::size_t UgmNormalizer::max_bytes_of(std::string_view text) noexcept {
  return std::min(max_normalized_bytes, text.size() * max_growth + max_growth_slack);
}

/// The replacement of the text at a position.
UgmNormalizer::Replaced UgmNormalizer::replace(std::string_view text) const {
  if (user_defined_.can_begin_with(text[0])) {
    const Trie::Match match = user_defined_.longest_prefix(data_.texts, text);
    if (match.number != Trie::no_text) return {text.substr(0, match.size_bytes), match.size_bytes};
  }
  const Charsmap::Match match = charsmap_.find(text);
  if (match.size_bytes != 0) return {match.replacement, match.size_bytes};
  constexpr std::string_view replacement = "\xEF\xBF\xBD";
  const LenientCharacter character = decode_lenient(text);
  const bool is_valid =
      character.code_point != replacement_character || text.starts_with(replacement);
  if (!is_valid) return {replacement, 1};
  return {text.substr(0, character.size_bytes), character.size_bytes};
}

std::size_t UgmNormalizer::unchanged_character(std::string_view text) const {
  if (user_defined_.can_begin_with(text[0]) || charsmap_.find(text).size_bytes != 0) return 0;
  const LenientCharacter character = decode_lenient(text);
  return character.code_point == replacement_character ? 0 : character.size_bytes;
}

/// The end of the ASCII characters from `begin` on that stay as they are.
std::size_t UgmNormalizer::plain_end(std::string_view text, std::size_t begin) const {
  std::size_t end = begin;
  while (end < text.size() && changes_[static_cast<unsigned char>(text[end])] != Change::possible) {
    ++end;
  }
  // The last one may be the first part of a character.
  const bool is_followed = end < text.size() && static_cast<unsigned char>(text[end]) >= 0x80;
  return is_followed && end != begin ? end - 1 : end;
}

bool UgmNormalizer::normalize(std::string_view text, NormalizedText& result) const {
  const std::size_t max_bytes = max_bytes_of(text);
  result.clear();
  SpaceSpeller speller(result.text, data_.flags.has_space_prefix, data_.flags.removes_extra_spaces,
                       false);
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = plain_end(text, i);
    const bool is_plain = end != i && !result.keeps_origins;
    const Replaced replaced =
        is_plain ? Replaced{text.substr(i, end - i), end - i} : replace(text.substr(i));
    if (result.text.size() + replaced.text.size() > max_bytes) return false;
    speller.append(replaced.text);
    result.mark(i);
    i += replaced.source_bytes;
  }
  if (result.keeps_origins) result.origins.push_back(text.size());
  return true;
}

std::size_t UgmNormalizer::normalize_word(std::string_view text, std::size_t begin,
                                          std::size_t max_bytes, std::string& result) const {
  const bool is_first_part = begin == 0 || text[begin] == ' ';
  std::size_t at = begin + (text[begin] == ' ' ? 1 : 0);
  result.clear();
  SpaceSpeller speller(result, false, true, !is_first_part);
  while (at < text.size() && text[at] != ' ' && result.size() <= max_bytes) {
    const Replaced replaced = replace(text.substr(at));
    speller.append(replaced.text);
    at += replaced.source_bytes;
  }
  return at;
}

}  // namespace ingot::tokenizer
