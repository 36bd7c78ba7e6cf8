// SPDX-License-Identifier: MIT
// Expressions, from the operators that bind loosest to those that bind tightest.
#include <algorithm>

#include "chat/compile/parser.hpp"
#include "chat/compile/tree_walk.hpp"

namespace ingot::chat {
namespace {

/// More operators in a row than this are refused: a walk over the tree is as deep.
constexpr std::uint16_t max_height = 1000;

struct ComparisonToken {
  TokenKind token;
  Comparison comparison;
};

constexpr ComparisonToken comparisons[] = {
    {TokenKind::equal, Comparison::eq},   {TokenKind::not_equal, Comparison::ne},
    {TokenKind::less, Comparison::lt},    {TokenKind::less_equal, Comparison::le},
    {TokenKind::greater, Comparison::gt}, {TokenKind::greater_equal, Comparison::ge}};

}  // namespace

/// An operator between two operands; `word` if its token is a name.
struct Parser::Operator {
  TokenKind token;
  NodeKind node;
  std::string_view word = {};
};

Node* Parser::literal(std::uint32_t place, Value value) {
  auto* node = make<Literal>(NodeKind::literal, place);
  node->value = value;
  return node;
}

/// A node whose operands are known: it stands above all of them.
Node* Parser::above_operands(Node* node) {
  for_each_operand(*node, [&](const Node& operand) {
    node->height = std::max(node->height, static_cast<std::uint16_t>(operand.height + 1));
  });
  if (node->height > max_height) {
    fail(node->place, "an expression of more than " + std::to_string(max_height) + " levels");
  }
  return node;
}

Node* Parser::sequence(NodeKind kind, std::uint32_t place, const std::vector<Node*>& items) {
  auto* node = make<SequenceNode>(kind, place);
  node->items = arena_.copy(items);
  return above_operands(node);
}

bool Parser::at_tuple_end(std::string_view end_name) const {
  return at(TokenKind::print_end) || at(TokenKind::statement_end) || at(TokenKind::right_paren) ||
         (!end_name.empty() && at_name(end_name));
}

Node* Parser::parse_tuple(unsigned mode, std::string_view end_name) {
  const std::uint32_t place = current_.place;
  std::vector<Node*> items;
  bool is_tuple = false;
  while (!failed()) {
    if (!items.empty()) expect(TokenKind::comma);
    if (at_tuple_end(end_name)) break;
    items.push_back((mode & is_simple) != 0         ? parse_primary((mode & with_namespace) != 0)
                    : (mode & with_conditions) != 0 ? parse_expression()
                                                    : parse_or());
    if (!at(TokenKind::comma)) break;
    is_tuple = true;
  }
  if (!is_tuple && !items.empty()) return items[0];
  if (!is_tuple && (mode & in_parentheses) == 0) {
    fail(place, "expected an expression, got '" + describe(current_) + "'");
  }
  return sequence(NodeKind::tuple, place, items);
}

Node* Parser::parse_expression() { return parse_conditional(); }

Node* Parser::parse_conditional() {
  const Nesting nesting(*this);
  Node* then = parse_or();
  while (at_name("if") && !failed()) {
    auto* node = make<Conditional>(NodeKind::conditional, take().place);
    node->then = then;
    node->test = parse_or();
    if (skip_if_name("else")) node->otherwise = parse_conditional();
    then = above_operands(node);
  }
  return then;
}

/// Operators that bind alike, from left to right.
Node* Parser::parse_level(std::span<const Operator> operators, Node* (Parser::*parse_part)()) {
  const auto is_current = [&](const Operator& row) {
    return at(row.token) && (row.word.empty() || row.word == current_.text);
  };
  Node* left = (this->*parse_part)();
  while (true) {
    const auto row = std::find_if(operators.begin(), operators.end(), is_current);
    if (row == operators.end()) return left;
    auto* node = make<Binary>(row->node, take().place);
    node->left = left;
    node->right = (this->*parse_part)();
    left = above_operands(node);
  }
}

Node* Parser::parse_or() {
  static constexpr Operator operators[] = {{TokenKind::name, NodeKind::logical_or, "or"}};
  return parse_level(operators, &Parser::parse_and);
}

Node* Parser::parse_and() {
  static constexpr Operator operators[] = {{TokenKind::name, NodeKind::logical_and, "and"}};
  return parse_level(operators, &Parser::parse_not);
}

Node* Parser::parse_not() {
  if (!at_name("not")) return parse_compare();
  const Nesting nesting(*this);
  auto* node = make<Unary>(NodeKind::logical_not, take().place);
  node->operand = parse_not();
  return above_operands(node);
}

bool Parser::parse_comparison(Comparison& comparison) {
  const auto* row = std::ranges::find(comparisons, current_.kind, &ComparisonToken::token);
  if (row != std::end(comparisons)) {
    comparison = row->comparison;
  } else if (at_name("in")) {
    comparison = Comparison::in;
  } else if (at_name("not") && look().kind == TokenKind::name && look().text == "in") {
    comparison = Comparison::not_in;
    advance();
  } else {
    return false;
  }
  advance();
  return true;
}

Node* Parser::parse_compare() {
  const std::uint32_t place = current_.place;
  Node* first = parse_sum();
  std::vector<Comparand> rest;
  Comparand comparand;
  std::uint32_t operator_place = current_.place;
  while (parse_comparison(comparand.comparison)) {
    comparand.value = parse_sum();
    rest.push_back(comparand);
  }
  if (rest.empty()) return first;
  auto* node = make<CompareNode>(NodeKind::compare, rest.size() == 1 ? operator_place : place);
  node->first = first;
  node->rest = arena_.copy(rest);
  return above_operands(node);
}

Node* Parser::parse_sum() {
  static constexpr Operator operators[] = {{TokenKind::plus, NodeKind::add},
                                           {TokenKind::minus, NodeKind::subtract}};
  return parse_level(operators, &Parser::parse_concat);
}

Node* Parser::parse_concat() {
  const std::uint32_t place = current_.place;
  Node* first = parse_product();
  if (!at(TokenKind::tilde)) return first;
  std::vector<Node*> items = {first};
  while (skip_if(TokenKind::tilde)) items.push_back(parse_product());
  return sequence(NodeKind::concat, place, items);
}

Node* Parser::parse_product() {
  static constexpr Operator operators[] = {{TokenKind::multiply, NodeKind::multiply},
                                           {TokenKind::divide, NodeKind::divide},
                                           {TokenKind::floor_divide, NodeKind::floor_divide},
                                           {TokenKind::modulo, NodeKind::modulo}};
  return parse_level(operators, &Parser::parse_power);
}

Node* Parser::parse_power() {
  static constexpr Operator operators[] = {{TokenKind::power, NodeKind::power}};
  return parse_level(operators, &Parser::parse_operand);
}

Node* Parser::parse_operand() { return parse_filters_and_tests(parse_unary()); }

Node* Parser::parse_unary() {
  if (!at(TokenKind::minus) && !at(TokenKind::plus)) return parse_postfix(parse_primary(false));
  const Nesting nesting(*this);
  auto* sign =
      make<Unary>(at(TokenKind::minus) ? NodeKind::negate : NodeKind::plus, current_.place);
  advance();
  sign->operand = parse_unary();
  return above_operands(sign);
}

}  // namespace ingot::chat
