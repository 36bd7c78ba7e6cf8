// SPDX-License-Identifier: MIT
// `tojson`: Python's json.dumps, as Hugging Face sets it up.
#include <algorithm>
#include <cmath>

#include "base/checked.hpp"
#include "chat/builtins/builtins.hpp"
#include "chat/values/characters.hpp"
#include "chat/values/numbers.hpp"

namespace ingot::chat {
namespace {

/// Python's limit on recursion is near.
constexpr std::uint32_t max_json_depth = 400;

class JsonText {
 public:
  explicit JsonText(Call& call) : call_(call), heap_(call.heap) {}

  /// Reads the arguments of the filter; false after a failure.
  bool configure() {
    is_ascii_ = call_.flag(0);
    sorts_keys_ = call_.flag(3);
    if (call_.has_value(1) && !read_indent(call_[1])) return false;
    if (is_indented_) item_separator_ = ",";
    if (!call_.has_value(2)) return true;
    const Value& separators = call_[2];
    const bool is_pair = separators.is_sequence() && separators.list->count == 2 &&
                         separators.list->items[0].is_string() &&
                         separators.list->items[1].is_string();
    if (!is_pair) return heap_.fail("separators must be two strings");
    const std::uint64_t size =
        std::uint64_t{separators.list->items[0].size} + separators.list->items[1].size;
    if (!heap_.spend_on(size)) return false;
    item_separator_ = separators.list->items[0].text();
    key_separator_ = separators.list->items[1].text();
    return true;
  }

  bool append(const Value& value, std::uint32_t depth) {
    const std::uint8_t origin = value.origin();
    const std::uint64_t size = value.is(Kind::digits) ? value.size : value.is(Kind::real) ? 64 : 0;
    if (!heap_.spend_on(size) || !heap_.allow_output()) return false;
    switch (value.kind) {
      case Kind::none:
        return put("null", origin);
      case Kind::boolean:
        return put(value.boolean ? "true" : "false", origin);
      case Kind::integer:
        return put(std::to_string(value.integer), origin);
      case Kind::digits:
        return put(value.text(), origin);
      case Kind::real:
        return put(json_real(value.real), origin);
      case Kind::string:
        return append_string(value);
      case Kind::list:
      case Kind::tuple:
      case Kind::object:
        if (!heap_.is_within("the depth of a value that is printed", max_json_depth, depth + 1)) {
          return false;
        }
        return value.is(Kind::object) ? append_object(*value.object, origin, depth)
                                      : append_list(value.list->span(), origin, depth);
      default:
        return heap_.fail("Object of type " + std::string(type_name(value.kind)) +
                          " is not JSON serializable");
    }
  }

 private:
  bool read_indent(const Value& indent) {
    is_indented_ = true;
    if (indent.is_string()) {
      if (!heap_.spend_on(indent.size)) return false;
      indent_ = indent.text();
      return true;
    }
    if (!indent.is_integral()) return heap_.fail("indent must be an integer or a string");
    const auto width = static_cast<std::uint64_t>(std::max<std::int64_t>(indent.as_integer(), 0));
    if (!heap_.fits_text(width) || !heap_.spend_on(width)) return false;
    indent_.assign(to_size(width), ' ');
    return true;
  }

  bool put(std::string_view text, std::uint8_t origin) {
    heap_.output().append(text, origin);
    return true;
  }

  static std::string json_real(double number) {
    if (std::isnan(number)) return "NaN";
    if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
    return real_text(number);
  }

  bool append_string(const Value& value) {
    if (!heap_.allow_bytes(value.size) || !heap_.spend_on_characters(value.size)) return false;
    const std::uint8_t edge = value.is_mixed() ? std::uint8_t{from_template} : value.origin();
    put("\"", edge);
    for_each_run(value, 0, value.size, [&](std::string_view run, std::uint8_t origin) {
      std::size_t plain = 0;
      for (std::size_t at = 0; at < run.size();) {
        const auto byte = static_cast<unsigned char>(run[at]);
        const bool is_plain =
            byte >= 0x20 && byte != '"' && byte != '\\' && (byte < 0x80 || !is_ascii_);
        if (is_plain) {
          ++at;
          continue;
        }
        put(run.substr(plain, at - plain), origin);
        const Character character = first_character(run.substr(at));
        append_escape(character.code_point, origin);
        at += character.size_bytes;
        plain = at;
      }
      put(run.substr(plain), origin);
    });
    return put("\"", edge);
  }

  void append_escape(char32_t c, std::uint8_t origin) {
    constexpr std::string_view letters = "\"\\\n\r\t\b\f";
    constexpr std::string_view names = "\"\\nrtbf";
    const std::size_t known =
        c < 0x80 ? letters.find(static_cast<char>(c)) : std::string_view::npos;
    if (known != std::string_view::npos) {
      put("\\", origin);
      put(names.substr(known, 1), origin);
      return;
    }
    if (c > 0xFFFF) {
      append_unit(0xD800 + ((c - 0x10000) >> 10), origin);
      c = 0xDC00 + ((c - 0x10000) & 0x3FF);
    }
    append_unit(c, origin);
  }

  void append_unit(char32_t unit, std::uint8_t origin) {
    const std::string digits = digits_text(unit, 16);
    put("\\u" + std::string(4 - digits.size(), '0') + digits, origin);
  }

  /// What stands before an element: a separator, unless it is the first, and a line of its own.
  bool begin_element(bool is_first, std::uint32_t depth, std::uint8_t origin) {
    if (!is_first && !put_given(item_separator_, 1, origin)) return false;
    return break_line(depth, origin);
  }

  bool break_line(std::uint32_t depth, std::uint8_t origin) {
    if (!is_indented_) return true;
    put("\n", origin);
    return put_given(indent_, depth, origin);
  }

  /// Text that the template chose, several times.
  bool put_given(std::string_view text, std::uint32_t count, std::uint8_t origin) {
    if (!heap_.spend((text.size() * count) >> 4)) return false;
    for (std::uint32_t i = 0; i < count; ++i) {
      put(text, origin);
      if (!heap_.allow_output()) return false;
    }
    return true;
  }

  bool append_list(std::span<const Value> items, std::uint8_t origin, std::uint32_t depth) {
    if (items.empty()) return put("[]", origin);
    put("[", origin);
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!begin_element(i == 0, depth + 1, origin) || !append(items[i], depth + 1)) return false;
    }
    return break_line(depth, origin) && put("]", origin);
  }

  bool append_object(const Object& object, std::uint8_t origin, std::uint32_t depth) {
    if (object.count == 0) return put("{}", origin);
    if (!heap_.spend_on(object.count)) return false;
    std::vector<const Pair*> pairs;
    pairs.reserve(object.count);
    for (const Pair& pair : object.span()) pairs.push_back(&pair);
    if (sorts_keys_ && !sort(pairs)) return false;
    put("{", origin);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const bool is_done = begin_element(i == 0, depth + 1, origin) && append_key(pairs[i]->key) &&
                           put_given(key_separator_, 1, origin) &&
                           append(pairs[i]->value, depth + 1);
      if (!is_done) return false;
    }
    return break_line(depth, origin) && put("}", origin);
  }

  bool append_key(const Value& key) {
    if (key.is_string()) return append_string(key);
    const bool is_simple = key.is_number() || key.is(Kind::none) || key.is(Kind::digits);
    if (!is_simple) {
      return heap_.fail("keys must be str, int, float, bool or None, not " +
                        std::string(type_name(key.kind)));
    }
    put("\"", key.origin());
    const bool is_done = append(key, 0);
    return put("\"", key.origin()) && is_done;
  }

  bool sort(std::vector<const Pair*>& pairs) {
    bool has_failed = false;
    std::stable_sort(pairs.begin(), pairs.end(), [&](const Pair* left, const Pair* right) {
      const auto result = has_failed ? std::nullopt : order(heap_, left->key, right->key, "<");
      has_failed = !result.has_value();
      return result == -1;
    });
    return !has_failed;
  }

  Call& call_;
  Heap& heap_;
  bool is_ascii_ = false;
  bool sorts_keys_ = false;
  bool is_indented_ = false;
  std::string indent_;
  std::string item_separator_ = ", ";
  std::string key_separator_ = ": ";
};

}  // namespace

Value filter_tojson(Call& call) {
  if (call.self.is_undefined()) {
    return call.heap.fail("Object of type Undefined is not JSON serializable");
  }
  JsonText text(call);
  return call.heap.text_from([&] { return text.configure() && text.append(call.self, 0); });
}

}  // namespace ingot::chat
