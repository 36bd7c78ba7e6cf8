// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <utility>

#include "architectures/row_expression.hpp"

namespace ingot::architectures {
namespace {

using Op = Expression::Op;
using Parsed = tl::expected<Expression, std::string>;

struct Operator {
  std::string_view sign;
  Op op;
};
// From loose to tight; `not` is between `and` and the comparisons.
constexpr std::array<Operator, 1> disjunctions = {{{"or", Op::logical_or}}};
constexpr std::array<Operator, 1> conjunctions = {{{"and", Op::logical_and}}};
constexpr std::array<Operator, 6> comparisons = {{{"==", Op::equal},
                                                  {"!=", Op::unequal},
                                                  {"<=", Op::less_equal},
                                                  {">=", Op::greater_equal},
                                                  {"<", Op::less},
                                                  {">", Op::greater}}};
constexpr std::array<Operator, 1> alternatives = {{{"??", Op::otherwise}}};
constexpr std::array<Operator, 2> sums = {{{"+", Op::add}, {"-", Op::subtract}}};
constexpr std::array<Operator, 3> products = {
    {{"*", Op::multiply}, {"/", Op::divide}, {"%", Op::remainder}}};

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.';
}

class Parser {
 public:
  explicit Parser(std::string_view& text) : text_(text) {}

  Parsed expression(int level = 0) {
    if (++depth_ > most_depth) return wrong("the expression is too deep");
    Parsed result = at_level(level);
    --depth_;
    return result;
  }

 private:
  static tl::unexpected<std::string> wrong(std::string sentence) {
    return tl::unexpected(std::move(sentence));
  }

  Parsed at_level(int level) {
    switch (level) {
      case 0:
        return chain(disjunctions, 1);
      case 1:
        return chain(conjunctions, 2);
      case 2:
        return negation();
      case 3:
        return chain(comparisons, 4);
      case 4:
        return chain(alternatives, 5);
      case 5:
        return chain(sums, 6);
      case 6:
        return chain(products, 7);
      default:
        return primary();
    }
  }

  template <std::size_t n>
  Parsed chain(const std::array<Operator, n>& operators, int tighter) {
    Parsed left = expression(tighter);
    while (left) {
      const auto found =
          std::ranges::find_if(operators, [&](const Operator& each) { return take(each.sign); });
      if (found == operators.end()) break;
      if (peek() == '"') {
        if (left->op != Op::name || found->op != Op::equal) {
          return wrong("a text goes with KEY == only");
        }
        left = one_of_texts(left->text);
        continue;
      }
      Parsed right = expression(tighter);
      if (!right) return right;
      Expression both{.op = found->op};
      both.parts.push_back(std::move(*left));
      both.parts.push_back(std::move(*right));
      left = std::move(both);
    }
    return left;
  }

  /// "a" | "b": the key `name` has one of these texts.
  Parsed one_of_texts(const std::string& name) {
    Expression any{.op = Op::logical_or};
    do {
      if (peek() != '"') return wrong("a text is missing");
      const std::size_t end = text_.find('"', 1);
      if (end == text_.npos) return wrong("a text does not end");
      Expression is{.op = Op::is_text, .text = name};
      is.literal = text_.substr(1, end - 1);
      any.parts.push_back(std::move(is));
      text_.remove_prefix(end + 1);
    } while (take("|"));
    if (any.parts.size() == 1) return Expression(any.parts[0]);
    return any;
  }

  Parsed negation() {
    if (!take("not")) return expression(3);
    Parsed part = expression(2);
    if (!part) return part;
    Expression result{.op = Op::logical_not};
    result.parts.push_back(std::move(*part));
    return result;
  }

  Parsed primary() {
    const char next = peek();
    if (take("(")) {
      Parsed inner = expression();
      if (inner && !take(")")) return wrong("a \")\" is missing");
      return inner;
    }
    if (next >= '0' && next <= '9') return number();
    const std::string name(word());
    if (name.empty()) return wrong("an expression is missing");
    if (name == "i") return Expression{.op = Op::layer};
    if (name == "vocab") return Expression{.op = Op::vocabulary};
    if (take("(")) return call(name);
    Expression result{.op = Op::name, .text = name};
    if (!take("[")) return result;
    Parsed index = expression();
    if (!index) return index;
    if (!take("]")) return wrong("a \"]\" is missing");
    result.op = Op::element;
    result.parts.push_back(std::move(*index));
    return result;
  }

  Parsed number() {
    std::int64_t value = 0;
    while (!text_.empty() && text_[0] >= '0' && text_[0] <= '9') {
      if (value > 1'000'000'000'000) return wrong("a number is too large");
      value = value * 10 + (text_[0] - '0');
      text_.remove_prefix(1);
    }
    if (!text_.empty() && is_word(text_[0])) return wrong("a number ends with a letter");
    return Expression{.op = Op::number, .number = value};
  }

  Parsed call(const std::string& name) {
    if (name == "min" || name == "max") {
      Expression result{.op = name == "min" ? Op::least : Op::greatest};
      Parsed first = expression();
      if (!first) return first;
      if (!take(",")) return wrong("a \",\" is missing");
      Parsed second = expression();
      if (!second) return second;
      if (!take(")")) return wrong("a \")\" is missing");
      result.parts.push_back(std::move(*first));
      result.parts.push_back(std::move(*second));
      return result;
    }
    Expression result;
    if (name == "has")
      result.op = Op::has_tensor;
    else if (name == "size")
      result.op = Op::size;
    else if (name == "described")
      result.op = Op::is_variant;
    else if (name == "given")
      result.op = Op::given;
    else if (name == "array")
      result.op = Op::is_array;
    else if (name == "length")
      result.op = Op::array_size;
    else
      return wrong("there is no function \"" + name + "\"");
    const std::size_t end = text_.find(')');
    if (end == text_.npos) return wrong("a \")\" is missing");
    std::string_view argument = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    if (argument.starts_with("whole ")) {
      result.is_of_model = true;
      argument.remove_prefix(6);
    }
    if (result.op == Op::size) {
      if (argument.size() < 4 || argument[argument.size() - 3] != ',' || argument.back() < '0' ||
          argument.back() > '3') {
        return wrong("size(TENSOR, DIMENSION) wants a dimension of 0 to 3");
      }
      result.number = argument.back() - '0';
      argument.remove_suffix(3);
    }
    if (argument.empty() || !std::ranges::all_of(argument, [](char c) {
          return is_word(c) || c == '-' || c == '{' || c == '}';
        })) {
      return wrong("a name is missing in " + name + "()");
    }
    result.text = argument;
    return result;
  }

  char peek() {
    while (!text_.empty() && text_[0] == ' ') text_.remove_prefix(1);
    return text_.empty() ? '\0' : text_[0];
  }
  bool take(std::string_view sign) {
    peek();
    if (!text_.starts_with(sign)) return false;
    if (is_word(sign[0]) && text_.size() > sign.size() && is_word(text_[sign.size()])) return false;
    text_.remove_prefix(sign.size());
    return true;
  }
  std::string_view word() {
    peek();
    const auto end = std::ranges::find_if_not(text_, is_word);
    const auto size = static_cast<std::size_t>(end - text_.begin());
    const std::string_view result = text_.substr(0, size);
    text_.remove_prefix(size);
    return result;
  }

  std::string_view& text_;
  int depth_ = 0;
};

}  // namespace

Parsed take_expression(std::string_view& text) { return Parser(text).expression(); }

}  // namespace ingot::architectures
