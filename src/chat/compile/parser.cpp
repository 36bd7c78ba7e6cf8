// SPDX-License-Identifier: MIT
// Tokens, and the bodies of statements.
#include "chat/compile/parser.hpp"

#include <algorithm>

namespace ingot::chat {

template <NodeKind kind>
Node* Parser::parse_jump() {
  return make<Node>(kind, take().place);
}

/// The statements. Those that only end or continue another one are read with it.
const Parser::Tag Parser::tags[] = {
    {"autoescape", &Parser::parse_autoescape},
    {"block", &Parser::parse_block},
    {"break", &Parser::parse_jump<NodeKind::break_>},
    {"call", &Parser::parse_call_block},
    {"continue", &Parser::parse_jump<NodeKind::continue_>},
    {"extends", &Parser::parse_other_template},
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
  const Token next = look();
  ahead_.reset();
  if (!failed()) current_ = next;
}

Token Parser::take() {
  const Token token = current_;
  advance();
  return token;
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
  if (at(kind)) return take();
  const Token token = current_;
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
    const Token token = take();
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
  const auto* tag = std::ranges::find(tags, token.text, &Tag::name);
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

}  // namespace ingot::chat
