// SPDX-License-Identifier: MIT
#include "text/name_match.hpp"

#include <ingot/text.hpp>
#include <optional>

// Without exceptions std::regex cannot refuse an expression: then there are globs alone.
#ifdef __cpp_exceptions
#include <CLI/CLI.hpp>
#include <regex>
#endif

namespace ingot::cli {
namespace {

/// Bytes of the character that `text` begins with: `?` and sets take whole UTF-8 characters.
std::size_t character_bytes(std::string_view text) noexcept {
  std::size_t size = 1;
  while (size < text.size() && size < 4 && (text[size] & 0xc0) == 0x80) ++size;
  return size;
}

struct SetMatch {
  std::size_t glob_bytes;  // size of the whole set, brackets included
  bool is_match;
};

/// Whether `character` is in the set that `glob` begins with; nothing if no bracket closes it.
std::optional<SetMatch> match_set(std::string_view glob, std::string_view character) noexcept {
  std::size_t at = 1;
  const bool is_negated = at < glob.size() && (glob[at] == '!' || glob[at] == '^');
  if (is_negated) ++at;
  bool is_in_set = false;
  for (bool is_first = true; at < glob.size(); is_first = false) {
    if (glob[at] == ']' && !is_first) return SetMatch{at + 1, is_in_set != is_negated};
    const std::string_view low = glob.substr(at, character_bytes(glob.substr(at)));
    at += low.size();
    std::string_view high = low;
    if (at + 1 < glob.size() && glob[at] == '-' && glob[at + 1] != ']') {
      high = glob.substr(at + 1, character_bytes(glob.substr(at + 1)));
      at += 1 + high.size();
    }
    // The order of UTF-8 bytes is the order of the characters.
    is_in_set = is_in_set || (low <= character && character <= high);
  }
  return std::nullopt;
}

/// Matches the first item of `glob`, which is not `*`, with the start of `text`; takes both away.
bool match_item(std::string_view& glob, std::string_view& text) noexcept {
  const std::string_view character = text.substr(0, character_bytes(text));
  if (glob.front() == '?') {
    glob.remove_prefix(1);
    text.remove_prefix(character.size());
    return true;
  }
  if (glob.front() == '[') {
    if (const auto set = match_set(glob, character)) {
      if (!set->is_match) return false;
      glob.remove_prefix(set->glob_bytes);
      text.remove_prefix(character.size());
      return true;
    }
  }
  const std::size_t escape = glob.front() == '\\' && glob.size() > 1 ? 1 : 0;
  if (glob[escape] != text.front()) return false;
  glob.remove_prefix(escape + 1);
  text.remove_prefix(1);
  return true;
}

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// Takes the run of digits at the start of `text` away and returns it without leading zeros.
std::string_view take_number(std::string_view& text) noexcept {
  std::size_t end = 0;
  while (end < text.size() && is_digit(text[end])) ++end;
  std::string_view number = text.substr(0, end);
  text.remove_prefix(end);
  while (number.size() > 1 && number.front() == '0') number.remove_prefix(1);
  return number;
}

#ifdef __cpp_exceptions
NameMatcher expression_matcher(const std::string& pattern, std::size_t expression_begin) {
  // std::regex calls itself for each character, and names in files may be as long as they like.
  constexpr std::size_t longest_name = 1024;
  try {
    const std::regex expression(pattern.substr(expression_begin), std::regex::optimize);
    return [expression](std::string_view name) {
      return name.size() <= longest_name && std::regex_search(name.begin(), name.end(), expression);
    };
  } catch (const std::regex_error&) {
    throw CLI::ValidationError("\"" + escape_shortened(pattern, 60) +
                               "\" is no regular expression");
  }
}
#endif

}  // namespace

bool matches_glob(std::string_view glob, std::string_view text) noexcept {
  // After a mismatch only the last `*` has to take one character more: earlier ones need not.
  std::optional<std::string_view> after_star;
  std::string_view star_text;
  while (!text.empty()) {
    if (!glob.empty() && glob.front() == '*') {
      glob.remove_prefix(1);
      after_star = glob;
      star_text = text;
    } else if (!glob.empty() && match_item(glob, text)) {
      continue;
    } else if (after_star) {
      star_text.remove_prefix(1);
      text = star_text;
      glob = *after_star;
    } else {
      return false;
    }
  }
  return glob.find_first_not_of('*') == std::string_view::npos;
}

NameMatcher name_matcher(const std::string& pattern) {
#ifdef __cpp_exceptions
  constexpr std::string_view mark = "re:";
  if (pattern.starts_with(mark)) return expression_matcher(pattern, mark.size());
#endif
  return [pattern](std::string_view name) { return matches_glob(pattern, name); };
}

NameFilter::NameFilter(const std::vector<std::string>& globs) {
  for (const std::string& glob : globs) globs_.push_back({glob, name_matcher(glob)});
}

bool NameFilter::matches(std::string_view name) {
  bool is_match = globs_.empty();
  for (Glob& glob : globs_) {
    if (is_match && glob.has_matched) continue;
    if (!glob.matches(name)) continue;
    glob.has_matched = true;
    is_match = true;
  }
  return is_match;
}

std::vector<std::string_view> NameFilter::unmatched() const {
  std::vector<std::string_view> result;
  for (const Glob& glob : globs_) {
    if (!glob.has_matched) result.push_back(glob.text);
  }
  return result;
}

bool natural_less(std::string_view a, std::string_view b) noexcept {
  const std::string_view whole_a = a;
  const std::string_view whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view number_a = take_number(a);
      const std::string_view number_b = take_number(b);
      if (number_a.size() != number_b.size()) return number_a.size() < number_b.size();
      if (number_a != number_b) return number_a < number_b;
    } else {
      if (a.front() != b.front()) {
        return static_cast<unsigned char>(a.front()) < static_cast<unsigned char>(b.front());
      }
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  if (a.empty() != b.empty()) return a.empty();
  return whole_a < whole_b;  // 1 and 01 are different names
}

}  // namespace ingot::cli
