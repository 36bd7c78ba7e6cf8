// SPDX-License-Identifier: MIT
// Splits a text by a list of expressions, each applied to every piece that the one before has left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ingot/error.hpp"
#include "tokenizer/pre_tokenize/automaton.hpp"
#include "tokenizer/pre_tokenize/pre_tokenizer.hpp"

namespace ingot::tokenizer {

class Splitter {
 public:
  /// Fails with Errc::internal if an expression is not in the syntax of expression.hpp.
  [[nodiscard]] static Result<Splitter> make(std::span<const std::string_view> expressions);

  /// The splitter of a pre-tokenizer. Its expressions are constants, so it is made once in a
  /// process, when it is first needed.
  [[nodiscard]] static Result<Splitter> of(const PreTokenizer& pre_tokenizer);

  /// Calls `take(piece)` for every piece of `text`, which is clean UTF-8, from front to back. The
  /// matches of an expression are pieces, and so are the gaps between them. Linear; the depth of
  /// the recursion is the number of expressions.
  template <class Take>
  void split(std::string_view text, Take&& take) const {
    split(0, text.data(), text.data() + text.size(), take);
  }

  /// Whether a text can be cut between two characters, whatever is before and after them: its
  /// pieces are those of both parts.
  [[nodiscard]] bool is_cut(char32_t left, char32_t right) const;

 private:
  /// The way in which one expression finds its matches. Expressions that look ahead without a limit
  /// are written by hand, and so is one that would start again at every space.
  enum class Search : std::uint8_t {
    automaton,
#define INGOT_SPLIT(name, ...)
#define INGOT_SEARCH(name, expression) name,
#include "tokenizer/pre_tokenize/splits.def"
#undef INGOT_SPLIT
#undef INGOT_SEARCH
  };
  struct Step {
    Search search = Search::automaton;
    Automaton automaton;
  };

  template <class Take>
  void split(std::size_t step, const char* begin, const char* end, Take& take) const {
    switch (steps_[step].search) {
      case Search::automaton:
        return split_by_automaton(step, begin, end, take);
      case Search::digit_groups:
        return split_digit_groups(step, begin, end, take);
      case Search::threes:
        return split_threes(step, begin, end, take);
      case Search::last_space:
        return split_last_space(step, begin, end, take);
    }
  }

  [[nodiscard]] Automaton::Place place_between(const Step& step, char32_t left,
                                               char32_t right) const;

  /// Hands a piece to the next expression.
  template <class Take>
  void pass(std::size_t step, const char* begin, const char* end, Take& take) const {
    if (begin == end) return;
    if (step + 1 == steps_.size()) {
      take(std::string_view(begin, static_cast<std::size_t>(end - begin)));
    } else {
      split(step + 1, begin, end, take);
    }
  }

  template <class Take>
  void split_by_automaton(std::size_t step, const char* begin, const char* end, Take& take) const {
    const Automaton& automaton = steps_[step].automaton;
    const char* gap = begin;
    for (const char* next = begin; next != end;) {
      const char* match_end = automaton.match(next, end, *classes_);
      if (match_end == next) {
        next += decode_clean(next).size_bytes;
        continue;
      }
      pass(step, gap, next, take);
      pass(step, next, match_end, take);
      gap = next = match_end;
    }
    pass(step, gap, end, take);
  }

  /// The digits of a number in groups of three, counted from its end; the first group, of one to
  /// three, together with the text before it.
  template <class Take>
  void split_digit_groups(std::size_t step, const char* begin, const char* end, Take& take) const {
    while (begin != end) {
      const char* digits = find_number(begin, end);
      std::size_t digit_count = 0;
      for (const char* next = digits; next != end && is_number(next); next = after(next)) {
        ++digit_count;
      }
      const char* piece_end = digits;
      for (std::size_t left = digit_count; left != 0;) {
        const std::size_t group = (left - 1) % 3 + 1;
        for (std::size_t i = 0; i < group; ++i) piece_end = after(piece_end);
        pass(step, begin, piece_end, take);
        begin = piece_end;
        left -= group;
      }
      if (digit_count == 0) {
        pass(step, begin, end, take);
        begin = end;
      }
    }
  }

  /// Cuts before every group of three ASCII digits, counted from the end of a run of them.
  template <class Take>
  void split_threes(std::size_t step, const char* begin, const char* end, Take& take) const {
    const char* piece = begin;
    for (const char* next = begin; next != end;) {
      const char* run = next;
      while (next != end && is_digit(static_cast<unsigned char>(*next))) ++next;
      for (const char* cut = run + (next - run) % 3; cut != next; cut += 3) {
        pass(step, piece, cut, take);
        piece = cut;
      }
      if (next != end) ++next;
    }
    pass(step, piece, end, take);
  }

  template <class Take>
  void split_last_space(std::size_t step, const char* begin, const char* end, Take& take) const {
    const char* space = last_space(begin, end);
    pass(step, begin, space, take);
    pass(step, space, end, take);
  }

  [[nodiscard]] static const char* after(const char* text) noexcept {
    return text + decode_clean(text).size_bytes;
  }
  [[nodiscard]] static bool is_number(char32_t code_point) {
    return class_of(code_point).group() == Group::number;
  }
  [[nodiscard]] static bool is_number(const char* text) {
    return is_number(decode_clean(text).code_point);
  }
  [[nodiscard]] static constexpr bool is_digit(char32_t code_point) noexcept {
    return code_point >= '0' && code_point <= '9';
  }
  [[nodiscard]] static const char* find_number(const char* begin, const char* end) {
    while (begin != end && !is_number(begin)) begin = after(begin);
    return begin;
  }
  /// The beginning of the white space at the end.
  [[nodiscard]] static const char* last_space(const char* begin, const char* end);

  std::shared_ptr<const SetClasses> classes_;
  std::vector<Step> steps_;
};

}  // namespace ingot::tokenizer
