// SPDX-License-Identifier: MIT
// The part of YAML that model cards use: objects and lists by indentation, lists in brackets, texts
// plain, quoted or as blocks. What else YAML has is refused by name.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/strings.hpp"
#include "huggingface/import/general/card_parser.hpp"

namespace ingot::huggingface {
namespace {

struct Line {
  std::size_t indent = 0;
  std::string_view text;  ///< Without the indent; empty for a blank line.
  std::size_t number = 0;
};

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// A plain text ends where a comment begins.
std::string_view without_comment(std::string_view text) {
  if (text.starts_with('#')) return {};
  return trimmed(text.substr(0, text.find(" #")));
}

/// Where the name of a member ends: at a colon before a space or the end.
std::size_t find_colon(std::string_view text) {
  const char quote = text.starts_with('"') || text.starts_with('\'') ? text.front() : '\0';
  std::size_t from = quote == '\0' ? 0 : text.find(quote, 1);
  while (from < text.size()) {
    from = text.find(':', from);
    if (from == text.npos || from + 1 == text.size() || text[from + 1] == ' ') return from;
    ++from;
  }
  return text.npos;
}

bool is_item(std::string_view text) { return text == "-" || text.starts_with("- "); }

class SimpleParser {
 public:
  SimpleParser(std::string_view text, std::string file, std::size_t first_line)
      : file_(std::move(file)) {
    for (std::size_t number = first_line; !text.empty(); ++number) {
      std::string_view line = take_part(text, '\n');
      if (line == "---" && lines_.empty()) continue;
      if (line == "..." || line == "---") break;
      while (line.ends_with(' ')) line.remove_suffix(1);
      const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
      lines_.push_back({indent, line.substr(indent), number});
    }
  }

  [[nodiscard]] Result<CardValue> parse() {
    skip();
    INGOT_TRY(CardValue value, parse_block(0, 0));
    skip();
    if (at_ < lines_.size()) return refuse("a line with another indentation");
    if (value.kind == CardValue::Kind::object) return value;
    return CardValue{CardValue::Kind::object, {}, {}, {}};
  }

 private:
  [[nodiscard]] Failure refuse(const std::string& what, Errc code = Errc::import_refused) const {
    const std::size_t number = lines_.empty() ? 1 : lines_[std::min(at_, lines_.size() - 1)].number;
    return fail({.code = code,
                 .subject = file_,
                 .detail = what + "; mend or remove it: on this system the simple forms of YAML "
                                  "alone are read",
                 .line = static_cast<std::uint32_t>(number)});
  }

  /// Goes on to a line with content.
  void skip() {
    while (at_ < lines_.size() && without_comment(lines_[at_].text).empty()) ++at_;
  }

  [[nodiscard]] bool is_within(std::size_t least_indent) {
    skip();
    return at_ < lines_.size() && lines_[at_].indent >= least_indent;
  }

  Result<CardValue> parse_block(std::size_t least_indent, std::size_t depth) {
    if (!is_within(least_indent)) return CardValue();
    if (depth > max_card_depth) {
      return refuse("values are nested deeper than " + std::to_string(max_card_depth),
                    Errc::limit_exceeded);
    }
    const std::size_t indent = lines_[at_].indent;
    const bool is_list = is_item(lines_[at_].text);
    CardValue value;
    if (!is_list && find_colon(lines_[at_].text) == std::string_view::npos) {
      const std::string_view text = lines_[at_].text;
      return parse_value(text, indent, indent, depth);
    }
    value.kind = is_list ? CardValue::Kind::list : CardValue::Kind::object;
    while (is_within(indent) && lines_[at_].indent == indent &&
           is_item(lines_[at_].text) == is_list) {
      if (is_list) {
        INGOT_TRY_VOID(parse_item(value, indent, depth));
      } else {
        INGOT_TRY_VOID(parse_member(value, indent, depth));
      }
    }
    if (is_within(indent + 1)) return refuse("a line with another indentation");
    return value;
  }

  Result<void> parse_item(CardValue& list, std::size_t indent, std::size_t depth) {
    Line& line = lines_[at_];
    std::string_view rest = line.text.substr(1);
    const std::size_t blanks = std::min(rest.find_first_not_of(' '), rest.size());
    rest.remove_prefix(blanks);
    const bool is_inner =
        is_item(rest) || (find_colon(rest) != rest.npos && !rest.starts_with('['));
    if (is_inner && !rest.empty()) {  // a list or an object that begins in the line of its dash
      line.indent += 1 + blanks;
      line.text = rest;
      INGOT_TRY(CardValue inner, parse_block(line.indent, depth + 1));
      list.items.push_back(std::move(inner));
      return {};
    }
    INGOT_TRY(CardValue item, parse_value(rest, indent + 1, indent + 1, depth));
    list.items.push_back(std::move(item));
    return {};
  }

  Result<void> parse_member(CardValue& object, std::size_t indent, std::size_t depth) {
    const std::string_view text = lines_[at_].text;
    const std::size_t colon = find_colon(text);
    if (colon == text.npos) return refuse("it is not YAML (a member has no colon)");
    INGOT_TRY(const CardValue name, scalar(trimmed(text.substr(0, colon))));
    // A list may stand as far left as the name that it belongs to.
    const std::string_view rest = trimmed(text.substr(colon + 1));
    const bool is_empty = without_comment(rest).empty();
    std::size_t block_indent = indent + 1;
    if (is_empty) {
      const std::size_t here = at_++;
      if (is_within(indent) && lines_[at_].indent == indent && is_item(lines_[at_].text)) {
        block_indent = indent;
      }
      at_ = here;
    }
    INGOT_TRY(CardValue value, parse_value(rest, block_indent, indent + 1, depth));
    object.names.push_back(name.text);
    object.items.push_back(std::move(value));
    return {};
  }

  /// A value that begins with `rest` of this line, or is the block of the next ones.
  Result<CardValue> parse_value(std::string_view rest, std::size_t block_indent,
                                std::size_t text_indent, std::size_t depth) {
    if (without_comment(rest).empty()) {
      ++at_;
      return parse_block(block_indent, depth + 1);
    }
    if (rest.starts_with('|') || rest.starts_with('>')) return parse_text_block(rest, text_indent);
    if (rest.starts_with('[')) return parse_brackets(without_comment(rest));
    std::string all(rest.starts_with('"') || rest.starts_with('\'') ? rest : without_comment(rest));
    INGOT_TRY(CardValue value, scalar(all));
    ++at_;
    // The next lines of a plain text.
    while (value.kind == CardValue::Kind::text && !all.starts_with('"') && !all.starts_with('\'') &&
           is_within(text_indent) && lines_[at_].indent >= text_indent) {
      if (find_colon(lines_[at_].text) != std::string_view::npos) {
        return refuse("it is not YAML (a member within a text)");
      }
      value.text.append(" ").append(without_comment(lines_[at_].text));
      ++at_;
    }
    return value;
  }

  Result<CardValue> parse_brackets(std::string_view text) {
    if (!text.ends_with(']')) return refuse("a list in brackets over several lines");
    CardValue list;
    list.kind = CardValue::Kind::list;
    std::string_view rest = trimmed(text.substr(1, text.size() - 2));
    while (!rest.empty()) {
      const bool is_quoted = rest.starts_with('"') || rest.starts_with('\'');
      const std::size_t from = is_quoted ? rest.find(rest.front(), 1) : 0;
      const std::size_t end = std::min(rest.find(',', std::min(from, rest.size())), rest.size());
      const std::string_view item = trimmed(rest.substr(0, end));
      if (item.find_first_of("[]{}") != item.npos && !is_quoted) {
        return refuse("brackets within brackets");
      }
      INGOT_TRY(CardValue value, scalar(item));
      list.items.push_back(std::move(value));
      rest = trimmed(rest.substr(std::min(end + 1, rest.size())));
    }
    ++at_;
    return list;
  }

  /// Lines as they are (`|`), or joined by spaces (`>`).
  Result<CardValue> parse_text_block(std::string_view rest, std::size_t least_indent) {
    const std::string_view marks = without_comment(rest);
    const char chomp = marks.size() == 2 ? marks[1] : '\0';
    if (marks.size() > 2 || (marks.size() == 2 && chomp != '-' && chomp != '+')) {
      return refuse("the head of a block of text");
    }
    ++at_;
    CardValue value;
    value.kind = CardValue::Kind::text;
    std::optional<std::size_t> indent;
    std::size_t breaks = 0;
    bool is_deeper_before = false;
    for (; at_ < lines_.size(); ++at_) {
      const Line& line = lines_[at_];
      if (line.text.empty()) {
        ++breaks;
        continue;
      }
      if (line.indent < indent.value_or(least_indent)) break;
      if (!indent) indent = line.indent;
      const bool is_deeper = line.indent > *indent;
      // Folding keeps the ends of lines that are indented more, and of those beside them.
      const bool is_folded =
          rest.front() == '>' && !value.text.empty() && !is_deeper && !is_deeper_before;
      if (is_folded) {
        value.text.append(breaks == 1 ? " " : std::string(breaks == 0 ? 0 : breaks - 1, '\n'));
      } else {
        value.text.append(breaks, '\n');
      }
      value.text.append(line.indent - *indent, ' ').append(line.text);
      is_deeper_before = is_deeper;
      breaks = 1;
    }
    if (chomp == '+') value.text.append(breaks, '\n');
    if (chomp == '\0' && !value.text.empty()) value.text += '\n';
    return value;
  }

  Result<CardValue> scalar(std::string_view text) {
    CardValue value;
    if (is_null(text)) return value;
    value.kind = CardValue::Kind::text;
    if (text.starts_with('\'')) {
      const std::size_t end = text.rfind('\'');
      if (end == 0 || !without_comment(trimmed(text.substr(end + 1))).empty()) {
        return refuse("a quoted text over several lines");
      }
      value.text = text.substr(1, end - 1);
      replace_all(value.text, "''", "'");
      return value;
    }
    if (text.starts_with('"')) {
      INGOT_TRY(value.text, unquoted(text));
      return value;
    }
    if (text.front() == '*') {
      return refuse("aliases are not read; put quotes around a text that begins with *");
    }
    if (std::string_view("&!%@`{}[],").find(text.front()) != std::string_view::npos) {
      return refuse(std::string("a value that begins with ") + text.front());
    }
    value.text = text;
    return value;
  }

  Result<std::string> unquoted(std::string_view text) {
    std::string out;
    for (std::size_t i = 1; i < text.size(); ++i) {
      if (text[i] == '"') {
        if (!without_comment(trimmed(text.substr(i + 1))).empty()) break;
        return out;
      }
      if (text[i] != '\\') {
        out += text[i];
        continue;
      }
      constexpr std::string_view letters = "\\\"/ ntr0";
      constexpr std::string_view meanings = {"\\\"/ \n\t\r\0", 8};
      const std::size_t which =
          i + 1 < text.size() ? letters.find(text[i + 1]) : std::string_view::npos;
      if (which == std::string_view::npos) return refuse("an escape in a quoted text");
      out += meanings[which];
      ++i;
    }
    return refuse("a quoted text over several lines");
  }

  std::string file_;
  std::vector<Line> lines_;
  std::size_t at_ = 0;
};

}  // namespace

Result<CardValue> parse_simple_card(std::string_view text, const std::string& file,
                                    std::size_t first_line) {
  return SimpleParser(text, file, first_line).parse();
}

}  // namespace ingot::huggingface
