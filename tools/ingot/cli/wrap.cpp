// SPDX-License-Identifier: MIT
#include "cli/wrap.hpp"

#include <algorithm>
#include <ingot/text.hpp>
#include <vector>

namespace ingot::cli {
namespace {

/// Columns of text in which colours may change: ESC [ ... m takes none.
std::size_t shown_columns(std::string_view text) {
  std::size_t columns = 0;
  for (;;) {
    const std::size_t start = text.find('\x1b');
    columns += display_columns(text.substr(0, start));
    const std::size_t end = start == std::string_view::npos ? start : text.find('m', start);
    if (end == std::string_view::npos) return columns;
    text.remove_prefix(end + 1);
  }
}

// --- help texts ----------------------------------------------------------------------------------

/// The offset of the last part of a row, after two or more spaces; 0 if it has only one part.
std::size_t last_part(std::string_view line) {
  const std::size_t gap = line.rfind("  ");
  if (gap == std::string_view::npos) return 0;
  const std::size_t start = line.find_first_not_of(' ', gap);
  return start == std::string_view::npos || line.find_first_not_of(' ') > gap ? 0 : start;
}

/// The words of a command; a quoted text is one word, and so are an option and its value.
std::vector<std::string_view> command_words(std::string_view line) {
  std::vector<std::string_view> words;
  std::size_t start = 0;
  char quote = '\0';
  for (std::size_t i = 0; i <= line.size(); ++i) {
    const char c = i < line.size() ? line[i] : ' ';
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == ' ') {
      const std::string_view word = line.substr(start, i - start);
      const bool is_value = !words.empty() && words.back().starts_with('-') &&
                            words.back().find(' ') == std::string_view::npos &&
                            !word.starts_with('-');
      if (is_value && !word.empty()) {
        const std::size_t option = static_cast<std::size_t>(words.back().data() - line.data());
        words.back() = line.substr(option, i - option);
      } else if (!word.empty()) {
        words.push_back(word);
      }
      start = i + 1;
    }
  }
  if (quote != '\0') return {line};
  return words;
}

/// A command that can be copied as it stands; its comment comes before it.
std::string wrap_command(std::string_view line, std::size_t width) {
  constexpr std::size_t indent = 2;
  std::string text;
  if (const std::size_t comment = line.find(" # "); comment != std::string_view::npos) {
    text = "  " + wrap(line.substr(comment + 1), width, indent + 2, indent) + "\n";
    line = line.substr(0, comment);
  }
  std::size_t used = 0;
  for (const std::string_view word : command_words(line)) {
    if (used > 0 && used + 1 + word.size() + 2 > width) {
      text += " \\\n" + std::string(2 * indent, ' ');
      used = 2 * indent;
    } else {
      text += used == 0 ? std::string(indent, ' ') : " ";
      used += used == 0 ? indent : 1;
    }
    text += word;
    used += word.size();
  }
  return text;
}

}  // namespace

std::string wrap(std::string_view text, std::size_t width, std::size_t indent, std::size_t used) {
  std::string result;
  bool is_line_start = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t columns = shown_columns(word);
    if (!is_line_start && used + 1 + columns > width) {
      result += "\n" + std::string(indent, ' ');
      used = indent;
    } else if (!is_line_start) {
      result += ' ';
      ++used;
    }
    result += word;
    used += columns;
    is_line_start = false;
  }
  return result;
}

std::string wrap_notes(std::string_view text, std::size_t width) {
  std::string result;
  std::string sentence;
  bool is_example = false;
  const auto finish = [&] {
    if (!sentence.empty()) result += wrap(sentence, width) + "\n";
    sentence.clear();
  };
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with(':')) is_example = line == "Examples:";
    const std::size_t part = last_part(line);
    if (line.empty() || line.front() == ' ' || part > 0) {
      finish();
      result += line.size() <= width ? std::string(line)
                : is_example         ? wrap_command(line, width)
                                     : std::string(line.substr(0, part)) +
                                   wrap(line.substr(part), width, std::min(part, width / 2), part);
      result += '\n';
      continue;
    }
    if (!sentence.empty()) sentence += ' ';
    sentence += line;
    if (line.ends_with('.') || line.ends_with(':')) finish();
  }
  finish();
  if (!result.empty()) result.pop_back();
  return result;
}

// --- names ---------------------------------------------------------------------------------------

namespace {

constexpr std::string_view ellipsis = "...";

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

/// The bytes of the character that begins at `start`, with marks that belong to no character.
std::size_t character_bytes(std::string_view text, std::size_t start) {
  std::size_t end = start + 1;
  while (end < text.size() && end < start + 4 && is_continuation(text[end])) ++end;
  return end - start;
}

/// The size of the character that ends at `end`.
std::size_t last_character_bytes(std::string_view text, std::size_t end) {
  std::size_t start = end - 1;
  while (start > 0 && end - start < 4 && is_continuation(text[start])) --start;
  return end - start;
}

bool ends_part(char c) { return std::string_view("._-/ ").find(c) != std::string_view::npos; }

/// The numbers of bytes that are shown of a name's start and end.
struct Ends {
  std::size_t head = 0;
  std::size_t tail = 0;
};

/// Takes as many parts as fit, from both ends in turn; nothing if not even the last one fits.
Ends whole_parts(std::string_view text, std::size_t columns) {
  Ends ends;
  std::size_t used = 0;
  const auto take = [&](std::size_t start, std::size_t bytes) {
    const std::size_t more = display_columns(escape(text.substr(start, bytes)));
    if (used + more > columns) return false;
    used += more;
    return true;
  };
  for (bool is_tail = true, has_more = true; has_more; is_tail = !is_tail) {
    std::size_t bytes = 0;
    const std::size_t stop = text.size() - ends.tail;
    if (is_tail) {
      bytes = 1;
      while (bytes < stop - ends.head && bytes <= columns && !ends_part(text[stop - bytes - 1])) {
        ++bytes;
      }
      has_more = take(stop - bytes, bytes);
      if (has_more) ends.tail += bytes;
    } else {
      bytes = 1;
      while (ends.head + bytes < stop && bytes <= columns &&
             !ends_part(text[ends.head + bytes - 1]))
        ++bytes;
      has_more = take(ends.head, bytes);
      if (has_more) ends.head += bytes;
    }
  }
  return ends;
}

/// Characters, two thirds of them at the end.
Ends single_characters(std::string_view text, std::size_t columns) {
  Ends ends;
  std::size_t used = 0;
  const auto columns_at = [&](std::size_t start, std::size_t bytes) {
    // A mark counts, too: a name of marks alone stays short.
    return std::max<std::size_t>(1, display_columns(escape(text.substr(start, bytes))));
  };
  while (ends.head < text.size()) {
    const std::size_t bytes = character_bytes(text, ends.head);
    const std::size_t more = columns_at(ends.head, bytes);
    if (used + more > columns / 3) break;
    ends.head += bytes;
    used += more;
  }
  while (ends.head + ends.tail < text.size()) {
    const std::size_t bytes = last_character_bytes(text, text.size() - ends.tail);
    const std::size_t more = columns_at(text.size() - ends.tail - bytes, bytes);
    if (used + more > columns || ends.head + ends.tail + bytes > text.size()) break;
    ends.tail += bytes;
    used += more;
  }
  return ends;
}

}  // namespace

std::string escape_middle(std::string_view text, std::size_t max_columns) {
  // Marks take no columns, and a hostile name can have any number of them.
  constexpr std::size_t max_bytes_per_column = 16;
  std::string whole = escape(text);
  const bool is_bounded = whole.size() <= max_bytes_per_column * max_columns;
  if (is_bounded && display_columns(whole) <= max_columns) return whole;
  if (max_columns <= ellipsis.size()) return std::string(ellipsis.substr(0, max_columns));
  const std::size_t columns = max_columns - ellipsis.size();
  const bool is_ascii = std::all_of(text.begin(), text.end(), [](char c) { return c > 0; });
  Ends ends = is_ascii ? whole_parts(text, columns) : Ends{};
  if (ends.tail == 0 || ends.head == 0) ends = single_characters(text, columns);
  return escape(text.substr(0, ends.head)).append(ellipsis) +
         escape(text.substr(text.size() - ends.tail));
}

}  // namespace ingot::cli
