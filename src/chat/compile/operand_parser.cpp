// SPDX-License-Identifier: MIT
// Operands: names, literals, and what may stand behind them.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/real_number.hpp"
#include "chat/builtins/builtins.hpp"
#include "chat/compile/parser.hpp"

namespace ingot::chat {
namespace {

std::string without_underscores(std::string_view text) {
  std::string plain(text);
  plain.erase(std::remove(plain.begin(), plain.end(), '_'), plain.end());
  return plain;
}

/// An integer literal; one beyond 64 bits keeps its decimal digits. Missing if it cannot.
Value integer_value(std::string_view text, Arena& arena) {
  const std::string plain = without_underscores(text);
  const bool has_base = plain.size() > 2 && plain[0] == '0' && (plain[1] < '0' || plain[1] > '9');
  const char letter = has_base ? static_cast<char>(plain[1] | 0x20) : '\0';
  const int base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 10;
  const char* first = plain.data() + (has_base ? 2 : 0);
  std::int64_t number = 0;
  const auto end = std::from_chars(first, plain.data() + plain.size(), number, base);
  if (end.ec == std::errc()) return Value::of(number);
  if (base != 10) return {};
  return Value::text_of(arena.copy(plain), from_template, Kind::digits);
}

double real_value(std::string_view text) {
  const std::string plain = without_underscores(text);
  double number = 0;
  const auto end = read_real(plain.data(), plain.data() + plain.size(), number);
  if (end.ec != std::errc::result_out_of_range) return number;
  return plain.find('-') == std::string::npos ? HUGE_VAL : 0.0;
}

}  // namespace

Node* Parser::parse_primary(bool allows_namespace) {
  const Token token = current_;
  switch (token.kind) {
    case TokenKind::name:
      return parse_name(allows_namespace);
    case TokenKind::string:
      return parse_strings();
    case TokenKind::integer:
    case TokenKind::real:
      return parse_number();
    case TokenKind::left_bracket:
      return parse_list();
    case TokenKind::left_brace:
      return parse_object();
    case TokenKind::left_paren: {
      advance();
      Node* node = parse_tuple(with_conditions | in_parentheses);
      expect(TokenKind::right_paren);
      return node;
    }
    default:
      fail(token.place, "unexpected '" + describe(token) + "'");
      return literal(token.place, Value::none());
  }
}

Node* Parser::parse_name(bool allows_namespace) {
  const Token token = take();
  if (token.text == "true" || token.text == "True") return literal(token.place, Value::of(true));
  if (token.text == "false" || token.text == "False") return literal(token.place, Value::of(false));
  if (token.text == "none" || token.text == "None") return literal(token.place, Value::none());
  const Name* name = names_.intern(token.text, arena_);
  if (allows_namespace && skip_if(TokenKind::dot)) {
    auto* target = make<NamespaceTarget>(NodeKind::namespace_target, token.place);
    target->name = name;
    target->attribute = names_.intern(expect(TokenKind::name).text, arena_);
    return target;
  }
  auto* node = make<NameNode>(NodeKind::name, token.place);
  node->name = name;
  return node;
}

/// Literals that stand side by side are one.
Node* Parser::parse_strings() {
  const Token first = take();
  if (!at(TokenKind::string)) return literal(first.place, Value::text_of(first.text));
  std::string joined(first.text);
  for (; at(TokenKind::string); advance()) joined += current_.text;
  return literal(first.place, Value::text_of(arena_.copy(joined)));
}

Node* Parser::parse_number() {
  const Token token = take();
  if (token.kind == TokenKind::real) return literal(token.place, Value::of(real_value(token.text)));
  const Value value = integer_value(token.text, arena_);
  if (!value.is_given()) fail(token.place, "this integer does not fit 64 bits");
  return literal(token.place, value);
}

Node* Parser::parse_list() {
  const std::uint32_t place = take().place;
  std::vector<Node*> items;
  parse_items(TokenKind::right_bracket, LastComma::allowed,
              [&] { items.push_back(parse_expression()); });
  expect(TokenKind::right_bracket);
  return sequence(NodeKind::list, place, items);
}

Node* Parser::parse_object() {
  auto* node = make<ObjectNode>(NodeKind::object, take().place);
  std::vector<PairNode> pairs;
  parse_items(TokenKind::right_brace, LastComma::allowed, [&] {
    PairNode pair;
    pair.key = parse_expression();
    expect(TokenKind::colon);
    pair.value = parse_expression();
    pairs.push_back(pair);
  });
  expect(TokenKind::right_brace);
  node->pairs = arena_.copy(pairs);
  return above_operands(node);
}

Node* Parser::parse_postfix(Node* node) {
  while (!failed()) {
    if (at(TokenKind::dot)) {
      node = parse_attribute(node);
    } else if (at(TokenKind::left_bracket)) {
      node = parse_subscript(node);
    } else if (at(TokenKind::left_paren)) {
      node = parse_call(node);
    } else {
      break;
    }
  }
  return node;
}

Node* Parser::parse_filters_and_tests(Node* node) {
  while (!failed()) {
    if (at(TokenKind::pipe)) {
      node = parse_filter_chain(node);
    } else if (at_name("is")) {
      node = parse_test(node);
    } else if (at(TokenKind::left_paren)) {
      node = parse_call(node);
    } else {
      break;
    }
  }
  return node;
}

/// `.name`, or `.0` for an item.
Node* Parser::parse_attribute(Node* object) {
  const std::uint32_t place = take().place;
  const Token token = current_;
  if (token.kind == TokenKind::name) {
    advance();
    auto* node = make<AttributeNode>(NodeKind::attribute, place);
    node->object = object;
    node->name = names_.intern(token.text, arena_);
    return above_operands(node);
  }
  if (token.kind != TokenKind::integer) {
    fail(token.place, "expected name or number");
    return object;
  }
  auto* node = make<Binary>(NodeKind::item, place);
  node->left = object;
  node->right = parse_number();
  return above_operands(node);
}

/// `[index]`, `[start:stop:step]` or `[a, b]`.
Node* Parser::parse_subscript(Node* object) {
  const std::uint32_t place = take().place;
  std::vector<Node*> indices;
  parse_items(TokenKind::right_bracket, LastComma::refused,
              [&] { indices.push_back(parse_index(object)); });
  expect(TokenKind::right_bracket);
  // A slice of this object, and not one of something else that is the index.
  const bool is_slice = indices.size() == 1 && indices[0]->kind == NodeKind::slice &&
                        static_cast<const SliceNode*>(indices[0])->object == object;
  if (is_slice) return indices[0];
  auto* node = make<Binary>(NodeKind::item, place);
  node->left = object;
  node->right = indices.size() == 1 ? indices[0] : sequence(NodeKind::tuple, place, indices);
  return above_operands(node);
}

Node* Parser::parse_index(Node* object) {
  const std::uint32_t place = current_.place;
  Node* start = at(TokenKind::colon) ? nullptr : parse_expression();
  if (!at(TokenKind::colon)) return start;
  auto* node = make<SliceNode>(NodeKind::slice, place);
  node->object = object;
  node->bounds[0] = start;
  for (std::size_t i = 1; i < 3 && skip_if(TokenKind::colon); ++i) {
    const bool is_left_out =
        at(TokenKind::colon) || at(TokenKind::right_bracket) || at(TokenKind::comma);
    if (!is_left_out) node->bounds[i] = parse_expression();
  }
  return above_operands(node);
}

Node* Parser::parse_call(Node* callee) {
  auto* node = make<CallNode>(NodeKind::call, current_.place);
  node->callee = callee;
  node->arguments = parse_arguments();
  return above_operands(node);
}

/// One argument; false if it may not stand where it does.
bool Parser::parse_argument(ArgumentNodes& arguments, std::vector<Node*>& positional,
                            std::vector<KeywordNode>& keywords) {
  const bool has_list = arguments.more_positional != nullptr;
  const bool has_object = arguments.more_keywords != nullptr;
  if (skip_if(TokenKind::multiply)) {
    arguments.more_positional = parse_expression();
    return !has_list && !has_object;
  }
  if (skip_if(TokenKind::power)) {
    arguments.more_keywords = parse_expression();
    return !has_object;
  }
  if (at(TokenKind::name) && look().kind == TokenKind::assign) {
    const std::string_view name = current_.text;
    advance();
    advance();
    keywords.push_back({name, parse_expression()});
    return !has_object;
  }
  positional.push_back(parse_expression());
  return !has_list && !has_object && keywords.empty();
}

ArgumentNodes Parser::parse_arguments() {
  const std::uint32_t place = current_.place;
  ArgumentNodes arguments;
  std::vector<Node*> positional;
  std::vector<KeywordNode> keywords;
  expect(TokenKind::left_paren);
  parse_items(TokenKind::right_paren, LastComma::allowed, [&] {
    if (!parse_argument(arguments, positional, keywords)) {
      fail(place, "invalid syntax for function call expression");
    }
  });
  expect(TokenKind::right_paren);
  arguments.positional = arena_.copy(positional);
  arguments.keywords = arena_.copy(keywords);
  return arguments;
}

Node* Parser::parse_filter_chain(Node* input) {
  while (skip_if(TokenKind::pipe)) input = parse_filter(input);
  return input;
}

/// The name of a filter or test, which may have dots.
ApplyNode* Parser::parse_applied_name(NodeKind kind, std::uint32_t place) {
  auto* node = make<ApplyNode>(kind, place);
  node->name = expect(TokenKind::name).text;
  while (skip_if(TokenKind::dot)) {
    std::string whole(node->name);
    whole.append(".").append(expect(TokenKind::name).text);
    node->name = arena_.copy(whole);
  }
  node->builtin = find_builtin(kind == NodeKind::filter ? filters() : tests(), node->name);
  return node;
}

Node* Parser::parse_filter(Node* input) {
  ApplyNode* node = parse_applied_name(NodeKind::filter, current_.place);
  node->input = input;
  if (at(TokenKind::left_paren)) node->arguments = parse_arguments();
  return above_operands(node);
}

/// Whether an argument without parentheses follows the name of a test.
bool Parser::at_test_argument() const {
  switch (current_.kind) {
    case TokenKind::name:
      return !at_any_name({"else", "or", "and"});
    case TokenKind::string:
    case TokenKind::integer:
    case TokenKind::real:
    case TokenKind::left_bracket:
    case TokenKind::left_brace:
      return true;
    default:
      return false;
  }
}

Node* Parser::parse_test(Node* input) {
  const std::uint32_t place = take().place;
  const bool is_negated = skip_if_name("not");
  ApplyNode* node = parse_applied_name(NodeKind::test, place);
  node->input = input;
  if (at(TokenKind::left_paren)) {
    node->arguments = parse_arguments();
  } else if (at_test_argument()) {
    if (at_name("is")) fail(current_.place, "You cannot chain multiple tests with is");
    const std::vector<Node*> argument = {parse_postfix(parse_primary(false))};
    node->arguments.positional = arena_.copy(argument);
  }
  above_operands(node);
  if (!is_negated) return node;
  auto* negation = make<Unary>(NodeKind::logical_not, place);
  negation->operand = node;
  return above_operands(negation);
}

}  // namespace ingot::chat
