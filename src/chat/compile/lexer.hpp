// SPDX-License-Identifier: MIT
// Tokens of a template, made when they are asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chat/values/arena.hpp"
#include "chat/values/template_error.hpp"

namespace ingot::chat {

enum class TokenKind : std::uint8_t {
#define INGOT_TOKEN(name, spelling) name,
#include "chat/compile/tokens.def"
#undef INGOT_TOKEN
};

struct Token {
  TokenKind kind = TokenKind::end_of_template;
  std::uint32_t place = 0;
  std::string_view text;  ///< of data, names and numbers; strings without quotes and escapes
};

/// How messages name a token.
[[nodiscard]] std::string describe(const Token& token);
[[nodiscard]] std::string describe(TokenKind kind);

class Lexer {
 public:
  /// Texts of tokens lie in `source` or in `arena`.
  Lexer(std::string_view source, Arena& arena) : source_(source), arena_(arena) {}

  /// The next token. After a failure, which `error` describes, and at the end, it is
  /// `end_of_template`.
  [[nodiscard]] Token next();

  [[nodiscard]] const std::optional<TemplateError>& error() const noexcept { return error_; }

 private:
  enum class State : std::uint8_t { text, print, statement, raw };

  Token take_pending();
  bool next_in_text(Token& token);
  bool next_in_raw(Token& token);
  Token next_in_tag();
  void enter_tag(std::size_t mark, char kind);
  bool skip_comment(std::size_t start);
  bool enter_raw(std::size_t mark);
  [[nodiscard]] bool end_of_tag(Token& token);
  void skip_end_mark(char sign, bool trims_line);
  [[nodiscard]] std::string_view strip_before(std::string_view text, std::size_t mark) const;
  [[nodiscard]] std::size_t find_mark(std::size_t from) const;
  [[nodiscard]] std::size_t behind_sign(std::size_t from) const;
  [[nodiscard]] std::size_t skip_spaces(std::size_t from) const;

  Token lex_name();
  Token lex_number();
  Token lex_string();
  Token lex_operator();
  [[nodiscard]] std::size_t digits_end(std::size_t from) const;
  [[nodiscard]] std::size_t float_end(std::size_t from) const;
  [[nodiscard]] std::size_t integer_end(std::size_t from) const;
  bool balance(char bracket);
  Token fail(std::size_t place, std::string reason);
  [[nodiscard]] Token token(TokenKind kind, std::size_t place, std::size_t end);

  std::string_view source_;
  Arena& arena_;
  std::size_t next_ = 0;
  State state_ = State::text;
  std::uint32_t last_place_ = 0;
  std::vector<char> closers_;  ///< brackets that are open, as what closes them
  std::optional<Token> pending_;
  std::optional<TemplateError> error_;
};

}  // namespace ingot::chat
