// SPDX-License-Identifier: MIT
// Finds matches of an expression in one pass, without going back: a table of states and classes of
// characters, built once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ingot/error.hpp"
#include "tokenizer/pre_tokenize/expression.hpp"
#include "tokenizer/unicode/code_point_map.hpp"
#include "tokenizer/unicode/lenient_utf8.hpp"

namespace ingot::tokenizer {

/// Numbers code points such that those with one number are in the same sets.
class SetClasses {
 public:
  explicit SetClasses(std::span<const CodePointSet> sets);

  /// The class of the character at `text`, and its size. The text is clean UTF-8.
  [[nodiscard]] std::uint8_t classify(const char* text, std::size_t& size_bytes) const noexcept {
    const auto lead = static_cast<unsigned char>(*text);
    size_bytes = 1;
    if (lead < ascii_.size()) return ascii_[lead];
    const LenientCharacter character = decode_clean(text);
    size_bytes = character.size_bytes;
    return map_[character.code_point];
  }
  [[nodiscard]] std::uint8_t of(char32_t code_point) const noexcept { return map_[code_point]; }
  [[nodiscard]] std::size_t count() const noexcept { return members_.size(); }
  /// Whether the code points of a class are in a set.
  [[nodiscard]] bool is_in(std::size_t set, std::size_t set_class) const {
    return members_[set_class][set];
  }

 private:
  [[nodiscard]] std::vector<CodePointRun> make_runs(std::span<const CodePointSet> sets);

  std::vector<std::vector<bool>> members_;  // membership by class, then by set
  CodePointMap map_;
  std::array<std::uint8_t, 128> ascii_ = {};
};

/// One expression over the classes of a list of expressions.
class Automaton {
 public:
  /// Fails with Errc::internal if the table would be larger than its numbers allow.
  [[nodiscard]] static Result<Automaton> make(const ExpressionNode& expression,
                                              const SetClasses& classes);

  /// The end of the match that begins at `begin`; `begin` if there is none or it is empty.
  [[nodiscard]] const char* match(const char* begin, const char* end,
                                  const SetClasses& classes) const noexcept {
    const char* best = begin;
    std::size_t row = first_row_;
    for (const char* next = begin; next != end;) {
      std::size_t size_bytes = 0;
      const std::uint16_t step = table_[row + classes.classify(next, size_bytes)];
      if ((step & match_flag) != 0) best = next;
      row = step & ~match_flag;
      if (row == dead_row) return best;
      next += size_bytes;
    }
    return (table_[row + classes.count()] & match_flag) != 0 ? end : best;
  }

  /// The facts about a place between characters of two classes, for all other text.
  enum class Place : std::uint8_t {
    open,   ///< A match may span the place, or depend on later text.
    apart,  ///< Matches before and after do not depend on one another.
    cut     ///< No match spans the place, and a match always ends there.
  };
  [[nodiscard]] Place place_between(std::uint8_t left, std::uint8_t right,
                                    const SetClasses& classes) const noexcept {
    return places_[left * classes.count() + right];
  }

 private:
  friend class AutomatonBuilder;

  // A row has one step for each class and one for the end of the text. A step is the next row; its
  // flag says that the expression matches the text before this character.
  static constexpr std::uint16_t match_flag = 0x8000;
  static constexpr std::size_t dead_row = 0;
  std::size_t first_row_ = 0;
  std::vector<std::uint16_t> table_;
  std::vector<Place> places_;  // places by class of the left character, then of the right one

  void find_places(std::size_t class_count);
};

}  // namespace ingot::tokenizer
