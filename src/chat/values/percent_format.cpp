// SPDX-License-Identifier: MIT
#include "chat/values/percent_format.hpp"

#include <cmath>

#include "chat/values/characters.hpp"
#include "chat/values/number_layout.hpp"

namespace ingot::chat {
namespace {

class PercentFormat {
 public:
  PercentFormat(Render& render, const Value& format, const Value& arguments)
      : render_(render), format_(format), bytes_(format.text()), arguments_(arguments) {}

  /// Appends the result; false after a failure.
  bool run() {
    std::size_t text = 0;
    while (at_ < bytes_.size()) {
      if (bytes_[at_] != '%') {
        ++at_;
        continue;
      }
      render_.output().append_part(format_, text, at_);
      ++at_;
      if (!conversion()) return false;
      text = at_;
      if (!render_.spend(1)) return false;
    }
    render_.output().append_part(format_, text, bytes_.size());
    const bool all_used = arguments_.is(Kind::object) || has_name_ || used_ >= count();
    if (!all_used) render_.fail("not all arguments converted during string formatting");
    return all_used;
  }

 private:
  [[nodiscard]] std::size_t count() const {
    return arguments_.is(Kind::tuple) ? arguments_.list->count : 1;
  }

  Value next_argument() {
    if (named_.is_given()) return named_;
    if (used_ >= count()) return render_.fail("not enough arguments for format string");
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
      render_.fail("format requires a mapping");
      return false;
    }
    const std::string_view name = bytes_.substr(at_ + 1, end - at_ - 1);
    const Value* value = render_.find(*arguments_.object, Value::text_of(name));
    if (value == nullptr) {
      render_.fail("the mapping has no key '" + std::string(name) + "'");
      return false;
    }
    named_ = *value;
    at_ = end + 1;
    return true;
  }

  void read_flags(FieldLayout& layout) {
    for (;; ++at_) {
      switch (current()) {
        case '-':
          layout.align = '<';
          break;
        case '+':
          layout.sign = '+';
          break;
        case ' ':
          if (layout.sign != '+') layout.sign = ' ';
          break;
        case '#':
          layout.is_alternate = true;
          break;
        case '0':
          has_zero_ = true;
          break;
        default:
          return;
      }
    }
  }

  /// Digits, or `*` for an argument.
  bool read_number(std::int64_t& number) {
    if (current() == '*') {
      ++at_;
      const Value value = next_argument();
      if (value.failed()) return false;
      if (!value.is_integral()) {
        render_.fail("* wants int");
        return false;
      }
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
    if (at_ >= bytes_.size()) {
      render_.fail("incomplete format");
      return false;
    }
    layout.type = bytes_[at_++];
    if (layout.type == '%') {
      render_.output().append('%', from_template);
      return true;
    }
    const Value value = next_argument();
    return !value.failed() && append(value, layout);
  }

  bool append(const Value& value, FieldLayout& layout) {
    switch (layout.type) {
      case 's':
      case 'r':
      case 'a':
        return append_shown(value, layout);
      case 'c':
        return append_character_of(value, layout);
      case 'i':
      case 'u':
      case 'd':
        layout.type = 'd';
        return append_digits(value, layout, true);
      case 'x':
      case 'X':
      case 'o':
        return append_digits(value, layout, false);
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        return append_digits(value.is_integral() ? Value::of(value.as_real()) : value, layout,
                             false);
      default:
        render_.fail(std::string("unsupported format character '") + layout.type + "'");
        return false;
    }
  }

  bool append_shown(const Value& value, const FieldLayout& layout) {
    Value text;
    if (layout.type == 's') {
      text = format_.is_markup() ? render_.escaped(value) : render_.string_of(value);
    } else {
      const auto mark = render_.output().begin();
      if (!render_.print_repr(value)) {
        render_.output().end(mark);
        return false;
      }
      text = render_.take_string(mark);
    }
    FieldLayout right = layout;
    if (right.align == '\0') right.align = '>';
    return !text.failed() && append_text(render_, text, right);
  }

  bool append_character_of(const Value& value, const FieldLayout& layout) {
    std::string text;
    if (value.is_string() && count_characters(value.text()) == 1) {
      text = value.text();
    } else if (value.is_integral() && value.as_integer() >= 0 && value.as_integer() <= 0x10FFFF) {
      append_character(text, static_cast<char32_t>(value.as_integer()));
    } else {
      render_.fail("%c requires int or char");
      return false;
    }
    FieldLayout right = layout;
    if (right.align == '\0') right.align = '>';
    return append_text(render_, Value::text_of(text, value.origin()), right);
  }

  bool append_digits(const Value& value, FieldLayout& layout, bool truncates) {
    if (value.is_undefined()) {
      render_.fail_undefined(value);
      return false;
    }
    Value number = value;
    if (truncates && value.is(Kind::real)) {
      if (!std::isfinite(value.real) || std::fabs(value.real) >= 0x1p63) {
        render_.fail("the number does not fit an integer of 64 bits");
        return false;
      }
      number = Value::of(static_cast<std::int64_t>(value.real));
    }
    if (has_zero_ && layout.align == '\0') {
      layout.align = '=';
      layout.fill = "0";
    }
    const std::optional<std::string> digits = number_digits(render_, number, layout);
    return digits && append_number(render_, *digits, value.origin(), layout);
  }

  Render& render_;
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

Value percent_format(Render& render, const Value& format, const Value& arguments) {
  const auto mark = render.output().begin();
  if (!render.allow_bytes(format.size) || !PercentFormat(render, format, arguments).run()) {
    render.output().end(mark);
    return Value::failure();
  }
  const Value text = render.take_string(mark);
  return text.failed() ? text : text.with_markup(format.is_markup());
}

}  // namespace ingot::chat
