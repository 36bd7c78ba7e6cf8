// SPDX-License-Identifier: MIT
// From the text of a template to its tree, by recursive descent.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chat/compile/lexer.hpp"
#include "chat/compile/name_table.hpp"
#include "chat/compile/syntax_tree.hpp"
#include "chat/values/arena.hpp"

namespace ingot::chat {

struct ParseLimits {
  std::uint32_t max_nesting = 200;
};

/// After a failure the parser sees only the end of the template and returns what it has: callers
/// look at `error` once, at the end.
class Parser {
 public:
  Parser(std::string_view source, Arena& arena, NameTable& names, ParseLimits limits);

  /// The statements of the whole template.
  [[nodiscard]] Body parse();

  [[nodiscard]] const std::optional<TemplateError>& error() const noexcept { return error_; }

 private:
  using Statement = Node* (Parser::*)();
  struct Tag {
    std::string_view name;
    Statement parse;
  };
  using TagNames = std::initializer_list<std::string_view>;
  static const Tag tags[];

  // tokens
  void advance();
  /// The current token, and moves on.
  Token take();
  const Token& look();
  [[nodiscard]] bool at(TokenKind kind) const { return current_.kind == kind; }
  [[nodiscard]] bool at_name(std::string_view name) const;
  [[nodiscard]] bool at_any_name(TagNames names) const;
  bool skip_if(TokenKind kind);
  bool skip_if_name(std::string_view name);
  Token expect(TokenKind kind);
  void expect_name(std::string_view name);
  void fail(std::uint32_t place, std::string reason);
  [[nodiscard]] bool failed() const { return error_.has_value(); }

  // statements
  Body parse_body(TagNames end_tags);
  Body parse_block_body(TagNames end_tags);
  Body parse_block_body_and_end(std::string_view end_tag);
  Node* parse_statement();
  void fail_unknown_tag(std::uint32_t place, const std::string* name);
  Node* parse_if();
  Node* parse_for();
  Node* parse_set();
  Node* parse_with();
  Node* parse_macro();
  Node* parse_call_block();
  Node* parse_filter_block();
  Node* parse_generation();
  Node* parse_block();
  Node* parse_autoescape();
  Node* parse_print_statement();
  template <NodeKind kind>
  Node* parse_jump();
  Node* parse_include();
  Node* parse_import();
  Node* parse_from();
  Node* parse_other_template();
  void skip_import_context();
  bool skip_both(std::string_view first, std::string_view second);
  void parse_signature(MacroNode& node);
  NameNode* parse_target_name();
  Node* parse_target(bool with_namespace, std::string_view end_name);
  void check_target(const Node* target);

  // expressions, loosest first
  enum TupleMode : std::uint8_t {
    is_simple = 1,        ///< names and literals only: a target
    with_conditions = 2,  ///< `a if b else c` is allowed
    in_parentheses = 4,   ///< may be empty
    with_namespace = 8,   ///< `ns.name` is a target
  };
  Node* parse_tuple(unsigned mode, std::string_view end_name = {});
  [[nodiscard]] bool at_tuple_end(std::string_view end_name) const;
  Node* parse_expression();
  Node* parse_conditional();
  Node* parse_or();
  Node* parse_and();
  Node* parse_not();
  Node* parse_compare();
  bool parse_comparison(Comparison& comparison);
  Node* parse_sum();
  Node* parse_concat();
  Node* parse_product();
  Node* parse_power();
  Node* parse_operand();
  Node* parse_unary();
  Node* parse_primary(bool with_namespace);
  Node* parse_name(bool with_namespace);
  Node* parse_strings();
  Node* parse_number();
  Node* parse_list();
  Node* parse_object();
  Node* parse_postfix(Node* node);
  Node* parse_filters_and_tests(Node* node);
  Node* parse_subscript(Node* node);
  Node* parse_attribute(Node* node);
  Node* parse_index(Node* object);
  Node* parse_call(Node* callee);
  bool parse_argument(ArgumentNodes& arguments, std::vector<Node*>& positional,
                      std::vector<KeywordNode>& keywords);
  ArgumentNodes parse_arguments();
  Node* parse_filter(Node* input);
  Node* parse_filter_chain(Node* input);
  Node* parse_test(Node* input);
  ApplyNode* parse_applied_name(NodeKind kind, std::uint32_t place);
  bool at_test_argument() const;
  struct Operator;
  Node* parse_level(std::span<const Operator> operators, Node* (Parser::*parse_part)());

  /// Items between commas, up to a token.
  enum class LastComma : std::uint8_t { refused, allowed };
  template <class ParseItem>
  void parse_items(TokenKind end, LastComma last_comma, ParseItem&& parse_item) {
    for (bool is_first = true; !at(end) && !failed(); is_first = false) {
      if (!is_first) expect(TokenKind::comma);
      if (last_comma == LastComma::allowed && at(end)) return;
      parse_item();
    }
  }

  // nodes
  template <class T>
  T* make(NodeKind kind, std::uint32_t place) {
    T* node = arena_.make<T>();
    node->kind = kind;
    node->place = place;
    return node;
  }
  Node* literal(std::uint32_t place, Value value);
  Node* sequence(NodeKind kind, std::uint32_t place, const std::vector<Node*>& items);
  Node* above_operands(Node* node);

  /// One level of nesting for as long as it lives.
  class Nesting;

  Arena& arena_;
  NameTable& names_;
  ParseLimits limits_;
  Lexer lexer_;
  Token current_;
  std::optional<Token> ahead_;
  std::uint32_t nesting_ = 0;
  std::vector<std::string_view> open_tags_;
  std::vector<TagNames> end_tags_;
  std::optional<TemplateError> error_;
};

class Parser::Nesting {
 public:
  explicit Nesting(Parser& parser) : parser_(parser) {
    if (++parser_.nesting_ > parser_.limits_.max_nesting) {
      parser_.fail(parser_.current_.place,
                   "nested deeper than " + std::to_string(parser_.limits_.max_nesting) + " levels");
    }
  }
  ~Nesting() { --parser_.nesting_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  Parser& parser_;
};

}  // namespace ingot::chat
