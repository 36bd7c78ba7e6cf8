// SPDX-License-Identifier: MIT
// Parses the expressions of the rules by recursive descent.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "base/ascii.hpp"
#include "base/real_number.hpp"
#include "huggingface/folder/refusal.hpp"
#include "huggingface/rules/rule_expression.hpp"
#include "huggingface/rules/rule_expression_node.hpp"

namespace ingot::huggingface {
namespace {

using nlohmann::json;
using Node = ExpressionNode;

constexpr int max_expression_depth = 40;

bool is_name_start(char c) noexcept { return is_letter(c) || c == '_'; }
bool is_name(char c) noexcept { return is_name_start(c) || is_digit(c) || c == '.'; }

using NamedScope = std::pair<std::string_view, NameScope>;
constexpr std::array name_scopes = {
    NamedScope{"rope", NameScope::rope},
    NamedScope{"rope_root", NameScope::rope_root},
    NamedScope{"rope_swa", NameScope::rope_swa},
    NamedScope{"target", NameScope::target},
    NamedScope{"generation", NameScope::generation},
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), rest_(text) {}

  Result<Node> parse() {
    INGOT_TRY(Node node, conditional());
    skip_blanks();
    if (!rest_.empty()) return error("an operator");
    return node;
  }

 private:
  /// The operators of each level, the weakest first.
  static constexpr std::array<std::array<std::string_view, 4>, 7> levels = {
      {{"or"},
       {"and"},
       {"??"},
       {"==", "!=", "<", "in"},
       {"+", "-"},
       {"//", "*", "/", "%"},
       {"**"}}};

  Failure error(std::string_view expected) const {
    return refuse("rule", "expected " + std::string(expected) + " at `" + std::string(rest_) +
                              "` in `" + std::string(text_) + "`");
  }

  void skip_blanks() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  }

  bool take(std::string_view token) {
    skip_blanks();
    if (token.empty() || !rest_.starts_with(token)) return false;
    const bool is_word = is_name_start(token.front());
    if (is_word && rest_.size() > token.size() && is_name(rest_[token.size()])) return false;
    if (token == "*" && rest_.starts_with("**")) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  Result<Node> conditional() {
    if (++depth_ > max_expression_depth) return error("less nesting");
    INGOT_TRY(Node value, binary(0));
    if (take("if")) {
      INGOT_TRY(Node condition, binary(0));
      if (!take("else")) return error("else");
      INGOT_TRY(Node other, conditional());
      Node node{.kind = Node::Kind::conditional};
      node.operands.push_back(std::move(value));
      node.operands.push_back(std::move(condition));
      node.operands.push_back(std::move(other));
      value = std::move(node);
    }
    --depth_;
    return value;
  }

  Result<Node> binary(std::size_t level) {
    if (level == levels.size()) return primary();
    INGOT_TRY(Node left, binary(level + 1));
    for (int count = 0;; ++count) {
      if (count > max_expression_depth) return error("fewer operators");
      std::string_view found;
      for (const std::string_view name : levels[level]) {
        if (found.empty() && take(name)) found = name;
      }
      if (found.empty()) return left;
      INGOT_TRY(Node right, binary(level + 1));
      if (found == "??") allow_absence(left);
      Node node{.kind = Node::Kind::operation, .text = std::string(found)};
      node.operands.push_back(std::move(left));
      node.operands.push_back(std::move(right));
      left = std::move(node);
    }
  }

  /// The name before a `??` may be absent, in `a ?? b ?? c` also the second one.
  static void allow_absence(Node& node) {
    if (node.kind == Node::Kind::name) node.is_optional = true;
    if (node.kind == Node::Kind::operation && node.text == "??") allow_absence(node.operands[1]);
  }

  Result<Node> primary() {
    skip_blanks();
    if (take("(")) {
      INGOT_TRY(Node node, conditional());
      if (!take(")")) return error(")");
      return node;
    }
    if (take("[")) return arguments({.kind = Node::Kind::call, .text = "list"}, "]");
    if (take("null")) return Node{};
    if (take("true")) return literal(true);
    if (take("false")) return literal(false);
    if (rest_.starts_with('\'') || rest_.starts_with('"')) return text();
    if (!rest_.empty() && (is_digit(rest_.front()) || rest_.front() == '-')) return number();
    return name_or_call();
  }

  static Node literal(json value) {
    Node node;
    node.literal = std::move(value);
    return node;
  }

  Result<Node> text() {
    const std::size_t end = rest_.find(rest_.front(), 1);
    if (end == rest_.npos) return error("a closing quote");
    Node node = literal(std::string(rest_.substr(1, end - 1)));
    rest_.remove_prefix(end + 1);
    return node;
  }

  Result<Node> number() {
    double real = 0;
    std::int64_t whole = 0;
    const char* const begin = rest_.data();
    const char* const end = begin + rest_.size();
    const auto as_real = read_real(begin, end, real);
    const auto as_whole = std::from_chars(begin, end, whole);
    if (as_real.ec != std::errc()) return error("a number");
    const bool is_whole = as_whole.ec == std::errc() && as_whole.ptr == as_real.ptr;
    rest_.remove_prefix(static_cast<std::size_t>(as_real.ptr - begin));
    return is_whole ? literal(whole) : literal(real);
  }

  std::optional<std::string> take_name() {
    skip_blanks();
    if (rest_.empty() || !is_name_start(rest_.front())) return std::nullopt;
    std::size_t length = 0;
    while (length < rest_.size() && is_name(rest_[length])) ++length;
    std::string name(rest_.substr(0, length));
    rest_.remove_prefix(length);
    return name;
  }

  Result<Node> name_or_call() {
    auto name = take_name();
    if (!name) return error("a value");
    if (rest_.starts_with('(')) return call(*std::move(name));
    Node node{.kind = Node::Kind::name};
    if (rest_.starts_with(':')) {
      const auto scope = std::ranges::find(name_scopes, *name, &NamedScope::first);
      if (scope == name_scopes.end()) return error("the name of a scope before the colon");
      node.scope = scope->second;
      rest_.remove_prefix(1);
      name = take_name();
      if (!name) return error("a name");
    }
    node.names.push_back(*std::move(name));
    while (rest_.starts_with('|')) {
      rest_.remove_prefix(1);
      name = take_name();
      if (!name) return error("a name");
      node.names.push_back(*std::move(name));
    }
    if (rest_.starts_with('?') && !rest_.starts_with("??")) {
      node.is_optional = true;
      rest_.remove_prefix(1);
    }
    return node;
  }

  /// The arguments of choose() after the first are pairs `name: value`, which become a literal.
  Result<Node> choices() {
    json pairs = json::object();
    do {
      skip_blanks();
      std::size_t length = 0;
      while (length < rest_.size() && is_name(rest_[length])) ++length;
      const std::string name(rest_.substr(0, length));
      rest_.remove_prefix(length);
      if (name.empty() || !take(":")) return error("a choice with a colon");
      INGOT_TRY(Node value, primary());
      if (value.kind != Node::Kind::literal) return error("a constant");
      pairs[name] = std::move(value.literal);
    } while (take(","));
    return literal(std::move(pairs));
  }

  Result<Node> call(std::string function) {
    Node node{.kind = Node::Kind::call, .text = std::move(function)};
    rest_.remove_prefix(1);
    return arguments(std::move(node), ")");
  }

  Result<Node> arguments(Node node, std::string_view end) {
    if (take(end)) return node;
    do {
      const bool is_choice = node.text == "choose" && node.operands.size() == 1;
      auto argument = is_choice ? choices() : conditional();
      if (!argument) return argument;
      node.operands.push_back(*std::move(argument));
    } while (take(","));
    if (!take(end)) return error(end);
    return node;
  }

  std::string_view text_;
  std::string_view rest_;
  int depth_ = 0;
};

}  // namespace

Result<Expression> Expression::parse(std::string_view text) {
  Parser parser(text);
  INGOT_TRY(Node root, parser.parse());
  Expression expression;
  expression.root_ = std::make_shared<const Node>(std::move(root));
  return expression;
}

}  // namespace ingot::huggingface
