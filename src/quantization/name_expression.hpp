// SPDX-License-Identifier: MIT
// Regular expressions of users over names of tensors.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/ascii.hpp"
#include "ingot/error.hpp"
#include "ingot/export.h"

namespace ingot::quantization {

[[nodiscard]] inline std::size_t byte_of(char c) noexcept { return static_cast<unsigned char>(c); }
/// A letter, a digit or "_": the set of "\w".
[[nodiscard]] inline bool is_word_character(char c) {
  return is_letter(c) || is_digit(c) || c == '_';
}

/// A regular expression as ECMAScript has it, over bytes, without back references. A search takes
/// time in proportion to the name times the expression, however it is written (Thompson, 1968).
class NameExpression {
 public:
  /// Compiles an expression. Errc::invalid_argument for other texts, and for more than 10,000
  /// steps.
  [[nodiscard]] INGOT_EXPORT static Result<NameExpression> compile(std::string_view expression);

  /// Whether a part of the name matches.
  [[nodiscard]] INGOT_EXPORT bool is_found_in(std::string_view name) const;

 private:
  friend class NameExpressionParser;
  friend class NameSearch;

  /// A step of the automaton. Steps follow one another; distances are relative to the step, so that
  /// a repeated part can be copied.
  struct Step {
    enum class Kind : std::uint8_t {
      set,          ///< takes a character of a set
      fork,         ///< goes on at the next step and at `distance`
      jump,         ///< goes on at `distance`
      start,        ///< matches only at the start of the name
      end,          ///< matches only at the end of the name
      word_border,  ///< matches only at the border of a word
      look_ahead,   ///< matches only where the steps up to `distance` match
      match
    };
    Kind kind = Kind::match;
    bool is_negated = false;  ///< Negates a border or a look ahead.
    std::uint32_t index = 0;  ///< The index of the set or of the look ahead.
    std::int32_t distance = 1;
  };
  using CharacterSet = std::bitset<256>;

  std::vector<Step> steps_;
  std::vector<CharacterSet> sets_;
  std::uint32_t look_count_ = 0;
};

}  // namespace ingot::quantization
