// SPDX-License-Identifier: MIT
#include "chat/values/text_functions.hpp"

#include <algorithm>

namespace ingot::chat {
namespace {

/// Characters of a set that strip() removes.
bool is_in(std::string_view set, const Character& character, std::string_view bytes) {
  if (!character.is_valid) return false;
  return set.empty() ? is_space(character.code_point) : set.find(bytes) != std::string_view::npos;
}

/// Line ends as Python's splitlines() has them; the size of the one at the start, or 0.
std::size_t line_end_size(std::string_view text) noexcept {
  const Character character = first_character(text);
  const char32_t c = character.code_point;
  if (c == '\r') return text.substr(1).starts_with('\n') ? 2 : 1;
  const bool ends_line =
      (c >= 10 && c <= 13) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
  return ends_line && character.is_valid ? character.size_bytes : 0;
}

void split_at_spaces(Render& render, const Value& text, std::int64_t max_splits,
                     std::vector<Value>& parts) {
  const std::string_view bytes = text.text();
  std::size_t at = 0;
  while (true) {
    at = bytes.size() - strip_left(bytes.substr(at)).size();
    if (at == bytes.size()) return;
    if (max_splits >= 0 && static_cast<std::int64_t>(parts.size()) == max_splits) {
      parts.push_back(render.part_of(text, at, bytes.size()));
      return;
    }
    std::size_t end = at;
    while (end < bytes.size()) {
      const Character character = first_character(bytes.substr(end));
      if (character.is_valid && is_space(character.code_point)) break;
      end += character.size_bytes;
    }
    parts.push_back(render.part_of(text, at, end));
    at = end;
  }
}

/// The same from the end; parts come out last first.
void split_at_spaces_from_right(Render& render, const Value& text, std::int64_t max_splits,
                                std::vector<Value>& parts) {
  const std::string_view bytes = text.text();
  std::size_t end = bytes.size();
  while (true) {
    end = strip_right(bytes.substr(0, end)).size();
    if (end == 0) return;
    if (max_splits >= 0 && static_cast<std::int64_t>(parts.size()) == max_splits) {
      parts.push_back(render.part_of(text, 0, end));
      return;
    }
    std::size_t begin = end;
    while (begin > 0) {
      const Character character = last_character(bytes.substr(0, begin));
      if (character.is_valid && is_space(character.code_point)) break;
      begin -= character.size_bytes;
    }
    parts.push_back(render.part_of(text, begin, end));
    end = begin;
  }
}

void split_at(Render& render, const Value& text, std::string_view separator,
              std::int64_t max_splits, std::vector<Value>& parts) {
  const std::string_view bytes = text.text();
  std::size_t begin = 0;
  while (max_splits < 0 || static_cast<std::int64_t>(parts.size()) < max_splits) {
    const std::size_t end = bytes.find(separator, begin);
    if (end == std::string_view::npos) break;
    parts.push_back(render.part_of(text, begin, end));
    begin = end + separator.size();
  }
  parts.push_back(render.part_of(text, begin, bytes.size()));
}

void split_at_from_right(Render& render, const Value& text, std::string_view separator,
                         std::int64_t max_splits, std::vector<Value>& parts) {
  const std::string_view bytes = text.text();
  std::size_t end = bytes.size();
  while (max_splits < 0 || static_cast<std::int64_t>(parts.size()) < max_splits) {
    if (end < separator.size()) break;
    const std::size_t begin = bytes.rfind(separator, end - separator.size());
    if (begin == std::string_view::npos) break;
    parts.push_back(render.part_of(text, begin + separator.size(), end));
    end = begin;
  }
  parts.push_back(render.part_of(text, 0, end));
}

void append_times(TextOutput& output, const Value& text, std::int64_t times) {
  for (std::int64_t i = 0; i < times; ++i) output.append(text);
}

/// Puts `new_text` before each character and at the end: replace() of an empty text.
void insert_between(TextOutput& output, const Value& text, const Value& new_text,
                    std::int64_t max_count) {
  const std::string_view bytes = text.text();
  std::size_t at = 0;
  std::int64_t count = 0;
  while (at < bytes.size() && (max_count < 0 || count < max_count)) {
    output.append(new_text);
    const std::size_t end = at + first_character(bytes.substr(at)).size_bytes;
    output.append_part(text, at, end);
    at = end;
    ++count;
  }
  output.append_part(text, at, bytes.size());
  if (max_count < 0 || count < max_count) output.append(new_text);
}

}  // namespace

Value strip(Render& render, const Value& text, Side side, const Value& characters) {
  if (!render.spend_on(text.size)) return Value::failure();
  const std::string_view set = characters.is_string() ? characters.text() : std::string_view();
  if (characters.is_string() && set.empty()) return text;
  const std::string_view bytes = text.text();
  std::size_t begin = 0;
  std::size_t end = bytes.size();
  while ((static_cast<unsigned>(side) & 1u) != 0 && begin < end) {
    const Character character = first_character(bytes.substr(begin));
    if (!is_in(set, character, bytes.substr(begin, character.size_bytes))) break;
    begin += character.size_bytes;
  }
  while ((static_cast<unsigned>(side) & 2u) != 0 && end > begin) {
    const Character character = last_character(bytes.substr(begin, end - begin));
    if (!is_in(set, character, bytes.substr(end - character.size_bytes, character.size_bytes)))
      break;
    end -= character.size_bytes;
  }
  return render.part_of(text, begin, end);
}

Value change_case(Render& render, const Value& text, Case wanted) {
  if (!render.allow_bytes(std::uint64_t{text.size} * 3)) return Value::failure();
  const auto mark = render.output().begin();
  for_each_run(text, 0, text.size, [&](std::string_view run, std::uint8_t origin) {
    render.output().append(in_case(run, wanted), origin);
  });
  return render.take_string(mark).with_markup(text.is_markup());
}

Value replace(Render& render, const Value& text, const Value& old_text, const Value& new_text,
              std::int64_t max_count) {
  const std::string_view bytes = text.text();
  const std::string_view wanted = old_text.text();
  // Counts first, so that a result that is too long is refused before it is made.
  std::uint64_t count = wanted.empty() ? bytes.size() + 1 : 0;
  for (std::size_t at = wanted.empty() ? std::string_view::npos : bytes.find(wanted);
       at != std::string_view::npos; at = bytes.find(wanted, at + wanted.size())) {
    ++count;
  }
  if (max_count >= 0) count = std::min(count, static_cast<std::uint64_t>(max_count));
  if (count == 0) return render.spend_on(bytes.size()) ? text : Value::failure();
  if (!render.allow_bytes(bytes.size() + count * new_text.size)) return Value::failure();
  const auto mark = render.output().begin();
  TextOutput& output = render.output();
  if (wanted.empty()) {
    insert_between(output, text, new_text, max_count);
  } else {
    std::size_t begin = 0;
    for (; count > 0; --count) {
      const std::size_t end = bytes.find(wanted, begin);
      output.append_part(text, begin, end);
      output.append(new_text);
      begin = end + wanted.size();
    }
    output.append_part(text, begin, bytes.size());
  }
  return render.take_string(mark).with_markup(text.is_markup());
}

Value pad(Render& render, const Value& text, std::int64_t width, Side side, const Value& fill) {
  const auto size = static_cast<std::int64_t>(count_characters(text.text()));
  const Value filler = fill.is_string() ? fill : Value::text_of(" ");
  if (count_characters(filler.text()) != 1) return render.fail("the fill must be one character");
  if (width <= size) return text;
  const std::int64_t missing = width - size;
  const auto copies = static_cast<std::uint64_t>(missing);
  const std::uint64_t most = render.limits().max_string_bytes;
  const bool fits = render.is_within("max_string_bytes", most, copies) &&
                    render.allow_bytes(text.size + copies * filler.size);
  if (!fits) return Failed();
  const std::int64_t left = side == Side::left    ? missing
                            : side == Side::right ? 0
                                                  : missing / 2 + (missing & width & 1);
  const auto mark = render.output().begin();
  append_times(render.output(), filler, left);
  render.output().append(text);
  append_times(render.output(), filler, missing - left);
  return render.take_string(mark).with_markup(text.is_markup());
}

Value split(Render& render, const Value& text, const Value& separator, std::int64_t max_splits,
            bool from_right) {
  const bool at_spaces = !separator.is_given() || separator.is(Kind::none);
  if (!at_spaces && !separator.is_string()) return render.fail("the separator must be a string");
  if (!at_spaces && separator.size == 0) return render.fail("empty separator");
  if (!render.allow_bytes(text.size)) return Value::failure();
  std::vector<Value> parts;
  if (at_spaces && !from_right) {
    split_at_spaces(render, text, max_splits, parts);
  } else if (at_spaces) {
    split_at_spaces_from_right(render, text, max_splits, parts);
  } else if (!from_right) {
    split_at(render, text, separator.text(), max_splits, parts);
  } else {
    split_at_from_right(render, text, separator.text(), max_splits, parts);
  }
  if (from_right) std::reverse(parts.begin(), parts.end());
  return render.new_list(parts);
}

bool split_lines(Render& render, const Value& text, bool keeps_ends, std::vector<Value>& lines) {
  if (!render.allow_bytes(text.size)) return false;
  const std::string_view bytes = text.text();
  std::size_t begin = 0;
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::size_t end_size = line_end_size(bytes.substr(at));
    if (end_size == 0) {
      at += first_character(bytes.substr(at)).size_bytes;
      continue;
    }
    lines.push_back(render.part_of(text, begin, keeps_ends ? at + end_size : at));
    at += end_size;
    begin = at;
  }
  if (begin < bytes.size()) lines.push_back(render.part_of(text, begin, bytes.size()));
  return true;
}

Value join(Render& render, const Value& separator, const std::vector<Value>& items) {
  if (!render.allow_bytes(items.size() * std::uint64_t{separator.size})) return Value::failure();
  const auto mark = render.output().begin();
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) render.output().append(separator);
    const bool is_small =
        render.output().text_since(mark).size() <= render.limits().max_string_bytes;
    if (!is_small || !render.print(items[i])) {
      if (is_small) render.output().end(mark);
      return is_small ? Value::failure() : render.take_string(mark);
    }
  }
  return render.take_string(mark);
}

}  // namespace ingot::chat
