// SPDX-License-Identifier: MIT
#include "remote/http/answer_headers.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "base/ascii.hpp"
#include "base/strings.hpp"
#include "ingot/text.hpp"

namespace ingot::remote {
namespace {

std::string_view trimmed(std::string_view text) noexcept {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// Removes `prefix` in any case, and the blanks behind it.
bool take_word(std::string_view& text, std::string_view prefix) {
  if (lower_case(text.substr(0, prefix.size())) != prefix) return false;
  text = trimmed(text.substr(prefix.size()));
  return true;
}

/// Takes `name=value` or `name="value"` and the separator behind it.
bool take_parameter(std::string_view& text, char separator, std::string& name, std::string& value) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return false;
  name = lower_case(trimmed(text.substr(0, equals)));
  text = trimmed(text.substr(equals + 1));
  if (text.starts_with('"')) {
    const std::size_t end = text.find('"', 1);
    if (end == std::string_view::npos) return false;
    value = text.substr(1, end - 1);
    text = trimmed(text.substr(end + 1));
  } else {
    const std::size_t end = std::min(text.find(separator), text.size());
    value = trimmed(text.substr(0, end));
    text = text.substr(end);
  }
  if (text.starts_with(separator)) text = trimmed(text.substr(1));
  return true;
}

}  // namespace

bool AnswerHeaders::add(std::string_view line) {
  size_bytes_ += line.size();
  if (++line_count_ > max_lines || size_bytes_ > max_bytes) return false;
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return true;
  lines_.emplace_back(lower_case(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
  return true;
}

void AnswerHeaders::clear() {
  // The bytes of informational answers count as well, so the sums stay.
  lines_.clear();
}

std::optional<std::string_view> AnswerHeaders::find(std::string_view name) const noexcept {
  for (const auto& [key, value] : lines_) {
    if (key == name) return value;
  }
  return std::nullopt;
}

std::string AnswerHeaders::contradiction() const {
  constexpr std::string_view single[] = {
      "content-encoding", "content-length", "content-range", "etag",
      "location",         "x-linked-etag",  "x-linked-size"};
  constexpr std::size_t shown_bytes = 60;
  for (const auto& [name, value] : lines_) {
    const std::string_view first = *find(name);
    if (value == first || std::ranges::find(single, name) == std::end(single)) continue;
    return "it sends two lines " + name + ", \"" + escape_shortened(first, shown_bytes) +
           "\" and \"" + escape_shortened(value, shown_bytes) + "\"";
  }
  return {};
}

std::optional<std::uint64_t> parse_decimal(std::string_view text) noexcept {
  const auto number = parse_number<std::uint64_t>(text);
  const bool is_too_large =
      number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return is_too_large ? std::nullopt : number;
}

std::optional<ContentRange> parse_content_range(std::string_view text) noexcept {
  constexpr std::string_view unit = "bytes ";
  if (lower_case(text.substr(0, unit.size())) != unit) return std::nullopt;
  text = trimmed(text.substr(unit.size()));
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  ContentRange range;
  if (text.substr(slash + 1) != "*") {
    range.total_bytes = parse_decimal(text.substr(slash + 1));
    if (!range.total_bytes) return std::nullopt;
  }
  const std::string_view part = text.substr(0, slash);
  if (part == "*") return range.total_bytes ? std::optional(range) : std::nullopt;
  const std::size_t dash = part.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto first = parse_decimal(part.substr(0, dash));
  const auto last = parse_decimal(part.substr(dash + 1));
  if (!first || !last || *first > *last) return std::nullopt;
  if (range.total_bytes && *last >= *range.total_bytes) return std::nullopt;
  range.has_range = true;
  range.first = *first;
  range.last = *last;
  return range;
}

std::optional<std::string> parse_next_link(std::string_view text) {
  while (!text.empty()) {
    const std::size_t open = text.find('<');
    const std::size_t close = open == std::string_view::npos ? open : text.find('>', open);
    if (close == std::string_view::npos) return std::nullopt;
    const std::string_view target = text.substr(open + 1, close - open - 1);
    const std::size_t end = std::min(text.find(",", close), text.size());
    const std::string parameters = lower_case(text.substr(close + 1, end - close - 1));
    if (parameters.find("rel=\"next\"") != std::string::npos ||
        parameters.find("rel=next") != std::string::npos) {
      return std::string(target);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::nullopt;
}

std::optional<BearerChallenge> parse_bearer_challenge(std::string_view text) {
  text = trimmed(text);
  if (!take_word(text, "bearer")) return std::nullopt;
  BearerChallenge challenge;
  std::string name;
  std::string value;
  while (!text.empty()) {
    if (!take_parameter(text, ',', name, value)) return std::nullopt;
    if (name == "realm") challenge.realm = value;
    if (name == "service") challenge.service = value;
    if (name == "scope") challenge.scope = value;
  }
  return challenge.realm.empty() ? std::nullopt : std::optional(std::move(challenge));
}

std::string_view without_quotes(std::string_view text) noexcept {
  if (text.starts_with("W/")) text.remove_prefix(2);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    return text.substr(1, text.size() - 2);
  }
  return text;
}

bool is_strong_tag(std::string_view tag) noexcept {
  return tag.size() >= 2 && tag.front() == '"' && tag.back() == '"';
}

}  // namespace ingot::remote
