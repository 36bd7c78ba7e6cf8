// SPDX-License-Identifier: MIT
// Finds special tokens in a text.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "tokenizer/vocabulary/prefix_table.hpp"
#include "tokenizer/vocabulary/vocabulary_data.hpp"

namespace ingot::tokenizer {

/// A part of a text: a special token, or text between two.
struct TextPart {
  TokenId id = no_token;  ///< no_token: text
  std::size_t begin = 0;
  std::size_t end = 0;
};

class SpecialFinder {
 public:
  /// `data` must outlive the finder.
  explicit SpecialFinder(const VocabularyData& data);

  /// Cuts a text. Longer tokens come first, among equally long ones the lower id, and of each its
  /// occurrences from left to right: a long token wins over a short one that begins before it.
  /// White space that a token strips is in no part; there are no empty parts. Control tokens are
  /// found only if they are asked for, and not in the plain ranges (ascending, apart).
  [[nodiscard]] std::vector<TextPart> split(std::string_view text, bool parse_special,
                                            std::span<const ByteRange> plain_ranges = {}) const;

  /// The places of a text, but for the last `open_bytes()`, at which it can be cut: no special
  /// token lies across or ends there, and no white space that one strips.
  [[nodiscard]] std::vector<bool> find_cuts(std::string_view text, bool parse_special) const;
  /// Bytes at the end of a text that is not complete, which may be parts of special tokens.
  [[nodiscard]] std::size_t open_bytes(bool parse_special) const noexcept {
    return parse_special ? max_bytes_ : max_shown_bytes_;
  }

 private:
  class Search;
  const VocabularyData& data_;
  PrefixTable always_;      // user-defined tokens
  PrefixTable on_request_;  // control tokens and unknown ones, too
  std::size_t max_shown_bytes_ = 0;
  std::size_t max_bytes_ = 0;
};

}  // namespace ingot::tokenizer
