// SPDX-License-Identifier: MIT
// The statements, one by one.
#include <algorithm>

#include "chat/compile/parser.hpp"

namespace ingot::chat {

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
  auto* node = make<ForNode>(NodeKind::for_, take().place);
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
  const std::uint32_t place = take().place;
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
  auto* node = make<WithNode>(NodeKind::with, take().place);
  std::vector<const SetNode*> assignments;
  parse_items(TokenKind::statement_end, LastComma::refused, [&] {
    auto* assignment = make<SetNode>(NodeKind::set, current_.place);
    assignment->target = parse_target(false, {});
    expect(TokenKind::assign);
    assignment->value = parse_expression();
    assignments.push_back(assignment);
  });
  node->assignments = arena_.copy(assignments);
  node->body = parse_block_body_and_end("endwith");
  return node;
}

Node* Parser::parse_macro() {
  auto* node = make<MacroNode>(NodeKind::macro, take().place);
  node->target = parse_target_name();
  node->name = node->target->name->text;
  parse_signature(*node);
  node->body = parse_block_body_and_end("endmacro");
  return node;
}

Node* Parser::parse_call_block() {
  auto* node = make<MacroNode>(NodeKind::call_block, take().place);
  node->name = "caller";
  if (at(TokenKind::left_paren)) parse_signature(*node);
  Node* call = parse_expression();
  if (call->kind == NodeKind::call) {
    node->call = static_cast<CallNode*>(call);
  } else {
    fail(node->place, "expected call");
  }
  node->body = parse_block_body_and_end("endcall");
  return node;
}

void Parser::parse_signature(MacroNode& node) {
  std::vector<NameNode*> parameters;
  std::vector<Value> names;
  std::vector<Node*> defaults;
  expect(TokenKind::left_paren);
  parse_items(TokenKind::right_paren, LastComma::refused, [&] {
    parameters.push_back(parse_target_name());
    names.push_back(Value::text_of(parameters.back()->name->text));
    if (skip_if(TokenKind::assign)) {
      defaults.push_back(parse_expression());
    } else if (!defaults.empty()) {
      fail(current_.place, "non-default argument follows default argument");
    }
  });
  expect(TokenKind::right_paren);
  node.parameters = arena_.copy(parameters);
  node.parameter_names = arena_.copy(names);
  node.defaults = arena_.copy(defaults);
}

Node* Parser::parse_filter_block() {
  auto* node = make<BlockNode>(NodeKind::filter_block, take().place);
  node->operand = parse_filter_chain(parse_filter(nullptr));
  node->body = parse_block_body_and_end("endfilter");
  return node;
}

Node* Parser::parse_generation() {
  auto* node = make<BlockNode>(NodeKind::generation, take().place);
  node->body = parse_block_body_and_end("endgeneration");
  return node;
}

Node* Parser::parse_block() {
  auto* node = make<BlockNode>(NodeKind::block, take().place);
  const Token name = expect(TokenKind::name);
  skip_if_name("scoped");
  skip_if_name("required");
  node->body = parse_block_body_and_end("endblock");
  skip_if_name(name.text);
  return node;
}

Node* Parser::parse_autoescape() {
  auto* node = make<BlockNode>(NodeKind::autoescape, take().place);
  node->operand = parse_expression();
  node->body = parse_block_body_and_end("endautoescape");
  return node;
}

/// `{% print a, b %}`
Node* Parser::parse_print_statement() {
  auto* print = make<Unary>(NodeKind::print, take().place);
  std::vector<Node*> items;
  parse_items(TokenKind::statement_end, LastComma::refused,
              [&] { items.push_back(parse_expression()); });
  print->operand = sequence(NodeKind::concat, print->place, items);
  return print;
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

Node* Parser::parse_other_template() {
  Node* node = make<Node>(NodeKind::unavailable, take().place);
  (void)parse_expression();
  return node;
}

/// Skips two words, if both are there.
bool Parser::skip_both(std::string_view first, std::string_view second) {
  if (!at_name(first) || look().text != second) return false;
  advance();
  advance();
  return true;
}

void Parser::skip_import_context() {
  if (!skip_both("with", "context")) skip_both("without", "context");
}

Node* Parser::parse_include() {
  Node* node = parse_other_template();
  skip_both("ignore", "missing");
  skip_import_context();
  return node;
}

Node* Parser::parse_import() {
  Node* node = parse_other_template();
  expect_name("as");
  (void)parse_target_name();
  skip_import_context();
  return node;
}

Node* Parser::parse_from() {
  Node* node = parse_other_template();
  expect_name("import");
  do {
    (void)parse_target_name();
    if (skip_if_name("as")) (void)parse_target_name();
    skip_import_context();
  } while (skip_if(TokenKind::comma) && !failed());
  return node;
}

}  // namespace ingot::chat
