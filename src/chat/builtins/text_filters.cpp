// SPDX-License-Identifier: MIT
// Filters on texts.
#include <algorithm>

#include "base/checked.hpp"
#include "base/hexadecimal.hpp"
#include "chat/builtins/builtins.hpp"
#include "chat/values/text_functions.hpp"

namespace ingot::chat {
namespace {

constexpr std::int64_t default_wrap_width = 79;

/// Applies a method of strings to the printed form of anything.
Value on_text(Call& call, std::string_view method) {
  INGOT_TRY(const Value text, string_of(call.heap, call.self));
  const Arguments arguments = {call.arguments, {}};
  const Builtin& row = *find_builtin(string_methods(), method);
  const auto given = static_cast<std::size_t>(
      std::ranges::find_if_not(call.arguments, &Value::is_given) - call.arguments.begin());
  return call_builtin(call.heap, row, text, {arguments.positional.first(given), {}});
}

/// The text itself; a failure for everything else, as Python's methods of strings have it.
Value needed_text(Call& call) {
  if (call.self.is_string()) return call.self;
  if (call.self.is_undefined()) return call.heap.fail_undefined(call.self);
  return call.heap.fail(std::string(call.builtin.name) + " needs a string, not " +
                        std::string(type_name(call.self.kind)));
}

std::uint8_t lines_origin(const std::vector<Value>& lines) {
  return lines.empty() || lines[0].is_mixed() ? std::uint8_t{from_template} : lines[0].origin();
}

Value indention_of(Call& call) {
  if (call[0].is_string()) return call[0];
  INGOT_TRY(const std::int64_t given, call.integer(0, 4));
  const auto width = static_cast<std::uint64_t>(std::max<std::int64_t>(given, 0));
  const bool fits = call.heap.fits_text(width) && call.heap.spend_on(width);
  return fits ? call.heap.new_string(std::string(to_size(width), ' ')) : Failed();
}

bool begins_word(char32_t c) {
  return c == '-' || c == '(' || c == '{' || c == '[' || c == '<' || is_space(c);
}

/// Bytes that a URL holds as they are.
bool is_url_safe(char c, bool is_query) {
  return is_letter_or_digit(c) || c == '_' || c == '.' || c == '-' || c == '~' ||
         (c == '/' && !is_query);
}

bool append_quoted(Heap& heap, const Value& value, bool is_query) {
  INGOT_TRY(const Value text, string_of(heap, value));
  const bool fits = heap.spend_on_characters(text.size) &&
                    heap.allow_bytes(std::uint64_t{text.size} * 3) && heap.allow_output();
  if (!fits) return false;
  for_each_run(text, 0, text.size, [&](std::string_view run, std::uint8_t origin) {
    for (const char c : run) {
      if (is_url_safe(c, is_query)) {
        heap.output().append(c, origin);
      } else if (c == ' ' && is_query) {
        heap.output().append('+', origin);
      } else {
        heap.output().append("%" + hexadecimal_byte(c, upper_hexadecimal_digits), origin);
      }
    }
  });
  return true;
}

bool append_query(Heap& heap, const Value& pairs) {
  const bool is_object = pairs.is(Kind::object);
  View view = {is_object ? pairs.object : nullptr, View::Part::items};
  INGOT_TRY(Iteration iteration, iterate(heap, is_object ? Value::of(&view) : pairs));
  for (bool is_first = true;; is_first = false) {
    INGOT_TRY(const Value pair, next(heap, iteration));
    if (!pair.is_given()) return true;
    INGOT_TRY(const std::vector<Value> both, collect(heap, pair));
    if (both.size() != 2) return heap.fail("urlencode needs pairs");
    if (!is_first) heap.output().append('&', from_template);
    if (!append_quoted(heap, both[0], true)) return false;
    heap.output().append('=', from_template);
    if (!append_quoted(heap, both[1], true)) return false;
  }
}

/// The characters of a text outside of comments and tags, by their places. What a comment parts may
/// be the beginning of another one, as in the reference engine.
std::vector<std::uint32_t> places_outside_tags(std::string_view text) {
  constexpr std::string_view mark = "<!--";
  std::vector<std::uint32_t> kept;
  const auto ends_with_mark = [&] {
    return text[kept.back()] == mark.back() && kept.size() >= mark.size() &&
           std::equal(mark.begin(), mark.end(), kept.end() - std::ssize(mark),
                      [&](char c, std::uint32_t place) { return text[place] == c; });
  };
  bool has_comments = true;
  for (std::size_t at = 0; at < text.size();) {
    kept.push_back(static_cast<std::uint32_t>(at));
    at += first_character(text.substr(at)).size_bytes;
    if (!has_comments || !ends_with_mark()) continue;
    // The hyphens of the mark may belong to its end.
    const std::string_view rest = text.substr(at);
    const std::size_t end = rest.find("-->");
    const std::size_t size = rest.starts_with('>') ? 1 : rest.starts_with("->") ? 2 : end + 3;
    has_comments = size <= 2 || end != std::string_view::npos;
    if (!has_comments) continue;
    kept.resize(kept.size() - mark.size());
    at += size;
  }
  const auto last_end = std::find_if(kept.rbegin(), kept.rend(),
                                     [&](std::uint32_t place) { return text[place] == '>'; });
  const std::uint32_t last = last_end == kept.rend() ? 0 : *last_end;
  bool in_tag = false;
  std::erase_if(kept, [&](std::uint32_t place) {
    const bool was_in_tag = in_tag;
    if (text[place] == '<' && place < last) in_tag = true;
    if (text[place] == '>') in_tag = false;
    return was_in_tag || in_tag;
  });
  return kept;
}

bool append_attributes(Call& call) {
  TextOutput& output = call.heap.output();
  bool is_first = !call.flag(0, true);
  if (!call.heap.spend(call.self.object->count)) return false;
  for (const Pair& pair : call.self.object->span()) {
    if (pair.value.is(Kind::none) || pair.value.is_undefined()) continue;
    const bool is_name = pair.key.is_string() && call.heap.spend_on_characters(pair.key.size) &&
                         pair.key.text().find_first_of(" \t\n\r\f\v/>=") == std::string_view::npos;
    if (!is_name) return call.heap.fail("Invalid character in attribute name");
    INGOT_TRY(const Value key, escaped(call.heap, pair.key));
    INGOT_TRY(const Value value, escaped(call.heap, pair.value));
    if (!is_first) output.append(' ', from_template);
    is_first = false;
    if (!print(call.heap, key)) return false;
    output.append("=\"", from_template);
    if (!print(call.heap, value)) return false;
    output.append('"', from_template);
  }
  return true;
}

}  // namespace

Value filter_upper(Call& call) { return on_text(call, "upper"); }
Value filter_lower(Call& call) { return on_text(call, "lower"); }
Value filter_capitalize(Call& call) { return on_text(call, "capitalize"); }
Value filter_trim(Call& call) { return on_text(call, "strip"); }
Value filter_string(Call& call) { return string_of(call.heap, call.self); }
Value filter_escape(Call& call) { return escaped(call.heap, call.self); }

Value filter_center(Call& call) {
  if (!call.has(0)) call.arguments[0] = Value::of(std::int64_t{80});
  return on_text(call, "center");
}

Value filter_force_escape(Call& call) {
  INGOT_TRY(const Value text, string_of(call.heap, call.self));
  return escaped(call.heap, text.with_markup(false));
}

Value filter_safe(Call& call) {
  INGOT_TRY(const Value text, string_of(call.heap, call.self));
  return text.with_markup(true);
}

Value filter_format(Call& call) {
  INGOT_TRY(const Value format, string_of(call.heap, call.self));
  if (!call.more.empty() && !call.more_keywords.empty()) {
    return call.heap.fail("can't handle positional and keyword arguments at the same time");
  }
  if (call.more_keywords.empty()) {
    INGOT_TRY(const Value arguments, call.heap.new_list(call.more, Kind::tuple));
    return percent_format(call.heap, format, arguments);
  }
  Object* named = call.heap.new_object(call.more_keywords.size());
  if (!insert_all(call.heap, *named, call.more_keywords)) return Failed();
  return percent_format(call.heap, format, Value::of(named));
}

Value filter_replace(Call& call) {
  INGOT_TRY(const Value text, string_of(call.heap, call.self));
  INGOT_TRY(const Value old_text, string_of(call.heap, call[0]));
  INGOT_TRY(const Value new_text, string_of(call.heap, call[1]));
  INGOT_TRY(const std::int64_t count, call.integer_or_none(2, -1));
  return replace(call.heap, text.with_markup(false), old_text, new_text, count);
}

Value filter_join(Call& call) {
  INGOT_TRY(std::vector<Value> items, collect(call.heap, call.self));
  if (call.has_value(1)) {
    INGOT_TRY(const std::span<const Value> path, split_path(call.heap, call[1]));
    for (Value& item : items) {
      INGOT_TRY(item, attribute_path(call.heap, item, path));
    }
  }
  const Value separator = call.has(0) ? string_of(call.heap, call[0]) : Value::text_of("");
  return separator.failed() ? separator : join(call.heap, separator, items);
}

/// Each word begins in upper case; Jinja's idea of a word, not Python's.
Value filter_title(Call& call) {
  INGOT_TRY(const Value text, string_of(call.heap, call.self));
  bool is_first = true;
  return map_characters(call.heap, text, [&](char32_t c, std::string& result) {
    append_in_case(result, is_first ? Case::upper : Case::lower, c);
    is_first = begins_word(c);
  });
}

Value filter_indent(Call& call) {
  INGOT_TRY(const Value text, needed_text(call));
  INGOT_TRY(const Value indention, indention_of(call));
  const bool indents_first = call.flag(1);
  const bool indents_blank = call.flag(2);
  // The reference engine appends a line end before it splits, so that one at the end stays.
  INGOT_TRY(const Value closed,
            concatenate(call.heap, text,
                        Value::text_of("\n", text.is_mixed() ? std::uint8_t{0} : text.origin())));
  INGOT_TRY(const std::vector<Value> lines, split_lines(call.heap, closed, false));
  if (!call.heap.allow_bytes(text.size + lines.size() * (std::uint64_t{indention.size} + 1)))
    return Failed();
  const std::uint8_t origin = lines_origin(lines);
  const auto mark = call.heap.output().begin();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) call.heap.output().append('\n', origin);
    const bool indents = i == 0 ? indents_first : indents_blank || lines[i].size > 0;
    if (indents) call.heap.output().append(indention);
    call.heap.output().append(lines[i]);
  }
  return call.heap.take_string(mark).with_markup(text.is_markup());
}

/// Writes a value as `repr` does, without Python's line breaks in long values and its order of
/// keys.
Value filter_pprint(Call& call) { return repr_of(call.heap, call.self); }

Value filter_striptags(Call& call) {
  INGOT_TRY(const Value text, string_of(call.heap, call.self));
  const std::uint64_t size = text.size;
  if (!call.heap.spend_on_characters(2 * size) || !call.heap.allow_bytes(size)) return Failed();
  const std::string_view bytes = text.text();
  const auto mark = call.heap.output().begin();
  bool has_gap = false;
  bool has_text = false;
  for (const std::uint32_t begin : places_outside_tags(bytes)) {
    const Character character = first_character(bytes.substr(begin));
    if (character.is_valid && is_space(character.code_point)) {
      has_gap = true;
      continue;
    }
    const Value part = call.heap.part_of(text, begin, begin + character.size_bytes);
    if (has_gap && has_text) call.heap.output().append(' ', part.origin());
    call.heap.output().append(part);
    has_gap = false;
    has_text = true;
  }
  return call.heap.take_string(mark);
}

Value filter_truncate(Call& call) {
  const Value& text = call.self;
  INGOT_TRY(const std::int64_t length, call.integer(0, 255));
  INGOT_TRY(const std::int64_t leeway, call.integer_or_none(3, 5));
  const Value end = call.has(2) ? call[2] : Value::text_of("...");
  if (!end.is_string()) return call.heap.fail("the end of a truncated text must be a string");
  if (!call.heap.spend_on(std::uint64_t{text.size} + end.size)) return Failed();
  const auto end_size = static_cast<std::int64_t>(count_characters(end.text()));
  if (length < end_size) return call.heap.fail("expected length >= " + std::to_string(end_size));
  if (leeway < 0) return call.heap.fail("expected leeway >= 0");
  // Lists have a length, too, and are never cut.
  const std::int64_t size = count_of(text);
  if (size >= 0 && size - leeway <= length) return text;
  INGOT_TRY(const Value needed, needed_text(call));
  std::size_t cut = byte_of_character(text.text(), static_cast<std::size_t>(length - end_size));
  if (!call.flag(1)) cut = std::min(cut, text.text().substr(0, cut).rfind(' '));
  return concatenate(call.heap, call.heap.part_of(needed, 0, cut), end);
}

Value filter_urlencode(Call& call) {
  const bool is_query = call.self.is_sequence() || call.self.is(Kind::object) ||
                        call.self.is(Kind::view) || call.self.is(Kind::generator);
  return call.heap.text_from([&] {
    return is_query ? append_query(call.heap, call.self)
                    : append_quoted(call.heap, call.self, false);
  });
}

Value filter_wordcount(Call& call) {
  INGOT_TRY(const Value text, string_of(call.heap, call.self));
  if (!call.heap.spend_on_characters(text.size)) return Failed();
  std::int64_t count = 0;
  bool in_word = false;
  for (std::string_view rest = text.text(); !rest.empty();) {
    const Character character = first_character(rest);
    const bool is_word = character.is_valid && continues_name(character.code_point);
    count += is_word && !in_word ? 1 : 0;
    in_word = is_word;
    rest.remove_prefix(character.size_bytes);
  }
  return Value::of(count);
}

Value filter_wordwrap(Call& call) {
  INGOT_TRY(const Value text, needed_text(call));
  INGOT_TRY(const std::int64_t width, call.integer(0, default_wrap_width));
  if (width <= 0) return call.heap.fail("the width must be above 0");
  const Value end = call.has_value(2) ? call[2] : Value::text_of("\n");
  if (!end.is_string()) return call.heap.fail("the wrap string must be a string");
  const std::uint64_t size = text.size;
  if (!call.heap.spend_on_characters(4 * size) || !call.heap.allow_bytes(size * (end.size + 1)))
    return Failed();
  INGOT_TRY(const std::vector<Value> lines, split_lines(call.heap, text, false));
  const WrapOptions options = {static_cast<std::size_t>(width), call.flag(1, true),
                               call.flag(3, true)};
  const auto mark = call.heap.output().begin();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) call.heap.output().append(end);
    bool is_first = true;
    for (const auto& [from, to] : wrapped(lines[i].text(), options)) {
      if (!is_first) call.heap.output().append(end);
      call.heap.output().append_part(lines[i], from, to);
      is_first = false;
    }
  }
  return call.heap.take_string(mark);
}

Value filter_xmlattr(Call& call) {
  if (!call.self.is(Kind::object)) return call.heap.fail("xmlattr needs a mapping");
  return call.heap.text_from([&] { return append_attributes(call); });
}

}  // namespace ingot::chat
