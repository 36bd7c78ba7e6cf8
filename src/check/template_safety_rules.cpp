// SPDX-License-Identifier: MIT
// What in a chat template reaches into the program that renders it. Templates run in many programs,
// of which some have no sandbox, so that a name which Python keeps for itself is enough.
#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/strings.hpp"
#include "check/rules.hpp"
#include "ingot/metadata_keys.hpp"

namespace ingot::check::rules {
namespace {

/// Words that lead a template without a sandbox to Python's internals.
constexpr std::string_view suspicious_words[] = {
    "|attr(",     "|attr ",     "| attr(",  "lipsum",     "cycler.",     "joiner.",   "popen",
    "os.system",  "subprocess", "getattr(", "eval(",      "exec(",       "{% import", "{% include",
    "{% extends", "{% from",    "{%import", "{%- import", "{%- include", "self._"};

/// `__name__`, or the same written with escapes: \x5f is the underscore.
std::string_view find_dunder(std::string_view text) noexcept {
  for (std::size_t at = text.find("__"); at != std::string_view::npos;
       at = text.find("__", at + 1)) {
    std::size_t end = at + 2;
    while (end < text.size() && ((text[end] >= 'a' && text[end] <= 'z') || text[end] == '_')) ++end;
    const std::string_view word = text.substr(at, end - at);
    if (word.size() > 4 && word.ends_with("__")) return word;
  }
  for (const std::string_view code : {"\\x5f\\x5f", "\\x5F\\x5F", "\\u005f\\u005f", "\\137\\137"}) {
    if (text.find(code) != std::string_view::npos) return code;
  }
  return {};
}

constexpr bool is_space(char c) noexcept { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
constexpr bool is_word(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Looks through the expressions of a template for subscripts that are put together of texts, like
/// ''['__cl' + 'ass__'], which no search for a name finds.
class ComputedNames {
 public:
  explicit ComputedNames(std::string_view text) : text_(text) {}

  /// The first one, or nothing.
  std::string_view find() {
    for (at_ = 0; at_ + 1 < text_.size(); ++at_) {
      if (text_[at_] != '{' || (text_[at_ + 1] != '{' && text_[at_ + 1] != '%')) continue;
      const std::string_view closer = text_[at_ + 1] == '{' ? "}}" : "%}";
      at_ += 2;
      if (const std::string_view found = find_in_block(closer); !found.empty()) return found;
    }
    return {};
  }

 private:
  struct Bracket {
    std::size_t begin = 0;
    bool is_subscript = false;
    bool is_call = false;  ///< What it is given is not its value.
    bool has_text = false;
    bool is_composed = false;  ///< Of more than one value.
    bool is_slice = false;
    bool ends_with_text = false;
  };

  std::string_view find_in_block(std::string_view closer) {
    brackets_.assign(1, Bracket{});
    for (last_ = at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (is_space(c)) continue;
      if (brackets_.size() == 1 && text_.substr(at_).starts_with(closer)) return {};
      if (c == ']' || c == ')' || c == '}') {
        if (const std::string_view found = close(); !found.empty()) return found;
      } else {
        take(c);
      }
      last_ = at_;
    }
    return {};
  }

  void take(char c) {
    Bracket& bracket = brackets_.back();
    const bool follows_text = bracket.ends_with_text;
    bracket.ends_with_text = false;
    if (c == '\'' || c == '"') {
      skip_text(c);
      bracket.is_composed |= follows_text;
      bracket.has_text = bracket.ends_with_text = true;
    } else if (c == '[' || c == '(' || c == '{') {
      const bool follows_value = is_after_value();
      brackets_.push_back({.begin = at_,
                           .is_subscript = c == '[' && follows_value,
                           .is_call = c == '(' && follows_value});
    } else if (std::string_view("+~|%*").find(c) != std::string_view::npos) {
      bracket.is_composed = true;
    } else if (c == ':') {
      bracket.is_slice = true;
    }
  }

  void skip_text(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
  }

  /// Whether the value of an expression ends here, of which a bracket then takes a part.
  [[nodiscard]] bool is_after_value() const {
    const char last = text_[last_];
    if (last == ']' || last == ')' || last == '}' || last == '\'' || last == '"') return true;
    if (last_ >= at_ || !is_word(last)) return false;
    std::size_t begin = last_;
    while (begin > 0 && is_word(text_[begin - 1])) --begin;
    constexpr std::array<std::string_view, 10> operators = {"in",   "not",  "and", "or",  "if",
                                                            "else", "elif", "is",  "set", "do"};
    return std::ranges::find(operators, text_.substr(begin, last_ + 1 - begin)) == operators.end();
  }

  std::string_view close() {
    if (brackets_.size() == 1) return {};
    const Bracket closed = brackets_.back();
    brackets_.pop_back();
    if (closed.is_subscript && closed.has_text && closed.is_composed && !closed.is_slice) {
      return text_.substr(closed.begin, at_ + 1 - closed.begin);
    }
    if (closed.is_subscript || closed.is_call) return {};
    brackets_.back().has_text |= closed.has_text;
    brackets_.back().is_composed |= closed.is_composed;
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t last_ = 0;  ///< The last character that is no space.
  std::vector<Bracket> brackets_;
};

std::string_view find_suspicious(std::string_view text) {
  if (const std::string_view dunder = find_dunder(text); !dunder.empty()) return dunder;
  for (const std::string_view word : suspicious_words) {
    if (text.find(word) != std::string_view::npos) return word;
  }
  constexpr std::size_t max_bytes = 60;  // of what a finding repeats
  return ComputedNames(text).find().substr(0, max_bytes);
}

}  // namespace

void template_unsafe(Inspection& inspection) {
  const auto look = [&](const KeyValue& entry, const Value& value, std::size_t file) {
    const Result<std::string_view> text = value.get<std::string_view>();
    if (!text) return;
    const std::string_view word = find_suspicious(*text);
    if (word.empty()) return;
    inspection.report_key(entry, "the template holds " + in_quotes(word), file);
  };
  for_each_key(inspection, [&](const KeyValue& entry, std::size_t file) {
    if (!entry.key.starts_with(keys::tokenizer_chat_template)) return;
    if (!entry.value.is_array()) return look(entry, entry.value, file);
    for (const Value& element : entry.value.as_array()) look(entry, element, file);
  });
}

}  // namespace ingot::check::rules
