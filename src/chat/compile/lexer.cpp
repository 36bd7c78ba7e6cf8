// SPDX-License-Identifier: MIT
#include "chat/compile/lexer.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii.hpp"
#include "chat/compile/string_escapes.hpp"
#include "chat/values/characters.hpp"

namespace ingot::chat {
namespace {

constexpr std::array<std::string_view, 36> spellings = {
#define INGOT_TOKEN(name, spelling) spelling,
#include "chat/compile/tokens.def"
#undef INGOT_TOKEN
};

constexpr auto first_operator = static_cast<std::size_t>(TokenKind::floor_divide);

bool begins_name(char c) noexcept {
  return ingot::is_letter(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

char closer_of(char opener) noexcept {
  return opener == '(' ? ')' : opener == '[' ? ']' : opener == '{' ? '}' : '\0';
}

}  // namespace

std::string describe(TokenKind kind) {
  return std::string(spellings[static_cast<std::size_t>(kind)]);
}

std::string describe(const Token& token) {
  return token.kind == TokenKind::name ? std::string(token.text) : describe(token.kind);
}

Token Lexer::token(TokenKind kind, std::size_t place, std::size_t end) {
  last_place_ = static_cast<std::uint32_t>(place);
  return {kind, last_place_, source_.substr(place, end - place)};
}

Token Lexer::fail(std::size_t place, std::string reason) {
  error_ =
      TemplateError{Errc::chat_syntax, static_cast<std::uint32_t>(place), std::move(reason), {}};
  next_ = source_.size();
  return {TokenKind::end_of_template, static_cast<std::uint32_t>(place), {}};
}

Token Lexer::next() {
  if (pending_) return take_pending();
  Token token;
  while (!error_ && next_ < source_.size()) {
    switch (state_) {
      case State::text:
        if (next_in_text(token)) return token;
        break;
      case State::raw:
        if (next_in_raw(token)) return token;
        break;
      case State::print:
      case State::statement:
        return next_in_tag();
    }
  }
  return {TokenKind::end_of_template, error_ ? error_->place : last_place_, {}};
}

Token Lexer::take_pending() {
  const Token token = *std::exchange(pending_, std::nullopt);
  last_place_ = token.place;
  return token;
}

/// The next "{{", "{%" or "{#"; npos if there is none.
std::size_t Lexer::find_mark(std::size_t from) const {
  for (std::size_t at = source_.find('{', from); at != std::string_view::npos;
       at = source_.find('{', at + 1)) {
    const char kind = at + 1 < source_.size() ? source_[at + 1] : '\0';
    if (kind == '{' || kind == '%' || kind == '#') return at;
  }
  return std::string_view::npos;
}

/// Behind a '-' or '+' that may stand at `from`.
std::size_t Lexer::behind_sign(std::size_t from) const {
  const bool has_sign = from < source_.size() && (source_[from] == '-' || source_[from] == '+');
  return has_sign ? from + 1 : from;
}

std::size_t Lexer::skip_spaces(std::size_t from) const {
  return source_.size() - strip_left(source_.substr(from)).size();
}

/// Text before a mark at `mark`, without what the mark removes.
std::string_view Lexer::strip_before(std::string_view text, std::size_t mark) const {
  const char sign = mark + 2 < source_.size() ? source_[mark + 2] : '\0';
  if (sign == '-') return strip_right(text);
  if (sign == '+' || source_[mark + 1] == '{') return text;
  const std::size_t line_start = text.rfind('\n') + 1;  // npos + 1 is 0
  const std::size_t text_start = mark - text.size();
  const bool starts_line = line_start > 0 || text_start == 0 || source_[text_start - 1] == '\n';
  if (!starts_line || !strip_left(text.substr(line_start)).empty()) return text;
  return text.substr(0, line_start);
}

/// Data up to the next tag; false if there was none, or it was a comment.
bool Lexer::next_in_text(Token& result) {
  const std::size_t start = next_;
  const std::size_t mark = find_mark(start);
  if (mark == std::string_view::npos) {
    next_ = source_.size();
    result = token(TokenKind::data, start, next_);
    return true;
  }
  const auto text = strip_before(source_.substr(start, mark - start), mark);
  const char kind = source_[mark + 1];
  if (kind == '#') {
    if (!skip_comment(mark)) return false;
  } else if (kind != '%' || !enter_raw(mark)) {
    enter_tag(mark, kind);
  }
  if (text.empty()) {
    if (!pending_) return false;
    result = take_pending();
    return true;
  }
  result = token(TokenKind::data, start, start + text.size());
  return true;
}

void Lexer::enter_tag(std::size_t mark, char kind) {
  next_ = behind_sign(mark + 2);
  state_ = kind == '{' ? State::print : State::statement;
  pending_ = Token{kind == '{' ? TokenKind::print_begin : TokenKind::statement_begin,
                   static_cast<std::uint32_t>(mark),
                   {}};
}

/// Moves behind an end mark of two characters whose sign is '-', '+' or none.
void Lexer::skip_end_mark(char sign, bool trims_line) {
  next_ += sign == '\0' ? 2 : 3;
  if (sign == '-') {
    next_ = skip_spaces(next_);
  } else if (sign == '\0' && trims_line && next_ < source_.size() && source_[next_] == '\n') {
    ++next_;
  }
}

bool Lexer::skip_comment(std::size_t mark) {
  const std::size_t start = behind_sign(mark + 2);
  next_ = start;
  if (start == source_.size()) return true;
  const std::size_t end = source_.find("#}", start);
  if (end == std::string_view::npos) {
    fail(start, "Missing end of comment tag");
    return false;
  }
  const char sign = end > start && behind_sign(end - 1) == end ? source_[end - 1] : '\0';
  next_ = sign == '\0' ? end : end - 1;
  skip_end_mark(sign, true);
  return true;
}

/// Enters `{% raw %}` if the tag at `mark` is one.
bool Lexer::enter_raw(std::size_t mark) {
  std::size_t at = skip_spaces(behind_sign(mark + 2));
  if (source_.substr(at, 3) != "raw") return false;
  at = skip_spaces(at + 3);
  const bool strips = source_.substr(at, 3) == "-%}";
  if (!strips && source_.substr(at, 2) != "%}") return false;
  next_ = at;
  skip_end_mark(strips ? '-' : '\0', false);
  state_ = State::raw;
  return true;
}

bool Lexer::next_in_raw(Token& result) {
  const std::size_t start = next_;
  for (std::size_t mark = source_.find("{%", start); mark != std::string_view::npos;
       mark = source_.find("{%", mark + 1)) {
    std::size_t at = skip_spaces(behind_sign(mark + 2));
    if (source_.substr(at, 6) != "endraw") continue;
    at = skip_spaces(at + 6);
    const char sign = behind_sign(at) > at ? source_[at] : '\0';
    if (source_.substr(sign == '\0' ? at : at + 1, 2) != "%}") continue;
    const auto text = strip_before(source_.substr(start, mark - start), mark);
    next_ = at;
    skip_end_mark(sign, true);
    state_ = State::text;
    if (text.empty()) return false;
    result = token(TokenKind::data, start, start + text.size());
    return true;
  }
  fail(start, "Missing end of raw directive");
  return false;
}

/// The end of a tag, if it stands here and no bracket is open.
bool Lexer::end_of_tag(Token& result) {
  if (!closers_.empty()) return false;
  const bool is_print = state_ == State::print;
  const std::string_view mark = is_print ? "}}" : "%}";
  const char sign =
      source_[next_] == '-' || (source_[next_] == '+' && !is_print) ? source_[next_] : '\0';
  if (source_.substr(sign == '\0' ? next_ : next_ + 1, 2) != mark) return false;
  result = token(is_print ? TokenKind::print_end : TokenKind::statement_end, next_, next_);
  skip_end_mark(sign, !is_print);
  state_ = State::text;
  return true;
}

Token Lexer::next_in_tag() {
  // The end mark comes first: where it may stand, white space before it does not hide it.
  Token result;
  if (end_of_tag(result)) return result;
  next_ = skip_spaces(next_);
  if (next_ == source_.size()) return {TokenKind::end_of_template, last_place_, {}};
  if (end_of_tag(result)) return result;
  const char c = source_[next_];
  if (is_digit(c)) return lex_number();
  if (begins_name(c)) return lex_name();
  if (c == '"' || c == '\'') return lex_string();
  return lex_operator();
}

Token Lexer::lex_name() {
  const std::size_t start = next_;
  while (next_ < source_.size()) {
    const char c = source_[next_];
    if (is_digit(c) || (begins_name(c) && static_cast<unsigned char>(c) < 0x80)) {
      ++next_;
      continue;
    }
    const Character character = first_character(source_.substr(next_));
    if (character.code_point < 0x80 || !continues_name(character.code_point)) break;
    next_ += character.size_bytes;
  }
  if (next_ == start) {
    const Character character = first_character(source_.substr(start));
    return fail(start, "unexpected char '" +
                           std::string(source_.substr(start, character.size_bytes)) + "'");
  }
  return token(TokenKind::name, start, next_);
}

/// The end of `digit (_? digit)*`; `from` if there is no digit.
std::size_t Lexer::digits_end(std::size_t from) const {
  std::size_t at = from;
  while (at < source_.size()) {
    const bool joins =
        source_[at] == '_' && at > from && at + 1 < source_.size() && is_digit(source_[at + 1]);
    if (!is_digit(source_[at]) && !joins) break;
    ++at;
  }
  return at;
}

/// The end of a float that starts at `from`; `from` if there is none.
std::size_t Lexer::float_end(std::size_t from) const {
  if (from > 0 && source_[from - 1] == '.') return from;  // `list.0.5` has two subscripts
  std::size_t end = digits_end(from);
  bool is_float = false;
  if (end < source_.size() && source_[end] == '.' && digits_end(end + 1) > end + 1) {
    end = digits_end(end + 1);
    is_float = true;
  }
  if (end < source_.size() && (source_[end] == 'e' || source_[end] == 'E')) {
    const std::size_t exponent = behind_sign(end + 1);
    if (digits_end(exponent) > exponent) {
      end = digits_end(exponent);
      is_float = true;
    }
  }
  return is_float ? end : from;
}

std::size_t Lexer::integer_end(std::size_t from) const {
  const auto run_of = [&](std::size_t start, std::string_view digits) {
    std::size_t at = start;
    while (at < source_.size()) {
      const std::size_t digit = source_[at] == '_' ? at + 1 : at;
      if (digit >= source_.size() || digits.find(source_[digit]) == std::string_view::npos) break;
      at = digit + 1;
    }
    return at;
  };
  if (source_[from] != '0') return digits_end(from);
  const char base = from + 1 < source_.size() ? lower_case(source_[from + 1]) : '\0';
  const std::string_view digits = base == 'x'   ? "0123456789abcdefABCDEF"
                                  : base == 'o' ? "01234567"
                                  : base == 'b' ? "01"
                                                : "";
  const std::size_t end = digits.empty() ? from : run_of(from + 2, digits);
  return end > from + 2 ? end : run_of(from + 1, "0");
}

Token Lexer::lex_number() {
  const std::size_t start = next_;
  next_ = float_end(start);
  if (next_ > start) return token(TokenKind::real, start, next_);
  next_ = integer_end(start);
  return token(TokenKind::integer, start, next_);
}

Token Lexer::lex_string() {
  const std::size_t start = next_;
  const char quote = source_[start];
  std::size_t end = start + 1;
  while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
  if (end >= source_.size()) {
    return fail(start, std::string("unexpected char ") + (quote == '"' ? "'\"'" : "\"'\"") +
                           ": the string is not closed");
  }
  next_ = end + 1;
  Token result = token(TokenKind::string, start, next_);
  const auto text = unescape_string(source_.substr(start + 1, end - start - 1), arena_);
  if (!text) return fail(start, text.error());
  result.text = *text;
  return result;
}

Token Lexer::lex_operator() {
  const std::size_t start = next_;
  for (std::size_t kind = first_operator; kind < spellings.size(); ++kind) {
    if (!source_.substr(start).starts_with(spellings[kind])) continue;
    next_ += spellings[kind].size();
    if (!balance(source_[start])) return fail(error_->place, std::move(error_->reason));
    return token(static_cast<TokenKind>(kind), start, next_);
  }
  return fail(start, std::string("unexpected char '") + source_[start] + "'");
}

/// Keeps account of brackets; false if this one closes none.
bool Lexer::balance(char bracket) {
  if (const char closer = closer_of(bracket)) {
    closers_.push_back(closer);
    return true;
  }
  if (bracket != ')' && bracket != ']' && bracket != '}') return true;
  std::string reason = std::string("unexpected '") + bracket + "'";
  if (!closers_.empty()) {
    const char expected = closers_.back();
    closers_.pop_back();
    if (expected == bracket) return true;
    reason += std::string(", expected '") + expected + "'";
  }
  fail(next_ - 1, std::move(reason));
  return false;
}

}  // namespace ingot::chat
