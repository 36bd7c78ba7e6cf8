// SPDX-License-Identifier: MIT
#include "tokenizer/pre_tokenize/expression.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/ascii.hpp"

namespace ingot::tokenizer {
namespace {

using Kind = ExpressionNode::Kind;

constexpr std::uint16_t all_classes = 0xFFFF;
constexpr std::uint16_t white_space_classes = 0xFF00;  // the classes with white_space_bit

std::uint16_t classes_of(Group group) noexcept {
  const auto bit = static_cast<unsigned>(group);
  // The class with white space and the one without.
  return static_cast<std::uint16_t>(0x0101u << bit);
}

class Parser {
 public:
  Parser(std::string_view expression, std::vector<CodePointSet>& sets)
      : rest_(expression), sets_(sets) {}

  Result<ExpressionNode> parse() {
    ExpressionNode node = parse_choice();
    if (!is_wrong_ && rest_.empty()) return node;
    return fail(Errc::internal, std::string(rest_), "an expression that cannot be parsed");
  }

 private:
  [[nodiscard]] bool skip(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  void expect(std::string_view text) {
    if (!skip(text)) is_wrong_ = true;
  }
  char next() {
    if (rest_.empty()) {
      is_wrong_ = true;
      return '\0';
    }
    const char character = rest_.front();
    rest_.remove_prefix(1);
    return character;
  }
  std::size_t number(int base) {
    std::size_t value = 0;
    const std::size_t digits = std::min(rest_.find_first_of(",}"), rest_.size());
    for (const char digit : rest_.substr(0, digits)) {
      value = value * static_cast<std::size_t>(base) +
              static_cast<std::size_t>(digit <= '9' ? digit - '0' : digit - 'A' + 10);
    }
    rest_.remove_prefix(digits);
    return value;
  }

  ExpressionNode parse_choice() {
    ExpressionNode choice{.kind = Kind::choice, .children = {}};
    do {
      choice.children.push_back(parse_sequence());
    } while (skip("|"));
    return choice.children.size() == 1 ? std::move(choice.children.front()) : choice;
  }

  ExpressionNode parse_sequence() {
    ExpressionNode sequence{.kind = Kind::sequence, .children = {}};
    while (!is_wrong_ && !rest_.empty() && rest_.front() != '|' && rest_.front() != ')') {
      sequence.children.push_back(parse_repetition());
    }
    return sequence;
  }

  ExpressionNode parse_repetition() {
    ExpressionNode atom = parse_atom();
    ExpressionNode node{.kind = Kind::repetition, .children = {}};
    if (skip("?")) {
      node.most = 1;
    } else if (skip("+")) {
      node.least = 1;
    } else if (skip("{")) {
      node.least = node.most = number(10);
      if (skip(",")) node.most = number(10);
      expect("}");
    } else if (!skip("*")) {
      return atom;
    }
    node.children.push_back(std::move(atom));
    return node;
  }

  ExpressionNode parse_atom() {
    if (skip("(?=")) return parse_look(false);
    if (skip("(?!")) return parse_look(true);
    if (skip("(?i:")) {
      folds_case_ = true;
      ExpressionNode node = parse_group();
      folds_case_ = false;
      return node;
    }
    if (skip("(?:") || skip("(")) return parse_group();
    return parse_set();
  }

  ExpressionNode parse_group() {
    ExpressionNode node = parse_choice();
    expect(")");
    return node;
  }

  ExpressionNode parse_look(bool is_negated) {
    ExpressionNode node = parse_set();
    node.kind = Kind::look;
    node.is_negated = is_negated;
    expect(")");
    return node;
  }

  ExpressionNode parse_set() {
    CodePointSet set;
    if (skip("[")) {
      set.is_negated = skip("^");
      while (!is_wrong_ && !skip("]")) parse_member(set, true);
    } else {
      parse_member(set, false);
    }
    const auto place = std::ranges::find(sets_, set);
    const auto index = static_cast<std::size_t>(place - sets_.begin());
    if (place == sets_.end()) sets_.push_back(std::move(set));
    return {.kind = Kind::set, .set = index, .children = {}};
  }

  /// A class, a character, or (where `in_brackets`) a range of characters.
  void parse_member(CodePointSet& set, bool in_brackets) {
    if (skip("\\s")) {
      set.classes |= white_space_classes;
    } else if (skip("\\S")) {
      set.classes |= all_classes & ~white_space_classes;
    } else if (skip("\\p{")) {
      constexpr std::string_view letters = "UCLMNPSZ";  // letters in the order of Group
      const std::size_t group = letters.find(next());
      expect("}");
      if (group >= letters.size()) {
        is_wrong_ = true;
      } else {
        set.classes |= classes_of(static_cast<Group>(group));
      }
    } else {
      const char32_t first = parse_character();
      const bool is_range = in_brackets && rest_.size() > 1 && rest_[0] == '-' && rest_[1] != ']';
      if (is_range) rest_.remove_prefix(1);
      set.ranges.push_back({first, is_range ? parse_character() : first});
      if (folds_case_ && first < 0x80) add_other_case(set, static_cast<char>(first));
    }
  }

  static void add_other_case(CodePointSet& set, char letter) {
    if (letter < 'a' || letter > 'z') return;
    const auto upper = static_cast<char32_t>(letter - 'a' + 'A');
    set.ranges.push_back({upper, upper});
  }

  char32_t parse_character() {
    if (skip("\\x{")) {
      const auto value = static_cast<char32_t>(number(16));
      expect("}");
      return value;
    }
    if (skip("\\r")) return '\r';
    if (skip("\\n")) return '\n';
    if (skip("\\t")) return '\t';
    const bool is_escaped = skip("\\");
    const char character = next();
    const bool is_plain = character > 0 && (!is_escaped || !is_letter_or_digit(character));
    if (!is_plain) is_wrong_ = true;
    return static_cast<unsigned char>(character);
  }

  std::string_view rest_;
  std::vector<CodePointSet>& sets_;
  bool folds_case_ = false;
  bool is_wrong_ = false;
};

}  // namespace

bool CodePointSet::contains(char32_t code_point) const noexcept {
  const bool is_in = ((classes >> class_of(code_point).bits) & 1u) != 0 ||
                     std::ranges::any_of(ranges, [&](const Range& range) {
                       return range.first <= code_point && code_point <= range.last;
                     });
  return is_in != is_negated;
}

Result<ExpressionNode> parse_expression(std::string_view expression,
                                        std::vector<CodePointSet>& sets) {
  return Parser(expression, sets).parse();
}

}  // namespace ingot::tokenizer
