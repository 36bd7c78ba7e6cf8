// SPDX-License-Identifier: MIT
// Rules about the text of chat templates, and about their names.
#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/strings.hpp"
#include "check/rules.hpp"
#include "ingot/metadata_keys.hpp"

namespace ingot::check::rules {
namespace {

constexpr bool is_continuation(char byte) noexcept {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

/// Takes the first line off a text, without its end: LF or CRLF.
std::string_view take_line(std::string_view& text) noexcept {
  std::string_view line = take_part(text, '\n');
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// Bytes that two lines have in common, of whole characters.
std::size_t common_bytes(std::string_view line, std::string_view other) noexcept {
  const auto [end, ignored] = std::mismatch(line.begin(), line.end(), other.begin(), other.end());
  auto size = static_cast<std::size_t>(end - line.begin());
  const auto is_inside_character = [&](std::string_view text) {
    return size < text.size() && is_continuation(text[size]);
  };
  while (size != 0 && (is_inside_character(line) || is_inside_character(other))) --size;
  return size;
}

/// The first place in which two templates differ, but for line ends; empty if they are the same.
std::string difference_of(std::string_view text, std::string_view expected) {
  for (std::size_t number = 1; !text.empty() || !expected.empty(); ++number) {
    const std::string line = "line " + std::to_string(number);
    if (text.empty()) return line + " is missing: " + in_quotes(take_line(expected));
    const std::string_view own = take_line(text);
    if (expected.empty()) return line + " is too much: " + in_quotes(own);
    const std::string_view other = take_line(expected);
    if (own == other) continue;
    const std::size_t size = common_bytes(own, other);
    const auto column = std::count_if(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(size),
                                      [](char c) { return !is_continuation(c); });
    return line + ", column " + std::to_string(column + 1) + " is " + in_quotes(own.substr(size)) +
           ", not " + in_quotes(other.substr(size));
  }
  return {};
}

/// The texts of an array of strings.
std::set<std::string_view> texts_of(const Value& value) {
  std::set<std::string_view> texts;
  if (!value.is_array()) return texts;
  for (const Value& element : value.as_array()) {
    if (const auto text = element.get<std::string_view>()) texts.insert(*text);
  }
  return texts;
}

}  // namespace

void template_escaped(Inspection& inspection) {
  constexpr std::array marks = {std::string_view("\\n{%"), std::string_view("\\n{{")};
  for (const TemplateFacts& facts : inspection.templates()) {
    const std::string_view text = facts.entry->value.get<std::string_view>().value_or("");
    const bool has_line_ends = text.find('\n') != std::string_view::npos;
    const bool has_marks = std::ranges::any_of(
        marks, [&](std::string_view mark) { return text.find(mark) != std::string_view::npos; });
    const bool is_quoted = text.starts_with('"') && text.ends_with('"') && text.size() > 1;
    if (!is_quoted && (!has_marks || has_line_ends)) continue;
    inspection.report_template(facts, is_quoted ? "the text stands in quotes, as in JSON"
                                                : "line ends are written \\n, as in JSON");
  }
}

void template_line_ends(Inspection& inspection) {
  for (const TemplateFacts& facts : inspection.templates()) {
    const std::string_view text = facts.entry->value.get<std::string_view>().value_or("");
    const std::size_t place = text.find('\r');
    if (place == std::string_view::npos) continue;
    const bool is_pair = text.substr(place + 1, 1) == "\n";
    const auto line =
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(place), '\n');
    inspection.report_template(
        facts, "line " + std::to_string(line + 1) + " ends with " + (is_pair ? "CRLF" : "CR"));
  }
}

void template_differs(Inspection& inspection) {
  if (!inspection.expected_template()) return;
  for (const TemplateFacts& facts : inspection.templates()) {
    if (facts.entry->key != keys::tokenizer_chat_template) continue;
    const std::string_view text = facts.entry->value.get<std::string_view>().value_or("");
    std::string difference = difference_of(text, *inspection.expected_template());
    if (!difference.empty()) inspection.report_template(facts, std::move(difference));
  }
}

void template_names(Inspection& inspection) {
  const KeyValue* list = nullptr;
  std::size_t list_file = 0;
  std::set<std::string_view> names;
  for_each_key(inspection, [&](const KeyValue& entry, std::size_t file) {
    if (entry.key == keys::tokenizer_chat_templates) {
      list = &entry;
      list_file = file;
    } else if (entry.key.starts_with(keys::tokenizer_chat_template) &&
               entry.key != keys::tokenizer_chat_template &&
               entry.key[keys::tokenizer_chat_template.size()] == '.') {
      names.insert(entry.key.substr(keys::tokenizer_chat_template.size() + 1));
    }
  });
  if (list == nullptr) return;
  const std::set<std::string_view> listed = texts_of(list->value);
  for (const std::string_view name : listed) {
    if (names.contains(name) || name == "default") continue;
    inspection.report_key(*list, "there is no template " + in_quotes(name), list_file);
  }
  for (const std::string_view name : names) {
    if (listed.contains(name)) continue;
    inspection.report_key(*list, "it does not name the template " + in_quotes(name), list_file);
  }
}

}  // namespace ingot::check::rules
