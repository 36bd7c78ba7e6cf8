// SPDX-License-Identifier: MIT
#include <algorithm>
#include <charconv>

#include "chat/builtins/builtins.hpp"
#include "chat/values/characters.hpp"
#include "chat/values/number_layout.hpp"

namespace ingot::chat {
namespace {

/// The part of a field behind the colon; false if it is none.
bool parse_layout(std::string_view spec, FieldLayout& layout) {
  const auto is_align = [](char c) { return c == '<' || c == '>' || c == '^' || c == '='; };
  const auto skip = [&](char c) {
    if (!spec.starts_with(c)) return false;
    spec.remove_prefix(1);
    return true;
  };
  const auto number = [&](std::int64_t& value) {
    const auto end = std::from_chars(spec.data(), spec.data() + spec.size(), value);
    const bool is_read = end.ec == std::errc();
    if (is_read) spec.remove_prefix(static_cast<std::size_t>(end.ptr - spec.data()));
    return is_read;
  };
  const std::size_t fill_size = spec.empty() ? 0 : first_character(spec).size_bytes;
  if (spec.size() > fill_size && is_align(spec[fill_size])) {
    layout.fill = spec.substr(0, fill_size);
    layout.align = spec[fill_size];
    spec.remove_prefix(fill_size + 1);
  } else if (!spec.empty() && is_align(spec[0])) {
    layout.align = spec[0];
    spec.remove_prefix(1);
  }
  if (!spec.empty() && (spec[0] == '+' || spec[0] == '-' || spec[0] == ' ')) {
    layout.sign = spec[0];
    spec.remove_prefix(1);
  }
  layout.is_alternate = skip('#');
  if (skip('0') && layout.align == '\0') {
    layout.align = '=';
    layout.fill = "0";
  }
  if (!spec.empty() && spec[0] >= '0' && spec[0] <= '9' && !number(layout.width)) return false;
  if (!spec.empty() && (spec[0] == ',' || spec[0] == '_')) {
    layout.grouping = spec[0];
    spec.remove_prefix(1);
  }
  if (skip('.') && (!number(layout.precision) || layout.precision < 0)) return false;
  if (spec.size() > 1) return false;
  if (spec.size() == 1) layout.type = spec[0];
  return true;
}

class BraceFormat {
 public:
  BraceFormat(Heap& heap, const Value& format, const Arguments& arguments, const Object* named)
      : heap_(heap), format_(format), arguments_(arguments), named_(named) {}

  /// Appends the result of a part of the format; false after a failure.
  bool run(std::size_t begin, std::size_t end, int depth) {
    const std::string_view bytes = format_.text().substr(0, end);
    std::size_t at = begin;
    while (at < end) {
      const std::size_t mark = std::min(bytes.find_first_of("{}", at), end);
      heap_.output().append_part(format_, at, mark);
      if (mark == end) return true;
      const bool is_double = mark + 1 < end && bytes[mark + 1] == bytes[mark];
      if (is_double) {
        heap_.output().append_part(format_, mark, mark + 1);
        at = mark + 2;
        continue;
      }
      const std::size_t close =
          bytes[mark] == '{' ? field_end(bytes, mark + 1) : std::string_view::npos;
      if (close == std::string_view::npos) return heap_.fail("single brace in format string");
      if (!heap_.spend(1) || !field(mark + 1, close, depth)) return false;
      at = close + 1;
    }
    return true;
  }

 private:
  static std::size_t field_end(std::string_view bytes, std::size_t at) {
    for (int open = 1; at < bytes.size(); ++at) {
      if (bytes[at] == '{') ++open;
      if (bytes[at] == '}' && --open == 0) return at;
    }
    return std::string_view::npos;
  }

  /// `name.attribute[item]!conversion:layout`
  bool field(std::size_t begin, std::size_t end, int depth) {
    if (depth > 1) return heap_.fail("Max string recursion exceeded");
    const std::string_view text = format_.text().substr(begin, end - begin);
    // A colon or exclamation mark within brackets belongs to an item.
    std::size_t name_end = 0;
    for (int open = 0; name_end < text.size(); ++name_end) {
      const char c = text[name_end];
      if (c == '[') ++open;
      if (c == ']') --open;
      if (open <= 0 && (c == ':' || c == '!')) break;
    }
    INGOT_TRY(Value value, argument(text.substr(0, name_end)));
    std::size_t at = name_end;
    if (at < text.size() && text[at] == '!') {
      if (at + 1 >= text.size() || (at + 2 < text.size() && text[at + 2] != ':')) {
        return heap_.fail("end of string while looking for conversion specifier");
      }
      INGOT_TRY(value, converted(value, text[at + 1]));
      at += 2;
    }
    std::string spec;
    if (at < text.size()) {
      const auto mark = heap_.output().begin();
      const bool is_done = run(begin + at + 1, end, depth + 1);
      const bool is_paid = heap_.spend_on(heap_.output().text_since(mark).size());
      if (is_paid) spec = heap_.output().text_since(mark);
      heap_.output().end(mark);
      if (!is_done || !is_paid) return false;
    }
    return append(value, spec);
  }

  Value converted(const Value& value, char conversion) {
    if (conversion == 's') return string_of(heap_, value);
    if (conversion != 'r' && conversion != 'a') return heap_.fail("unknown conversion specifier");
    return repr_of(heap_, value);
  }

  /// The value of a field's name, and of the attributes and items behind it.
  Value argument(std::string_view path) {
    const std::size_t end = std::min(path.find_first_of(".["), path.size());
    Value value = named_argument(path.substr(0, end));
    path.remove_prefix(end);
    while (!path.empty() && !value.failed()) {
      const bool is_item = path[0] == '[';
      const std::size_t stop =
          is_item ? path.find(']') : std::min(path.find_first_of(".[", 1), path.size());
      if (stop == std::string_view::npos) return heap_.fail("Missing ']' in format string");
      const std::string_view name = path.substr(1, stop - 1);
      std::int64_t index = 0;
      const auto read = std::from_chars(name.data(), name.data() + name.size(), index);
      const bool is_index = is_item && !name.empty() && read.ptr == name.data() + name.size();
      value = is_index  ? item(heap_, value, Value::of(index))
              : is_item ? item(heap_, value, Value::text_of(name))
                        : attribute(heap_, value, name, nullptr);
      path.remove_prefix(is_item ? stop + 1 : stop);
    }
    return value;
  }

  Value named_argument(std::string_view name) {
    std::size_t index = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), index);
    const bool is_index = !name.empty() && read.ptr == name.data() + name.size();
    if (name.empty()) index = next_++;
    has_numbers_ = has_numbers_ || is_index;
    if (has_numbers_ && next_ > 0) {
      return heap_.fail("cannot switch between automatic and manual numbering of fields");
    }
    if (name.empty() || is_index) {
      if (index < arguments_.positional.size()) return arguments_.positional[index];
      return heap_.fail("Replacement index " + std::to_string(index) +
                        " out of range for positional args tuple");
    }
    if (!heap_.spend_on(arguments_.keywords.size())) return Failed();
    for (const Keyword& keyword : arguments_.keywords) {
      if (keyword.name == name) return keyword.value;
    }
    if (named_ != nullptr) {
      if (const Value* value = find(heap_, *named_, Value::text_of(name))) return *value;
    }
    return heap_.fail("there is no argument '" + std::string(name) + "'");
  }

  bool append(const Value& value, const std::string& spec) {
    FieldLayout layout;
    if (!parse_layout(spec, layout)) return heap_.fail("Invalid format specifier");
    const bool is_number = value.is_number() || value.is(Kind::digits);
    if (is_number && !(value.is(Kind::boolean) && spec.empty())) {
      INGOT_TRY(const std::string& digits, number_digits(heap_, value, layout));
      return append_number(heap_, digits, value.origin(), layout);
    }
    if (layout.type != '\0' && layout.type != 's')
      return heap_.fail("Unknown format code for a string");
    if (!value.is_string() && !spec.empty() && !value.is(Kind::boolean)) {
      return heap_.fail("unsupported format string passed to " +
                        std::string(type_name(value.kind)));
    }
    const Value text = format_.is_markup() ? escaped(heap_, value) : string_of(heap_, value);
    return !text.failed() && append_text(heap_, text, layout);
  }

  Heap& heap_;
  const Value& format_;
  const Arguments& arguments_;
  const Object* named_;
  std::size_t next_ = 0;      ///< of the fields without a number
  bool has_numbers_ = false;  ///< fields with a number were met
};

Value formatted(Call& call, const Arguments& arguments, const Object* named) {
  BraceFormat format(call.heap, call.self, arguments, named);
  const Value text = call.heap.text_from(
      [&] { return call.heap.allow_bytes(call.self.size) && format.run(0, call.self.size, 0); });
  return text.with_markup(call.self.is_markup());
}

}  // namespace

Value brace_format(Call& call) { return formatted(call, {call.more, call.more_keywords}, nullptr); }

Value brace_format_map(Call& call) {
  if (!call[0].is(Kind::object)) return call.heap.fail("format_map() needs a mapping");
  return formatted(call, {}, call[0].object);
}

}  // namespace ingot::chat
