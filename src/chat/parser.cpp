// SPDX-License-Identifier: MIT
// Statements.
#include "chat/parser.hpp"

#include <algorithm>

namespace ingot::chat {

/// The statements. Those that only end or continue another one are read with it.
const Parser::Tag Parser::tags[] = {
    {"autoescape", &Parser::parse_autoescape},
    {"block", &Parser::parse_block},
    {"break", &Parser::parse_break},
    {"call", &Parser::parse_call_block},
    {"continue", &Parser::parse_continue},
    {"extends", &Parser::parse_extends},
    {"filter", &Parser::parse_filter_block},
    {"for", &Parser::parse_for},
    {"from", &Parser::parse_from},
    {"generation", &Parser::parse_generation},
    {"if", &Parser::parse_if},
    {"import", &Parser::parse_import},
    {"include", &Parser::parse_include},
    {"macro", &Parser::parse_macro},
    {"print", &Parser::parse_print_statement},
    {"set", &Parser::parse_set},
    {"with", &Parser::parse_with},
};

Parser::Parser(std::string_view source, Arena& arena, NameTable& names, ParseLimits limits)
    : arena_(arena), names_(names), limits_(limits), lexer_(source, arena) {
  advance();
}

void Parser::fail(std::uint32_t place, std::string reason) {
  if (!error_) error_ = TemplateError{Errc::chat_syntax, place, std::move(reason), {}};
  current_ = {TokenKind::end_of_template, place, {}};
}

void Parser::advance() {
  if (failed()) return;
  if (ahead_) {
    current_ = *ahead_;
    ahead_.reset();
    return;
  }
  current_ = lexer_.next();
  if (lexer_.error()) fail(lexer_.error()->place, lexer_.error()->reason);
}

/// The token after the current one.
const Token& Parser::look() {
  if (!ahead_) {
    ahead_ = lexer_.next();
    if (lexer_.error()) fail(lexer_.error()->place, lexer_.error()->reason);
  }
  return *ahead_;
}

bool Parser::at_name(std::string_view name) const {
  return at(TokenKind::name) && current_.text == name;
}

bool Parser::at_any_name(TagNames names) const {
  return at(TokenKind::name) && std::find(names.begin(), names.end(), current_.text) != names.end();
}

bool Parser::skip_if(TokenKind kind) {
  if (!at(kind)) return false;
  advance();
  return true;
}

bool Parser::skip_if_name(std::string_view name) {
  if (!at_name(name)) return false;
  advance();
  return true;
}

Token Parser::expect(TokenKind kind) {
  const Token token = current_;
  if (at(kind)) {
    advance();
    return token;
  }
  if (at(TokenKind::end_of_template)) {
    fail(token.place, "unexpected end of template, expected '" + describe(kind) + "'");
  } else {
    fail(token.place, "expected token '" + describe(kind) + "', got '" + describe(token) + "'");
  }
  return token;
}

void Parser::expect_name(std::string_view name) {
  if (skip_if_name(name)) return;
  fail(current_.place,
       "expected token '" + std::string(name) + "', got '" + describe(current_) + "'");
}

Body Parser::parse() {
  const Body body = parse_body({});
  if (!failed() && !at(TokenKind::end_of_template)) {
    fail(current_.place, "unexpected '" + describe(current_) + "'");
  }
  return body;
}

/// Statements up to one of the tags that end them, which becomes the current token.
Body Parser::parse_body(TagNames end_tags) {
  const Nesting nesting(*this);
  if (end_tags.size() > 0) end_tags_.push_back(end_tags);
  std::vector<Node*> body;
  while (!failed() && !at(TokenKind::end_of_template)) {
    const Token token = current_;
    advance();
    if (token.kind == TokenKind::data) {
      auto* node = make<TextNode>(NodeKind::text, token.place);
      node->text = token.text;
      body.push_back(node);
    } else if (token.kind == TokenKind::print_begin) {
      auto* node = make<Unary>(NodeKind::print, token.place);
      node->operand = parse_tuple(with_conditions);
      expect(TokenKind::print_end);
      body.push_back(node);
    } else {
      if (end_tags.size() > 0 && at_any_name(end_tags)) break;
      body.push_back(parse_statement());
      expect(TokenKind::statement_end);
    }
  }
  if (end_tags.size() > 0) end_tags_.pop_back();
  return arena_.copy(body);
}

/// The end of a tag and the statements behind it.
Body Parser::parse_block_body(TagNames end_tags) {
  skip_if(TokenKind::colon);  // as Python has it
  expect(TokenKind::statement_end);
  const Body body = parse_body(end_tags);
  if (!failed() && at(TokenKind::end_of_template)) {
    end_tags_.push_back(end_tags);
    fail_unknown_tag(current_.place, nullptr);
    end_tags_.pop_back();
  }
  return body;
}

Body Parser::parse_block_body_and_end(std::string_view end_tag) {
  const Body body = parse_block_body({end_tag});
  advance();
  return body;
}

/// `name` is null at the end of the template.
void Parser::fail_unknown_tag(std::uint32_t place, const std::string* name) {
  std::string reason =
      name == nullptr ? "unexpected end of template" : "unknown tag '" + *name + "'";
  if (!end_tags_.empty()) {
    std::string wanted;
    for (const std::string_view tag : end_tags_.back()) {
      wanted += (wanted.empty() ? "'" : " or '") + std::string(tag) + "'";
    }
    reason += "; " + wanted + " is missing";
  }
  if (!open_tags_.empty()) reason += " to end '" + std::string(open_tags_.back()) + "'";
  fail(place, std::move(reason));
}

Node* Parser::parse_statement() {
  const Token token = current_;
  if (!at(TokenKind::name)) {
    fail(token.place, "tag name expected");
    return literal(token.place, Value::none());
  }
  const auto* tag = std::find_if(std::begin(tags), std::end(tags),
                                 [&](const Tag& row) { return row.name == token.text; });
  if (tag == std::end(tags)) {
    const std::string name(token.text);
    fail_unknown_tag(token.place, &name);
    return literal(token.place, Value::none());
  }
  open_tags_.push_back(token.text);
  Node* node = (this->*tag->parse)();
  open_tags_.pop_back();
  return node;
}

Node* Parser::parse_if() {
  auto* node = make<IfNode>(NodeKind::if_, current_.place);
  std::vector<Branch> branches;
  do {
    advance();  // if, elif
    Branch branch;
    branch.test = parse_tuple(0);
    branch.body = parse_block_body({"elif", "else", "endif"});
    branches.push_back(branch);
  } while (at_name("elif") && !failed());
  const bool has_else = at_name("else");
  advance();
  if (has_else) node->otherwise = parse_block_body_and_end("endif");
  node->branches = arena_.copy(branches);
  return node;
}

Node* Parser::parse_for() {
  auto* node = make<ForNode>(NodeKind::for_, current_.place);
  advance();
  node->target = parse_target(false, "in");
  expect_name("in");
  node->iterable = parse_tuple(0, "recursive");
  if (skip_if_name("if")) node->test = parse_expression();
  node->is_recursive = skip_if_name("recursive");
  node->body = parse_block_body({"endfor", "else"});
  const bool has_else = at_name("else");
  advance();
  if (has_else) node->otherwise = parse_block_body_and_end("endfor");
  return node;
}

Node* Parser::parse_set() {
  const std::uint32_t place = current_.place;
  advance();
  Node* target = parse_target(true, {});
  if (skip_if(TokenKind::assign)) {
    auto* node = make<SetNode>(NodeKind::set, place);
    node->target = target;
    node->value = parse_tuple(with_conditions);
    return node;
  }
  auto* node = make<BlockNode>(NodeKind::set_block, place);
  node->target = target;
  node->operand = parse_filter_chain(nullptr);
  node->body = parse_block_body_and_end("endset");
  return node;
}

Node* Parser::parse_with() {
  auto* node = make<WithNode>(NodeKind::with, current_.place);
  advance();
  std::vector<const SetNode*> assignments;
  while (!at(TokenKind::statement_end) && !failed()) {
    if (!assignments.empty()) expect(TokenKind::comma);
    auto* assignment = make<SetNode>(NodeKind::set, current_.place);
    assignment->target = parse_target(false, {});
    expect(TokenKind::assign);
    assignment->value = parse_expression();
    assignments.push_back(assignment);
  }
  node->assignments = arena_.copy(assignments);
  node->body = parse_block_body_and_end("endwith");
  return node;
}

Node* Parser::parse_macro() {
  auto* node = make<MacroNode>(NodeKind::macro, current_.place);
  advance();
  node->target = parse_target_name();
  node->name = node->target->name->text;
  const Signature signature = parse_signature();
  node->parameters = signature.parameters;
  node->defaults = signature.defaults;
  node->body = parse_block_body_and_end("endmacro");
  return node;
}

Node* Parser::parse_call_block() {
  auto* node = make<MacroNode>(NodeKind::call_block, current_.place);
  node->name = "caller";
  advance();
  if (at(TokenKind::left_paren)) {
    const Signature signature = parse_signature();
    node->parameters = signature.parameters;
    node->defaults = signature.defaults;
  }
  Node* call = parse_expression();
  if (call->kind == NodeKind::call) {
    node->call = static_cast<CallNode*>(call);
  } else {
    fail(node->place, "expected call");
  }
  node->body = parse_block_body_and_end("endcall");
  return node;
}

Parser::Signature Parser::parse_signature() {
  std::vector<NameNode*> parameters;
  std::vector<Node*> defaults;
  expect(TokenKind::left_paren);
  while (!at(TokenKind::right_paren) && !failed()) {
    if (!parameters.empty()) expect(TokenKind::comma);
    parameters.push_back(parse_target_name());
    if (skip_if(TokenKind::assign)) {
      defaults.push_back(parse_expression());
    } else if (!defaults.empty()) {
      fail(current_.place, "non-default argument follows default argument");
    }
  }
  expect(TokenKind::right_paren);
  return {arena_.copy(parameters), arena_.copy(defaults)};
}

Node* Parser::parse_filter_block() {
  auto* node = make<BlockNode>(NodeKind::filter_block, current_.place);
  advance();
  node->operand = parse_filter_chain(parse_filter(nullptr));
  node->body = parse_block_body_and_end("endfilter");
  return node;
}

Node* Parser::parse_generation() {
  auto* node = make<BlockNode>(NodeKind::generation, current_.place);
  advance();
  node->body = parse_block_body_and_end("endgeneration");
  return node;
}

Node* Parser::parse_block() {
  auto* node = make<BlockNode>(NodeKind::block, current_.place);
  advance();
  const Token name = expect(TokenKind::name);
  skip_if_name("scoped");
  skip_if_name("required");
  node->body = parse_block_body_and_end("endblock");
  skip_if_name(name.text);
  return node;
}

Node* Parser::parse_autoescape() {
  auto* node = make<BlockNode>(NodeKind::autoescape, current_.place);
  advance();
  node->operand = parse_expression();
  node->body = parse_block_body_and_end("endautoescape");
  return node;
}

/// `{% print a, b %}`
Node* Parser::parse_print_statement() {
  auto* node = make<SequenceNode>(NodeKind::concat, current_.place);
  advance();
  std::vector<Node*> items;
  while (!at(TokenKind::statement_end) && !failed()) {
    if (!items.empty()) expect(TokenKind::comma);
    items.push_back(parse_expression());
  }
  node->items = arena_.copy(items);
  raise(node, node->items);
  auto* print = make<Unary>(NodeKind::print, node->place);
  print->operand = node;
  return print;
}

Node* Parser::parse_break() {
  Node* node = make<Node>(NodeKind::break_, current_.place);
  advance();
  return node;
}

Node* Parser::parse_continue() {
  Node* node = make<Node>(NodeKind::continue_, current_.place);
  advance();
  return node;
}

Node* Parser::parse_target(bool allows_namespace, std::string_view end_name) {
  const unsigned mode = allows_namespace ? is_simple | with_namespace : unsigned{is_simple};
  Node* target = parse_tuple(mode, end_name);
  check_target(target);
  return target;
}

NameNode* Parser::parse_target_name() {
  const Token token = expect(TokenKind::name);
  auto* node = make<NameNode>(NodeKind::name, token.place);
  node->name = names_.intern(token.text, arena_);
  check_target(node);
  return node;
}

void Parser::check_target(const Node* target) {
  if (failed()) return;
  if (target->kind == NodeKind::tuple) {
    for (const Node* item : static_cast<const SequenceNode*>(target)->items) check_target(item);
    return;
  }
  constexpr std::string_view constants[] = {"true", "false", "none", "True", "False", "None"};
  const bool is_name = target->kind == NodeKind::name;
  const bool is_constant =
      is_name && std::find(std::begin(constants), std::end(constants),
                           static_cast<const NameNode*>(target)->name->text) != std::end(constants);
  if ((is_name && !is_constant) || target->kind == NodeKind::namespace_target) return;
  fail(target->place,
       "only names, tuples of names and attributes of a namespace can be assigned to");
}

Node* Parser::parse_other_template(std::uint32_t place) {
  Node* node = make<Node>(NodeKind::unavailable, place);
  advance();
  (void)parse_expression();
  return node;
}

void Parser::skip_import_context() {
  if (!at_any_name({"with", "without"}) || look().text != "context") return;
  advance();
  advance();
}

Node* Parser::parse_include() {
  Node* node = parse_other_template(current_.place);
  if (at_name("ignore") && look().text == "missing") {
    advance();
    advance();
  }
  skip_import_context();
  return node;
}

Node* Parser::parse_import() {
  Node* node = parse_other_template(current_.place);
  expect_name("as");
  (void)parse_target_name();
  skip_import_context();
  return node;
}

Node* Parser::parse_from() {
  Node* node = parse_other_template(current_.place);
  expect_name("import");
  do {
    (void)parse_target_name();
    if (skip_if_name("as")) (void)parse_target_name();
    skip_import_context();
  } while (skip_if(TokenKind::comma) && !failed());
  return node;
}

Node* Parser::parse_extends() { return parse_other_template(current_.place); }

}  // namespace ingot::chat
