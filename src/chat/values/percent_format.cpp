// SPDX-License-Identifier: MIT

#include "chat/values/characters.hpp"
#include "chat/values/number_layout.hpp"
#include "chat/values/numbers.hpp"

namespace ingot::chat {
namespace {

class PercentFormat {
 public:
  PercentFormat(Heap& heap, const Value& format, const Value& arguments)
      : heap_(heap), format_(format), bytes_(format.text()), arguments_(arguments) {}

  /// Appends the result; false after a failure.
  bool run() {
    std::size_t text = 0;
    while (at_ < bytes_.size()) {
      if (bytes_[at_] != '%') {
        ++at_;
        continue;
      }
      heap_.output().append_part(format_, text, at_);
      ++at_;
      if (!conversion()) return false;
      text = at_;
      if (!heap_.spend(1)) return false;
    }
    heap_.output().append_part(format_, text, bytes_.size());
    // What has items may be a mapping, whose items need not all be used.
    const bool has_items = arguments_.is(Kind::object) || arguments_.is(Kind::list) ||
                           arguments_.is(Kind::range) || arguments_.is_undefined();
    const bool all_used = has_items || has_name_ || used_ >= count();
    return all_used || heap_.fail("not all arguments converted during string formatting");
  }

 private:
  [[nodiscard]] std::size_t count() const {
    return arguments_.is(Kind::tuple) ? arguments_.list->count : 1;
  }

  Value next_argument() {
    if (named_.is_given()) return named_;
    if (used_ >= count()) return heap_.fail("not enough arguments for format string");
    return arguments_.is(Kind::tuple) ? arguments_.list->items[used_++] : (++used_, arguments_);
  }

  [[nodiscard]] char current() const { return at_ < bytes_.size() ? bytes_[at_] : '\0'; }

  /// `(name)`
  bool read_name() {
    named_ = {};
    if (current() != '(') return true;
    has_name_ = true;
    const std::size_t end = bytes_.find(')', at_);
    if (end == std::string_view::npos || !arguments_.is(Kind::object)) {
      return heap_.fail("format requires a mapping");
    }
    const std::string_view name = bytes_.substr(at_ + 1, end - at_ - 1);
    const Value* value = find(heap_, *arguments_.object, Value::text_of(name));
    if (value == nullptr) return heap_.fail("the mapping has no key '" + std::string(name) + "'");
    named_ = *value;
    at_ = end + 1;
    return true;
  }

  void read_flags(FieldLayout& layout) {
    constexpr std::string_view flags = "-+ #0";
    for (; flags.find(current()) != flags.npos; ++at_) {
      const char flag = current();
      if (flag == '-') layout.align = '<';
      if (flag == '+' || (flag == ' ' && layout.sign != '+')) layout.sign = flag;
      if (flag == '#') layout.is_alternate = true;
      if (flag == '0') has_zero_ = true;
    }
  }

  /// Digits, or `*` for an argument.
  bool read_number(std::int64_t& number) {
    if (current() == '*') {
      ++at_;
      INGOT_TRY(const Value value, next_argument());
      if (!value.is_integral()) return heap_.fail("* wants int");
      number = value.as_integer();
      return true;
    }
    number = 0;
    for (; current() >= '0' && current() <= '9'; ++at_) {
      if (number > std::int64_t{1} << 40) continue;  // any limit refuses it
      number = number * 10 + (current() - '0');
    }
    return true;
  }

  bool conversion() {
    FieldLayout layout;
    has_zero_ = false;
    if (!read_name()) return false;
    read_flags(layout);
    const bool has_width = current() == '*' || (current() >= '1' && current() <= '9');
    if (has_width && !read_number(layout.width)) return false;
    if (layout.width < 0) {
      layout.align = '<';
      layout.width = -layout.width;
    }
    if (current() == '.') {
      ++at_;
      if (!read_number(layout.precision)) return false;
    }
    while (current() == 'l' || current() == 'h' || current() == 'L') ++at_;
    if (at_ >= bytes_.size()) return heap_.fail("incomplete format");
    layout.type = bytes_[at_++];
    if (layout.type == '%') {
      heap_.output().append('%', from_template);
      return true;
    }
    const Value value = next_argument();
    return !value.failed() && append(value, layout);
  }

  bool append(const Value& value, FieldLayout& layout) {
    const auto is_one_of = [&](std::string_view types) {
      return types.find(layout.type) != std::string_view::npos;
    };
    if (is_one_of("sra")) return append_shown(value, layout);
    if (is_one_of("c")) return append_character_of(value, layout);
    if (is_one_of("xXo")) return append_digits(value, layout, false);
    if (is_one_of("eEfFgG")) {
      return append_digits(value.is_integral() ? Value::of(value.as_real()) : value, layout, false);
    }
    if (is_one_of("iud")) {
      layout.type = 'd';
      return append_digits(value, layout, true);
    }
    return heap_.fail(std::string("unsupported format character '") + layout.type + "'");
  }

  bool append_shown(const Value& value, const FieldLayout& layout) {
    INGOT_TRY(const Value text, layout.type != 's'    ? repr_of(heap_, value)
                                : format_.is_markup() ? escaped(heap_, value)
                                                      : string_of(heap_, value));
    return append_at_right(text, layout);
  }

  bool append_character_of(const Value& value, const FieldLayout& layout) {
    std::string text;
    if (value.is_string() && count_characters(value.text()) == 1) {
      text = value.text();
    } else if (value.is_integral() && value.as_integer() >= 0 && value.as_integer() <= 0x10FFFF) {
      append_character(text, static_cast<char32_t>(value.as_integer()));
    } else {
      return heap_.fail("%c requires int or char");
    }
    return append_at_right(Value::text_of(text, value.origin()), layout);
  }

  bool append_at_right(const Value& text, FieldLayout layout) {
    if (layout.align == '\0') layout.align = '>';
    return append_text(heap_, text, layout);
  }

  bool append_digits(const Value& value, FieldLayout& layout, bool truncates) {
    if (value.is_undefined()) return heap_.fail_undefined(value);
    Value number = value;
    if (truncates && value.is(Kind::real)) {
      const std::optional<std::int64_t> integer = truncate_real(value.real);
      if (!integer) return heap_.fail("the number does not fit an integer of 64 bits");
      number = Value::of(*integer);
    }
    if (has_zero_ && layout.align == '\0') {
      layout.align = '=';
      layout.fill = "0";
    }
    INGOT_TRY(const std::string& digits, number_digits(heap_, number, layout));
    return append_number(heap_, digits, value.origin(), layout);
  }

  Heap& heap_;
  const Value& format_;
  std::string_view bytes_;
  const Value& arguments_;
  std::size_t at_ = 0;
  std::size_t used_ = 0;
  Value named_;
  bool has_name_ = false;
  bool has_zero_ = false;
};

}  // namespace

Value percent_format(Heap& heap, const Value& format, const Value& arguments) {
  const Value text = heap.text_from([&] {
    return heap.allow_bytes(format.size) && PercentFormat(heap, format, arguments).run();
  });
  return text.with_markup(format.is_markup());
}

}  // namespace ingot::chat
