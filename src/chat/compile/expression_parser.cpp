// SPDX-License-Identifier: MIT
// Expressions, from the operators that bind loosest to those that bind tightest.
#include <algorithm>

#include "chat/compile/parser.hpp"

namespace ingot::chat {
namespace {

/// More operators in a row than this are refused: a walk over the tree is as deep.
constexpr std::uint16_t max_height = 1000;

struct Operator {
  TokenKind token;
  NodeKind node;
};

constexpr Operator sums[] = {{TokenKind::plus, NodeKind::add},
                             {TokenKind::minus, NodeKind::subtract}};
constexpr Operator products[] = {{TokenKind::multiply, NodeKind::multiply},
                                 {TokenKind::divide, NodeKind::divide},
                                 {TokenKind::floor_divide, NodeKind::floor_divide},
                                 {TokenKind::modulo, NodeKind::modulo}};

struct ComparisonToken {
  TokenKind token;
  Comparison comparison;
};

constexpr ComparisonToken comparisons[] = {
    {TokenKind::equal, Comparison::eq},   {TokenKind::not_equal, Comparison::ne},
    {TokenKind::less, Comparison::lt},    {TokenKind::less_equal, Comparison::le},
    {TokenKind::greater, Comparison::gt}, {TokenKind::greater_equal, Comparison::ge}};

template <std::size_t count>
const Operator* find_operator(const Operator (&rows)[count], TokenKind token) {
  const auto* row = std::find_if(std::begin(rows), std::end(rows), [&](const Operator& candidate) {
    return candidate.token == token;
  });
  return row == std::end(rows) ? nullptr : row;
}

}  // namespace

Node* Parser::literal(std::uint32_t place, Value value) {
  auto* node = make<Literal>(NodeKind::literal, place);
  node->value = value;
  return node;
}

/// `node` stands above `child`, which may be null.
void Parser::raise(Node* node, const Node* child) {
  if (child == nullptr) return;
  node->height =
      std::max<std::uint16_t>(node->height, static_cast<std::uint16_t>(child->height + 1));
  if (node->height > max_height) {
    fail(node->place, "an expression of more than " + std::to_string(max_height) + " levels");
  }
}

void Parser::raise(Node* node, Body children) {
  for (const Node* child : children) raise(node, child);
}

void Parser::raise(Node* node, const ArgumentNodes& arguments) {
  raise(node, arguments.positional);
  for (const KeywordNode& keyword : arguments.keywords) raise(node, keyword.value);
  raise(node, arguments.more_positional);
  raise(node, arguments.more_keywords);
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
  auto* node = make<SequenceNode>(NodeKind::tuple, place);
  node->items = arena_.copy(items);
  raise(node, node->items);
  return node;
}

Node* Parser::parse_expression() { return parse_conditional(); }

Node* Parser::parse_conditional() {
  const Nesting nesting(*this);
  Node* then = parse_or();
  while (at_name("if") && !failed()) {
    auto* node = make<Conditional>(NodeKind::conditional, current_.place);
    advance();
    node->then = then;
    node->test = parse_or();
    if (skip_if_name("else")) node->otherwise = parse_conditional();
    then = above(node, {node->then, node->test, node->otherwise});
  }
  return then;
}

/// `left`, the current operator, and what `parse_right` reads.
Node* Parser::parse_binary(Node* left, NodeKind kind, Node* (Parser::*parse_right)()) {
  auto* node = make<Binary>(kind, current_.place);
  advance();
  node->left = left;
  node->right = (this->*parse_right)();
  return above(node, {node->left, node->right});
}

Node* Parser::parse_or() {
  Node* left = parse_and();
  while (at_name("or")) left = parse_binary(left, NodeKind::logical_or, &Parser::parse_and);
  return left;
}

Node* Parser::parse_and() {
  Node* left = parse_not();
  while (at_name("and")) left = parse_binary(left, NodeKind::logical_and, &Parser::parse_not);
  return left;
}

Node* Parser::parse_not() {
  if (!at_name("not")) return parse_compare();
  const Nesting nesting(*this);
  auto* node = make<Unary>(NodeKind::logical_not, current_.place);
  advance();
  node->operand = parse_not();
  return above(node, {node->operand});
}

bool Parser::parse_comparison(Comparison& comparison) {
  const auto* row = std::find_if(
      std::begin(comparisons), std::end(comparisons),
      [&](const ComparisonToken& candidate) { return candidate.token == current_.kind; });
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
  raise(node, first);
  for (const Comparand& operand : rest) raise(node, operand.value);
  return node;
}

Node* Parser::parse_sum() {
  Node* left = parse_concat();
  while (const Operator* row = find_operator(sums, current_.kind)) {
    left = parse_binary(left, row->node, &Parser::parse_concat);
  }
  return left;
}

Node* Parser::parse_concat() {
  const std::uint32_t place = current_.place;
  Node* first = parse_product();
  if (!at(TokenKind::tilde)) return first;
  std::vector<Node*> items = {first};
  while (skip_if(TokenKind::tilde)) items.push_back(parse_product());
  auto* node = make<SequenceNode>(NodeKind::concat, place);
  node->items = arena_.copy(items);
  raise(node, node->items);
  return node;
}

Node* Parser::parse_product() {
  Node* left = parse_power();
  while (const Operator* row = find_operator(products, current_.kind)) {
    left = parse_binary(left, row->node, &Parser::parse_power);
  }
  return left;
}

Node* Parser::parse_power() {
  Node* left = parse_unary(true);
  while (at(TokenKind::power)) {
    auto* node = make<Binary>(NodeKind::power, current_.place);
    advance();
    node->left = left;
    node->right = parse_unary(true);
    left = above(node, {node->left, node->right});
  }
  return left;
}

Node* Parser::parse_unary(bool with_filters) {
  Node* node = nullptr;
  if (at(TokenKind::minus) || at(TokenKind::plus)) {
    const Nesting nesting(*this);
    auto* sign =
        make<Unary>(at(TokenKind::minus) ? NodeKind::negate : NodeKind::plus, current_.place);
    advance();
    sign->operand = parse_unary(false);
    node = above(sign, {sign->operand});
  } else {
    node = parse_primary(false);
  }
  node = parse_postfix(node);
  return with_filters ? parse_filters_and_tests(node) : node;
}

}  // namespace ingot::chat
