// SPDX-License-Identifier: MIT
#include "quantization/name_expression.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/ascii.hpp"

namespace ingot::quantization {
namespace {

constexpr std::size_t max_steps = 10'000;
constexpr std::size_t max_depth = 64;
constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

using CharacterSet = std::bitset<256>;

bool is_alphanumeric(char c) { return is_letter(c) || is_digit(c); }
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_printed(char c) { return c > ' ' && c <= '~'; }

struct NamedSet {
  std::string_view name;
  bool (*contains)(char);
};
/// The names of [[:name:]].
constexpr NamedSet named_sets[] = {
    {"alnum", is_alphanumeric},
    {"alpha", [](char c) { return is_letter(c); }},
    {"blank", [](char c) { return c == ' ' || c == '\t'; }},
    {"cntrl", [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7F'; }},
    {"digit", [](char c) { return is_digit(c); }},
    {"graph", is_printed},
    {"lower", [](char c) { return is_lower(c); }},
    {"print", [](char c) { return c >= ' ' && c <= '~'; }},
    {"punct", [](char c) { return is_printed(c) && !is_alphanumeric(c); }},
    {"space", is_space},
    {"upper", [](char c) { return is_upper(c); }},
    {"xdigit",
     [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }},
};

CharacterSet set_of(bool (*contains)(char)) {
  CharacterSet set;
  for (std::size_t i = 0; i < set.size(); ++i) set[i] = contains(static_cast<char>(i));
  return set;
}

/// The set of \d, \s, \w and of their upper-case opposites; nothing for other letters.
std::optional<CharacterSet> set_of_letter(char letter) {
  bool (*contains)(char) = nullptr;
  switch (lower_case(letter)) {
    case 'd':
      contains = [](char c) { return is_digit(c); };
      break;
    case 's':
      contains = is_space;
      break;
    case 'w':
      contains = is_word_character;
      break;
    default:
      return std::nullopt;
  }
  return is_upper(letter) ? ~set_of(contains) : set_of(contains);
}

}  // namespace

/// Parses an expression by recursive descent; each function appends the steps of its part.
class NameExpressionParser {
 public:
  explicit NameExpressionParser(std::string_view expression)
      : expression_(expression), rest_(expression) {}

  Result<NameExpression> parse() {
    parse_choice(0);
    if (problem_.empty() && !rest_.empty()) problem_ = "a ) without a (";
    add({.kind = Kind::match});
    if (problem_.empty()) return std::move(made_);
    return fail(Errc::invalid_argument, std::string(expression_),
                "not a regular expression: " + problem_);
  }

 private:
  using Step = NameExpression::Step;
  using Kind = Step::Kind;

  std::vector<Step>& steps() { return made_.steps_; }
  void refuse(std::string_view problem) {
    if (problem_.empty()) problem_ = problem;
    rest_ = {};
  }
  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  char take_one() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  void add(Step step) {
    if (steps().size() >= max_steps) return refuse("it is too large");
    steps().push_back(step);
  }
  void add_set(const CharacterSet& set) {
    const auto known = std::ranges::find(made_.sets_, set);
    const auto index = static_cast<std::uint32_t>(known - made_.sets_.begin());
    if (known == made_.sets_.end()) made_.sets_.push_back(set);
    add({.kind = Kind::set, .index = index});
  }
  void add_copy(const std::vector<Step>& part) {
    for (const Step& step : part) add(step);
  }
  [[nodiscard]] static std::int32_t distance_over(std::size_t step_count) {
    return static_cast<std::int32_t>(step_count);
  }
  /// Takes the steps from `first` on away.
  std::vector<Step> cut(std::size_t first) {
    const auto begin = steps().begin() + static_cast<std::ptrdiff_t>(first);
    std::vector<Step> part(begin, steps().end());
    steps().erase(begin, steps().end());
    return part;
  }

  void parse_choice(std::size_t depth) {
    if (depth > max_depth) return refuse("it is nested too deep");
    const std::size_t first = steps().size();
    parse_sequence(depth);
    if (!take("|")) return;
    const std::vector<Step> left = cut(first);
    add({.kind = Kind::fork, .distance = distance_over(left.size() + 2)});
    add_copy(left);
    const std::size_t jump = steps().size();
    add({.kind = Kind::jump});
    parse_choice(depth + 1);
    if (problem_.empty()) steps()[jump].distance = distance_over(steps().size() - jump);
  }

  void parse_sequence(std::size_t depth) {
    while (!rest_.empty() && rest_.front() != '|' && rest_.front() != ')') parse_term(depth);
  }

  void parse_term(std::size_t depth) {
    if (take("^")) return add({.kind = Kind::start});
    if (take("$")) return add({.kind = Kind::end});
    if (take("\\b")) return add({.kind = Kind::word_border});
    if (take("\\B")) return add({.kind = Kind::word_border, .is_negated = true});
    const bool is_negated = rest_.starts_with("(?!");
    if (take("(?=") || take("(?!")) return parse_look_ahead(is_negated, depth);
    const std::size_t first = steps().size();
    parse_atom(depth);
    parse_repetition(first);
  }

  void parse_look_ahead(bool is_negated, std::size_t depth) {
    const std::size_t look = steps().size();
    add({.kind = Kind::look_ahead, .is_negated = is_negated, .index = made_.look_count_++});
    parse_group(depth);
    add({.kind = Kind::match});
    if (problem_.empty()) steps()[look].distance = distance_over(steps().size() - look);
  }

  /// Parses the text after a "(".
  void parse_group(std::size_t depth) {
    parse_choice(depth + 1);
    if (problem_.empty() && !take(")")) refuse("a ( without a )");
  }

  void parse_atom(std::size_t depth) {
    const char c = take_one();
    switch (c) {
      case '(':
        take("?:");
        if (rest_.starts_with("?")) return refuse("an unknown kind of group");
        return parse_group(depth);
      case '[':
        return parse_set();
      case '.':
        return add_set(set_of([](char one) { return one != '\n' && one != '\r'; }));
      case '\\':
        return parse_escape();
      case '*':
      case '+':
      case '?':
      case '{':
        return refuse("nothing to repeat");
      default:
        return add_set(CharacterSet().set(byte_of(c)));
    }
  }

  void parse_escape() {
    if (rest_.empty()) return refuse("a \\ at the end");
    if (const auto set = set_of_letter(rest_.front())) {
      take_one();
      return add_set(*set);
    }
    if (rest_.front() >= '1' && rest_.front() <= '9') return refuse("a back reference");
    if (const auto c = take_escaped()) add_set(CharacterSet().set(byte_of(*c)));
  }

  /// The character that an escape stands for, without its backslash.
  std::optional<char> take_escaped() {
    const char c = take_one();
    constexpr std::string_view letters = "tnrfv0b";
    constexpr std::string_view meanings("\t\n\r\f\v\0\b", 7);
    if (const std::size_t known = letters.find(c); known != letters.npos) return meanings[known];
    if (c == 'x' || c == 'u') return take_hexadecimal(c == 'x' ? 2 : 4);
    if (!is_alphanumeric(c)) return c;
    refuse("an unknown escape");
    return std::nullopt;
  }

  std::optional<char> take_hexadecimal(std::size_t digit_count) {
    std::size_t number = 0;
    for (std::size_t i = 0; i < digit_count; ++i) {
      constexpr std::string_view digits = "0123456789abcdef";
      const std::size_t digit =
          rest_.empty() ? digits.npos : digits.find(lower_case(rest_.front()));
      if (digit == digits.npos) {
        refuse("an escape lacks digits");
        return std::nullopt;
      }
      number = number * 16 + digit;
      take_one();
    }
    if (number > 0xFF) {
      refuse("an escape beyond bytes");
      return std::nullopt;
    }
    return static_cast<char>(number);
  }

  /// Parses the text after a "[".
  void parse_set() {
    CharacterSet set;
    const bool is_negated = take("^");
    while (!rest_.empty() && rest_.front() != ']') {
      const std::optional<char> first = parse_set_member(set);
      if (!first || rest_.size() < 2 || rest_.front() != '-' || rest_[1] == ']') continue;
      take_one();
      const std::optional<char> last = parse_set_member(set);
      if (!last || byte_of(*last) < byte_of(*first)) return refuse("a range without order");
      for (std::size_t i = byte_of(*first); i <= byte_of(*last); ++i) set.set(i);
    }
    if (!take("]")) return refuse("a [ without a ]");
    add_set(is_negated ? ~set : set);
  }

  /// Adds a character, which it returns, or a set.
  std::optional<char> parse_set_member(CharacterSet& set) {
    for (const auto& [name, contains] : named_sets) {
      if (!take("[:" + std::string(name) + ":]")) continue;
      set |= set_of(contains);
      return std::nullopt;
    }
    if (rest_.starts_with("[:") || rest_.starts_with("[.") || rest_.starts_with("[=")) {
      refuse("an unknown set of characters");
      return std::nullopt;
    }
    char c = take_one();
    if (c == '\\') {
      if (rest_.empty()) return std::nullopt;
      if (const auto known = set_of_letter(rest_.front())) {
        take_one();
        set |= *known;
        return std::nullopt;
      }
      const auto escaped = take_escaped();
      if (!escaped) return std::nullopt;
      c = *escaped;
    }
    set.set(byte_of(c));
    return c;
  }

  void parse_repetition(std::size_t first) {
    std::size_t least = 0;
    std::size_t most = no_limit;
    if (take("+")) {
      least = 1;
    } else if (take("?")) {
      most = 1;
    } else if (take("{")) {
      least = take_count();
      most = take(",") ? (rest_.starts_with("}") ? no_limit : take_count()) : least;
      if (!take("}") || most < least) return refuse("a repetition that is none");
    } else if (!take("*")) {
      return;
    }
    take("?");  // a lazy repetition finds the same names
    repeat(cut(first), least, most);
    if (!rest_.empty() && std::string_view("*+?{").find(rest_.front()) != std::string_view::npos) {
      refuse("a repetition of a repetition");
    }
  }

  std::size_t take_count() {
    std::size_t number = 0;
    if (rest_.empty() || !is_digit(rest_.front())) refuse("a repetition that is none");
    while (!rest_.empty() && is_digit(rest_.front())) {
      number = std::min(number * 10 + byte_of(take_one()) - byte_of('0'), max_steps);
    }
    return number;
  }

  void repeat(const std::vector<Step>& part, std::size_t least, std::size_t most) {
    for (std::size_t i = 0; i < least && problem_.empty(); ++i) add_copy(part);
    if (most == no_limit) {
      add({.kind = Kind::fork, .distance = distance_over(part.size() + 2)});
      add_copy(part);
      return add({.kind = Kind::jump, .distance = -distance_over(part.size() + 1)});
    }
    for (std::size_t i = least; i < most && problem_.empty(); ++i) {
      const std::size_t left = most - i;
      add({.kind = Kind::fork, .distance = distance_over(left * (part.size() + 1))});
      add_copy(part);
    }
  }

  NameExpression made_;
  std::string_view expression_;
  std::string_view rest_;
  std::string problem_;
};

Result<NameExpression> NameExpression::compile(std::string_view expression) {
  return NameExpressionParser(expression).parse();
}

}  // namespace ingot::quantization
