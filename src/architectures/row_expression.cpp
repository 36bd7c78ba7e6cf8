// SPDX-License-Identifier: MIT
#include "architectures/row_expression.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace ingot::architectures {
namespace {

using Op = Expression::Op;
using Parsed = tl::expected<Expression, std::string>;

constexpr int most_depth = 48;

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
      const auto* found =
          std::ranges::find_if(operators, [&](const Operator& each) { return take(each.sign); });
      if (found == operators.end()) break;
      if (peek() == '"') {
        if (left->op != Op::name || found->op != Op::equal) {
          return wrong("a text goes with KEY == only");
        }
        const std::size_t end = text_.find('"', 1);
        if (end == text_.npos) return wrong("a text does not end");
        left = Expression{.op = Op::is_text,
                          .text = left->text,
                          .literal = std::string(text_.substr(1, end - 1))};
        text_.remove_prefix(end + 1);
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

using Number = std::optional<std::int64_t>;

Number compute(Op op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  switch (op) {
    case Op::equal:
      return a == b;
    case Op::unequal:
      return a != b;
    case Op::less:
      return a < b;
    case Op::less_equal:
      return a <= b;
    case Op::greater:
      return a > b;
    case Op::greater_equal:
      return a >= b;
    case Op::add:
      return __builtin_add_overflow(a, b, &result) ? Number() : result;
    case Op::subtract:
      return __builtin_sub_overflow(a, b, &result) ? Number() : result;
    case Op::multiply:
      return __builtin_mul_overflow(a, b, &result) ? Number() : result;
    case Op::least:
      return std::min(a, b);
    case Op::greatest:
      return std::max(a, b);
    default:
      break;
  }
  // The one quotient that is too large is that of the lowest number.
  if (b == 0 || (b == -1 && a == std::numeric_limits<std::int64_t>::min())) return {};
  return op == Op::divide ? a / b : a % b;
}

struct Evaluation {
  const Scope& scope;
  const ArchitectureHeader& header;
  std::optional<std::uint64_t> layer;
  int depth = 0;

  Number of_key(const std::string& key, std::optional<std::uint64_t> element) const {
    return header.number(scope.key_name(key), element);
  }

  Number of(const Expression& expression) {
    if (depth >= most_depth) return {};  // lets that name one another
    ++depth;
    const Number result = of_op(expression);
    --depth;
    return result;
  }

  Number of_op(const Expression& e) {
    switch (e.op) {
      case Op::number:
        return e.number;
      case Op::name: {
        const Expression* meaning = scope.meaning_of(e.text);
        return meaning != nullptr ? of(*meaning) : of_key(e.text, layer);
      }
      case Op::layer:
        return layer ? Number(static_cast<std::int64_t>(*layer)) : Number();
      case Op::vocabulary:
        return header.vocabulary();
      case Op::element: {
        const Number index = of(e.parts[0]);
        if (!index || *index < 0) return {};
        return of_key(e.text, static_cast<std::uint64_t>(*index));
      }
      case Op::is_text: {
        const auto text = header.text(scope.key_name(e.text));
        return text ? Number(*text == e.literal) : Number();
      }
      case Op::has_tensor: {
        if (!e.is_of_model && !layer) return {};
        return header.has_tensor(tensor_name(e.text, !e.is_of_model, layer));
      }
      case Op::given:
        return header.has_key(scope.key_name(e.text));
      case Op::is_array:
        return header.array_size(scope.key_name(e.text)).has_value();
      case Op::array_size: {
        const auto size = header.array_size(scope.key_name(e.text));
        if (!size || *size > std::uint64_t{1} << 40) return {};
        return static_cast<std::int64_t>(*size);
      }
      case Op::logical_or:
      case Op::logical_and: {
        const bool deciding = e.op == Op::logical_or;
        const Number a = of(e.parts[0]);
        if (a && (*a != 0) == deciding) return deciding;
        const Number b = of(e.parts[1]);
        if (b && (*b != 0) == deciding) return deciding;
        return a && b ? Number(!deciding) : Number();
      }
      case Op::logical_not: {
        const Number part = of(e.parts[0]);
        return part ? Number(*part == 0) : Number();
      }
      case Op::otherwise: {
        const Number first = of(e.parts[0]);
        return first ? first : of(e.parts[1]);
      }
      default:
        break;
    }
    const Number a = of(e.parts[0]);
    if (!a) return {};
    const Number b = of(e.parts[1]);
    return b ? compute(e.op, *a, *b) : Number();
  }
};

}  // namespace

Parsed take_expression(std::string_view& text) { return Parser(text).expression(); }

void for_each_name(const Expression& expression,
                   const std::function<void(const Expression&)>& use) {
  if (!expression.text.empty()) use(expression);
  for (const Expression& part : expression.parts) for_each_name(part, use);
}

Number evaluate(const Expression& expression, const Scope& scope, const ArchitectureHeader& header,
                std::optional<std::uint64_t> layer) {
  return Evaluation{scope, header, layer}.of(expression);
}

std::string tensor_name(std::string_view name, bool is_of_layer,
                        std::optional<std::uint64_t> layer) {
  std::string result(name);
  constexpr std::string_view index = "{i}";
  if (is_of_layer && name.find(index) == name.npos) result = "blk.{i}." + result;
  const std::size_t inner =
      name.find(index) == name.npos ? 0 : name.rfind(index) + index.size() + 1;
  if (name.ends_with('.'))
    result.pop_back();
  else if (name.find('.', inner) == name.npos)
    result += ".weight";
  if (layer) {
    for (std::size_t at = result.find(index); at != result.npos; at = result.find(index)) {
      result.replace(at, index.size(), std::to_string(*layer));
    }
  }
  return result;
}

}  // namespace ingot::architectures
