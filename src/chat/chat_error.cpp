// SPDX-License-Identifier: MIT
#include <algorithm>

#include "chat/values/characters.hpp"
#include "ingot/chat.hpp"
#include "ingot/text.hpp"

namespace ingot {
namespace {

constexpr std::size_t max_reason_columns = 1000;
constexpr std::size_t max_line_columns = 100;
constexpr std::size_t max_calls = 8;

/// The part of a source line around a column, and a mark below the column.
std::string marked_line(const Error& error) {
  // Columns count characters, and an escape is several; so the line is escaped in two parts.
  const std::string_view line = error.excerpt->source_line;
  const std::size_t split = chat::byte_of_character(line, error.column - 1);
  std::string before = escape(line.substr(0, split));
  std::size_t columns = display_columns(before);
  if (columns > max_line_columns / 2) {
    std::size_t cut = split;
    while (cut > 0 && display_columns(escape(line.substr(cut, split - cut))) < max_line_columns / 2)
      --cut;
    while (cut < split && (static_cast<unsigned char>(line[cut]) & 0xC0u) == 0x80) ++cut;
    before = "..." + escape(line.substr(cut, split - cut));
    columns = display_columns(before);
  }
  return "  " + before + escape_shortened(line.substr(split), max_line_columns / 2) + "\n  " +
         std::string(columns, ' ') + "^";
}

}  // namespace

std::string chat_error_text(const Error& error) {
  if (error.excerpt == nullptr) return error.message();
  std::string text = "chat template";
  if (!error.subject.empty()) text += " \"" + escape_shortened(error.subject, 80) + '"';
  text += ", line " + std::to_string(error.line) + ", column " + std::to_string(error.column) +
          ": " + escape_shortened(error.detail, max_reason_columns) + "\n" + marked_line(error);
  const std::vector<TextExcerpt::Call>& calls = error.excerpt->calls;
  for (std::size_t i = 0; i < std::min(calls.size(), max_calls); ++i) {
    text += "\n  in macro " + escape_shortened(calls[i].macro, 80) + ", called in line " +
            std::to_string(calls[i].line);
  }
  if (calls.size() > max_calls) {
    text += "\n  and " + std::to_string(calls.size() - max_calls) + " more";
  }
  return text;
}

}  // namespace ingot
