// SPDX-License-Identifier: MIT
// The expressions that split texts, as trees. They are constants of splits.def, never input.
//
// Known are: literals, \r \n \t and escaped punctuation, \x{H}; sets [...] and [^...] of those and
// of ranges; \s \S; \p{L}, \p{M}, \p{N}, \p{P}, \p{S}; groups (...), (?:...) and (?i:...), which
// folds ASCII only; (?=X) and (?!X) where X is one set; ? * + {n} {n,m}, all greedy; |. As with
// Perl, the first alternative that matches wins, not the longest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ingot/error.hpp"
#include "tokenizer/unicode/unicode.hpp"

namespace ingot::tokenizer {

/// A set of code points: those of some character classes and of some ranges, or all others.
struct CodePointSet {
  struct Range {
    char32_t first = 0;
    char32_t last = 0;
    bool operator==(const Range&) const = default;
  };
  std::uint16_t classes = 0;  ///< One bit for each value of CharacterClass::bits.
  std::vector<Range> ranges;
  bool is_negated = false;

  bool operator==(const CodePointSet&) const = default;
  [[nodiscard]] bool contains(char32_t code_point) const noexcept;
};

struct ExpressionNode {
  enum class Kind : std::uint8_t { set, look, sequence, choice, repetition };
  static constexpr std::size_t no_limit = ~std::size_t{0};

  Kind kind = Kind::sequence;
  std::size_t set = 0;                   ///< set, look: index into the list of sets
  bool is_negated = false;               ///< look
  std::size_t least = 0;                 ///< repetition
  std::size_t most = no_limit;           ///< repetition
  std::vector<ExpressionNode> children;  ///< sequence, choice: any number; repetition: one
};

/// Parses an expression; adds its sets to `sets` unless they are there. Errc::internal if it is not
/// in the syntax above.
[[nodiscard]] Result<ExpressionNode> parse_expression(std::string_view expression,
                                                      std::vector<CodePointSet>& sets);

}  // namespace ingot::tokenizer
