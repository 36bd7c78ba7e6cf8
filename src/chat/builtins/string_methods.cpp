// SPDX-License-Identifier: MIT
// The methods of strings.
#include <algorithm>

#include "chat/builtins/builtins.hpp"
#include "chat/values/text_functions.hpp"
#include "chat/values/text_search.hpp"

namespace ingot::chat {
namespace {

/// The arguments `start` and `end` of a search, as bytes of the text.
struct Window {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool is_valid = true;  ///< false: `start` lies behind the end
};

std::optional<Window> window_of(Call& call, std::size_t first) {
  const std::string_view text = call.self.text();
  if (!call.has_value(first) && !call.has_value(first + 1)) return Window{0, text.size()};
  if (!call.heap.spend_on(3 * text.size())) return std::nullopt;
  const auto count = static_cast<std::int64_t>(count_characters(text));
  INGOT_TRY(std::int64_t start, call.integer_or_none(first));
  INGOT_TRY(std::int64_t stop, call.integer_or_none(first + 1, count));
  const auto clamped = [&](std::int64_t index) {
    return std::max<std::int64_t>(0, index < 0 ? std::max(index, -count) + count : index);
  };
  start = clamped(start);
  stop = std::min(clamped(stop), count);
  return Window{byte_of_character(text, static_cast<std::size_t>(std::min(start, count))),
                byte_of_character(text, static_cast<std::size_t>(stop)),
                start <= count && start <= stop};
}

Value bound_string(Call& call, std::size_t index) {
  if (call[index].is_string()) return call[index];
  return call.heap.fail(std::string(call.builtin.name) + "() needs a string, not " +
                        std::string(type_name(call[index].kind)));
}

/// Where a method searches for `wanted`; the search is paid for.
std::optional<Window> begin_search(Call& call, const Value& wanted) {
  const std::optional<Window> window = window_of(call, 1);
  const std::uint64_t size = std::uint64_t{call.self.size} + wanted.size;
  return window && call.heap.spend_on(size) ? window : std::nullopt;
}

template <Case wanted>
Value in_other_case(Call& call) {
  return change_case(call.heap, call.self, wanted);
}

template <Side side>
Value strip_method(Call& call) {
  const bool fits = !call.has_value(0) || call[0].is_string();
  if (!fits) return call.heap.fail("strip() needs a string or none");
  return strip(call.heap, call.self, side, call[0]);
}

template <Side side>
Value pad_method(Call& call) {
  INGOT_TRY(const std::int64_t width, call.integer(0));
  return pad(call.heap, call.self, width, side, call[1]);
}

template <bool from_right>
Value split_method(Call& call) {
  INGOT_TRY(const std::int64_t max_splits, call.integer(1, -1));
  return split(call.heap, call.self, call[0], max_splits, from_right);
}

Value split_lines_method(Call& call) {
  INGOT_TRY(const std::vector<Value> lines, split_lines(call.heap, call.self, call.flag(0)));
  return call.heap.new_list(lines);
}

template <bool from_right>
Value partition(Call& call) {
  INGOT_TRY(const Value separator, bound_string(call, 0));
  if (separator.size == 0) return call.heap.fail("empty separator");
  const std::string_view text = call.self.text();
  if (!call.heap.spend_on(text.size() + separator.size)) return Failed();
  const std::size_t at =
      from_right ? find_last_text(text, separator.text()) : find_text(text, separator.text());
  const Value none = Value::text_of("");
  if (at == std::string_view::npos) {
    const Value parts[] = {from_right ? none : call.self, none, from_right ? call.self : none};
    return call.heap.new_list(parts, Kind::tuple);
  }
  const Value parts[] = {call.heap.part_of(call.self, 0, at), separator,
                         call.heap.part_of(call.self, at + separator.size, text.size())};
  return call.heap.new_list(parts, Kind::tuple);
}

/// The characters before a byte; -1 for npos.
std::int64_t character_index(std::string_view text, std::size_t byte) {
  return byte == std::string_view::npos
             ? -1
             : static_cast<std::int64_t>(count_characters(text.substr(0, byte)));
}

template <bool from_right>
Value find_method(Call& call) {
  INGOT_TRY(const Value wanted, bound_string(call, 0));
  INGOT_TRY(const Window window, begin_search(call, wanted));
  if (!window.is_valid) return Value::of(std::int64_t{-1});
  const std::string_view text = call.self.text().substr(0, window.end);
  std::size_t at = std::string_view::npos;
  if (from_right) {
    at = find_last_text(text, wanted.text());
    if (at != std::string_view::npos && at < window.begin) at = std::string_view::npos;
  } else {
    at = find_text(text, wanted.text(), window.begin);
  }
  return Value::of(character_index(text, at));
}

template <bool from_right>
Value index_method(Call& call) {
  const Value index = find_method<from_right>(call);
  if (index.failed() || index.integer >= 0) return index;
  return call.heap.fail("substring not found");
}

Value count_method(Call& call) {
  INGOT_TRY(const Value wanted, bound_string(call, 0));
  INGOT_TRY(const Window window, begin_search(call, wanted));
  if (!window.is_valid) return Value::of(std::int64_t{0});
  const std::string_view text = call.self.text().substr(window.begin, window.end - window.begin);
  if (wanted.size == 0) return Value::of_count(count_characters(text) + 1);
  return Value::of_count(count_texts(text, wanted.text()));
}

/// startswith() and endswith(): of one text or any of a tuple.
template <bool at_end>
Value has_edge(Call& call) {
  INGOT_TRY(const Window window, window_of(call, 1));
  const std::string_view text = call.self.text().substr(
      std::min(window.begin, window.end), window.end - std::min(window.begin, window.end));
  const auto matches = [&](const Value& edge) {
    if (!window.is_valid || !call.heap.spend_on(edge.size)) return false;
    return at_end ? text.ends_with(edge.text()) : text.starts_with(edge.text());
  };
  if (call[0].is_string()) return Value::of(matches(call[0]));
  const bool is_tuple = call[0].is(Kind::tuple);
  const std::span<Value> edges = is_tuple ? call[0].list->span() : std::span<Value>();
  if (!call.heap.spend_on(edges.size())) return Failed();
  if (!is_tuple || !std::ranges::all_of(edges, &Value::is_string)) {
    return call.heap.fail(std::string(call.builtin.name) +
                          "() needs a string or a tuple of strings");
  }
  return Value::of(std::any_of(edges.begin(), edges.end(), matches));
}

template <bool at_end>
Value remove_edge(Call& call) {
  INGOT_TRY(const Value edge, bound_string(call, 0));
  const std::string_view text = call.self.text();
  if (!call.heap.spend_on(edge.size)) return Failed();
  const bool has = at_end ? text.ends_with(edge.text()) : text.starts_with(edge.text());
  if (!has) return call.self;
  return at_end ? call.heap.part_of(call.self, 0, text.size() - edge.size)
                : call.heap.part_of(call.self, edge.size, text.size());
}

Value replace_method(Call& call) {
  INGOT_TRY(const Value old_text, bound_string(call, 0));
  INGOT_TRY(const Value new_text, bound_string(call, 1));
  INGOT_TRY(const std::int64_t count, call.integer(2, -1));
  return replace(call.heap, call.self, old_text, new_text, count);
}

Value join_method(Call& call) {
  INGOT_TRY(std::vector<Value> items, collect(call.heap, call[0]));
  for (Value& item : items) {
    if (!item.is_string()) {
      return call.heap.fail("join() needs strings, not " + std::string(type_name(item.kind)));
    }
    if (call.self.is_markup()) {
      INGOT_TRY(item, escaped(call.heap, item));
    }
  }
  return join(call.heap, call.self, items).with_markup(call.self.is_markup());
}

Value capitalize(Call& call) {
  bool is_first = true;
  return map_characters(call.heap, call.self, [&](char32_t c, std::string& result) {
    append_in_case(result, is_first ? Case::title : Case::lower, c);
    is_first = false;
  });
}

Value title(Call& call) {
  bool in_word = false;
  return map_characters(call.heap, call.self, [&](char32_t c, std::string& result) {
    append_in_case(result, in_word ? Case::lower : Case::title, c);
    in_word = is_cased(c);
  });
}

Value swap_case(Call& call) {
  return map_characters(call.heap, call.self, [&](char32_t c, std::string& result) {
    const CaseClass found = case_class_of(c);
    if (found == CaseClass::upper || found == CaseClass::lower) {
      append_in_case(result, found == CaseClass::upper ? Case::lower : Case::upper, c);
    } else {
      append_character(result, c);
    }
  });
}

Value expand_tabs(Call& call) {
  INGOT_TRY(std::int64_t width, call.integer(0, 8));
  if (!call.heap.spend_on(call.self.size)) return Failed();
  const auto tabs = static_cast<std::uint64_t>(std::ranges::count(call.self.text(), '\t'));
  width = std::clamp<std::int64_t>(width, 0,
                                   static_cast<std::int64_t>(call.heap.limits().max_string_bytes));
  if (!call.heap.allow_bytes(call.self.size + tabs * static_cast<std::uint64_t>(width)))
    return Failed();
  std::int64_t column = 0;
  return map_characters(call.heap, call.self, [&](char32_t c, std::string& result) {
    if (c == '\t') {
      const std::int64_t spaces = width == 0 ? 0 : width - column % width;
      result.append(static_cast<std::size_t>(spaces), ' ');
      column += spaces;
      return;
    }
    append_character(result, c);
    column = c == '\n' || c == '\r' ? 0 : column + 1;
  });
}

Value zero_fill(Call& call) {
  INGOT_TRY(const std::int64_t width, call.integer(0));
  const std::string_view text = call.self.text();
  const bool has_sign = text.starts_with('-') || text.starts_with('+');
  const std::size_t sign_size = has_sign ? 1 : 0;
  const Value digits = call.heap.part_of(call.self, sign_size, text.size());
  INGOT_TRY(const Value padded, pad(call.heap, digits, width - static_cast<std::int64_t>(sign_size),
                                    Side::left, Value::text_of("0")));
  return concatenate(call.heap, call.heap.part_of(call.self, 0, sign_size), padded);
}

Value encode(Call& call) {
  std::vector<Value> bytes;
  if (!call.heap.allow_elements(call.self.size)) return Failed();
  bytes.reserve(call.self.size);
  for (const char c : call.self.text()) {
    bytes.push_back(Value::of(std::int64_t{static_cast<unsigned char>(c)}));
  }
  return call.heap.new_list(bytes, Kind::tuple);
}

/// Whether all characters pass; `of_none` for an empty text.
template <bool (*test)(char32_t), bool of_none = false>
Value all_characters(Call& call) {
  std::string_view text = call.self.text();
  if (!call.heap.spend_on_characters(text.size())) return Failed();
  bool all = of_none || !text.empty();
  while (all && !text.empty()) {
    const Character character = first_character(text);
    all = character.is_valid && test(character.code_point);
    text.remove_prefix(character.size_bytes);
  }
  return Value::of(all);
}

bool is_letter(char32_t c) { return class_of(c) == CharacterClass::letter; }
bool is_decimal(char32_t c) { return class_of(c) == CharacterClass::decimal; }
bool is_digit_of_any_script(char32_t c) {
  return is_decimal(c) || class_of(c) == CharacterClass::digit;
}
bool is_numeric(char32_t c) {
  return is_digit_of_any_script(c) || class_of(c) == CharacterClass::numeric;
}
bool is_printable(char32_t c) { return class_of(c) != CharacterClass::hidden; }
bool is_ascii_character(char32_t c) { return c < 0x80; }

Value is_identifier(Call& call) {
  const std::string_view text = call.self.text();
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return Value::of(false);
  return all_characters<continues_name>(call);
}

/// Whether some characters have a case, and all of these have this one.
template <bool (*test)(char32_t), bool (*opposite)(char32_t)>
Value all_in_case(Call& call) {
  std::string_view text = call.self.text();
  if (!call.heap.spend_on_characters(text.size())) return Failed();
  bool has_one = false;
  while (!text.empty()) {
    const Character character = first_character(text);
    if (character.is_valid && opposite(character.code_point)) return Value::of(false);
    has_one = has_one || (character.is_valid && test(character.code_point));
    text.remove_prefix(character.size_bytes);
  }
  return Value::of(has_one);
}

Value is_title(Call& call) {
  std::string_view text = call.self.text();
  if (!call.heap.spend_on_characters(2 * text.size())) return Failed();
  bool in_word = false;
  bool has_one = false;
  while (!text.empty()) {
    const CaseClass found = case_class_of(first_character(text).code_point);
    const bool continues = found == CaseClass::lower;
    if (found != CaseClass::none && continues != in_word) return Value::of(false);
    in_word = found != CaseClass::none;
    has_one = has_one || in_word;
    text.remove_prefix(first_character(text).size_bytes);
  }
  return Value::of(has_one);
}

constexpr Builtin methods[] = {
    {"capitalize", capitalize},
    {"casefold", in_other_case<Case::folded>},
    {"center", pad_method<Side::both>, {"width", "fillchar"}, 1},
    {"count", count_method, {"sub", "start", "end"}, 1},
    {"encode", encode, {"encoding", "errors"}},
    {"endswith", has_edge<true>, {"suffix", "start", "end"}, 1},
    {"expandtabs", expand_tabs, {"tabsize"}},
    {"find", find_method<false>, {"sub", "start", "end"}, 1},
    {"format", brace_format, {}, 0, Builtin::Extra::accepted},
    {"format_map", brace_format_map, {"mapping"}, 1},
    {"index", index_method<false>, {"sub", "start", "end"}, 1},
    {"isalnum", all_characters<is_alphanumeric>},
    {"isalpha", all_characters<is_letter>},
    {"isascii", all_characters<is_ascii_character, true>},
    {"isdecimal", all_characters<is_decimal>},
    {"isdigit", all_characters<is_digit_of_any_script>},
    {"isidentifier", is_identifier},
    {"islower", all_in_case<is_lower, is_upper>},
    {"isnumeric", all_characters<is_numeric>},
    {"isprintable", all_characters<is_printable, true>},
    {"isspace", all_characters<is_space>},
    {"istitle", is_title},
    {"isupper", all_in_case<is_upper, is_lower>},
    {"join", join_method, {"iterable"}, 1},
    {"ljust", pad_method<Side::right>, {"width", "fillchar"}, 1},
    {"lower", in_other_case<Case::lower>},
    {"lstrip", strip_method<Side::left>, {"chars"}},
    {"partition", partition<false>, {"sep"}, 1},
    {"removeprefix", remove_edge<false>, {"prefix"}, 1},
    {"removesuffix", remove_edge<true>, {"suffix"}, 1},
    {"replace", replace_method, {"old", "new", "count"}, 2},
    {"rfind", find_method<true>, {"sub", "start", "end"}, 1},
    {"rindex", index_method<true>, {"sub", "start", "end"}, 1},
    {"rjust", pad_method<Side::left>, {"width", "fillchar"}, 1},
    {"rpartition", partition<true>, {"sep"}, 1},
    {"rsplit", split_method<true>, {"sep", "maxsplit"}},
    {"rstrip", strip_method<Side::right>, {"chars"}},
    {"split", split_method<false>, {"sep", "maxsplit"}},
    {"splitlines", split_lines_method, {"keepends"}},
    {"startswith", has_edge<false>, {"prefix", "start", "end"}, 1},
    {"strip", strip_method<Side::both>, {"chars"}},
    {"swapcase", swap_case},
    {"title", title},
    {"upper", in_other_case<Case::upper>},
    {"zfill", zero_fill, {"width"}, 1},
};

}  // namespace

std::span<const Builtin> string_methods() noexcept { return methods; }

}  // namespace ingot::chat
