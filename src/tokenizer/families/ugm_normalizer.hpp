// SPDX-License-Identifier: MIT
// The form of a text in which UGM looks for tokens.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "tokenizer/families/charsmap.hpp"
#include "tokenizer/families/join_filter.hpp"
#include "tokenizer/unicode/lenient_utf8.hpp"
#include "tokenizer/vocabulary/trie.hpp"
#include "tokenizer/vocabulary/vocabulary_data.hpp"

namespace ingot::tokenizer {

/// Replaces characters by the charsmap, leaves user-defined tokens as they are, and spells spaces
/// with the space symbol. Immutable.
class UgmNormalizer {
 public:
  /// `data` must outlive it.
  UgmNormalizer(const VocabularyData& data, Charsmap charsmap, Trie user_defined);

  /// The most bytes that may become of a text.
  [[nodiscard]] static std::size_t max_bytes_of(std::string_view text) noexcept;

  /// Returns whether the result is within that limit.
  bool normalize(std::string_view text, NormalizedText& result) const;

  /// Whether `for_each_part` can be used, if no token has a space symbol but as its beginning.
  [[nodiscard]] bool can_find_parts() const noexcept { return can_find_parts_; }

  /// Finds the parts of the normalized text between safe cuts without making it: those that no
  /// character changes are parts of `text`, others are made in `buffer`.
  ///
  /// @param filter  knows the pairs of the space symbol as those of a space, too.
  /// @param take    called with each part, in order; a space at its beginning stands for the space
  ///                symbol.
  /// @return        false if the normalized text would have more than `max_bytes` bytes; some parts
  ///                have been taken then.
  template <class Take>
  bool for_each_part(std::string_view text, const JoinFilter& filter, std::size_t max_bytes,
                     std::string& buffer, const Take& take) const {
    std::size_t size_bytes = 0;  // size of the normalized text
    const auto take_part = [&](std::string_view part) {
      size_bytes += part.size() + (part[0] == ' ' ? space_symbol.size() - 1 : 0);
      take(part);
    };
    for (std::size_t at = 0; at < text.size() && size_bytes <= max_bytes;) {
      if (text[at] == ' ') {
        ++at;
        continue;
      }
      // The first word has no space whose place the symbol could take.
      const bool is_plain = at != 0;
      std::size_t begin = is_plain ? at - 1 : at;
      if (is_plain) at = end_of_plain(text, begin, filter, take_part);
      if (at == text.size() || (is_plain && text[at] == ' ')) {
        if (begin != at) take_part(text.substr(begin, at - begin));
        continue;
      }
      at = normalize_word(text, begin, max_bytes, buffer);
      filter.split(buffer, take_part);
    }
    return size_bytes <= max_bytes;
  }

 private:
  struct Replaced {
    std::string_view text;
    std::size_t source_bytes = 0;
  };

  /// The possible change of a character, by its first byte.
  enum class Change : std::uint8_t {
    none,          ///< An ASCII character that always stays.
    before_ascii,  ///< Stays if an ASCII character follows, or nothing.
    possible
  };

  [[nodiscard]] Replaced replace(std::string_view text) const;
  [[nodiscard]] std::size_t plain_end(std::string_view text, std::size_t begin) const;

  /// Bytes of the character at a place if it stays as it is; else 0.
  [[nodiscard]] std::size_t unchanged_bytes(std::string_view text, std::size_t at) const {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (changes_[byte] == Change::none) return 1;
    if (changes_[byte] == Change::before_ascii &&
        (at + 1 == text.size() || static_cast<unsigned char>(text[at + 1]) < 0x80)) {
      return 1;
    }
    return unchanged_character(text.substr(at));
  }
  [[nodiscard]] std::size_t unchanged_character(std::string_view text) const;

  /// Takes the parts of a word, which begins with a space, up to its last part or to the part in
  /// which a character changes. `begin` becomes the beginning of that part.
  /// @return  the end of the word, or the place of that character.
  template <class Take>
  std::size_t end_of_plain(std::string_view text, std::size_t& begin, const JoinFilter& filter,
                           const Take& take) const {
    std::size_t at = begin + 1;
    std::string_view left = text.substr(begin, 1);
    while (at != text.size() && text[at] != ' ') {
      const std::size_t size = unchanged_bytes(text, at);
      if (size == 0) break;
      const std::string_view right(text.data() + at, size);
      if (!filter.may_join(left, right)) {
        take(text.substr(begin, at - begin));
        begin = at;
      }
      left = right;
      at += size;
    }
    return at;
  }

  /// Puts the normalized form of the rest of a word into `result`, from its part at `begin` on,
  /// until there is more than `max_bytes` of it.
  /// @return  the end of the word.
  std::size_t normalize_word(std::string_view text, std::size_t begin, std::size_t max_bytes,
                             std::string& result) const;

  const VocabularyData& data_;
  Charsmap charsmap_;
  Trie user_defined_;
  std::array<Change, 256> changes_ = {};
  bool can_find_parts_ = false;
};

}  // namespace ingot::tokenizer
