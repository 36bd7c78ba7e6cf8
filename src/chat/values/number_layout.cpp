// SPDX-License-Identifier: MIT
#include "chat/values/number_layout.hpp"

#include <algorithm>
#include <cmath>

#include "chat/values/characters.hpp"
#include "chat/values/numbers.hpp"

namespace ingot::chat {
namespace {

/// Python's own bound on the digits behind a point is larger; a double has no more than these.
constexpr std::int64_t max_precision = 1100;

std::string upper_ascii(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return text;
}

/// How much of the space that is missing to the width lies on the left.
std::int64_t left_of(std::int64_t missing, char align) noexcept {
  return missing <= 0 || align == '<' ? 0 : align == '^' ? missing / 2 : missing;
}

/// Separators between groups of digits before the point or exponent.
std::string grouped(std::string digits, char separator, std::size_t group) {
  const std::size_t end = std::min(digits.find_first_of(".e"), digits.size());
  for (std::size_t at = end; at > group; at -= group) digits.insert(at - group, 1, separator);
  return digits;
}

std::string sign_text(bool is_negative, char sign) {
  if (is_negative) return "-";
  return sign == '-' ? "" : std::string(1, sign);
}

std::string integer_digits(std::int64_t number, const FieldLayout& layout) {
  const char type = layout.type;
  const unsigned base = type == 'x' || type == 'X' ? 16 : type == 'o' ? 8 : type == 'b' ? 2 : 10;
  std::string digits = digits_text(magnitude_of(number), base);
  if (layout.precision > static_cast<std::int64_t>(digits.size())) {
    const std::int64_t zeros =
        std::min(layout.precision, max_precision) - static_cast<std::int64_t>(digits.size());
    digits.insert(0, static_cast<std::size_t>(std::max<std::int64_t>(zeros, 0)), '0');
  }
  if (layout.grouping != '\0') digits = grouped(digits, layout.grouping, base == 10 ? 3 : 4);
  if (layout.is_alternate && base != 10)
    digits = std::string("0") + static_cast<char>(type | 0x20) + digits;
  if (type == 'X') digits = upper_ascii(digits);
  return sign_text(number < 0, layout.sign) + digits;
}

std::string real_digits(double number, const FieldLayout& layout) {
  const bool is_negative = std::signbit(number) && !std::isnan(number);
  const double size = std::fabs(number);
  const auto precision =
      static_cast<int>(std::min(layout.precision < 0 ? 6 : layout.precision, max_precision));
  const char type = lower_case(layout.type);
  std::string digits;
  if (type == 'f') {
    digits = fixed_text(size, precision);
  } else if (type == '%') {
    digits = fixed_text(size * 100, precision) + "%";
  } else if (type == 'e') {
    digits = exponent_text(size, precision);
  } else if (type == '\0' && layout.precision < 0) {
    digits = real_text(size);
  } else {
    digits = general_text(size, precision, layout.is_alternate);
    const bool is_whole = digits.find_first_of(".en") == std::string::npos;
    if (type == '\0' && is_whole) digits += ".0";
  }
  if (layout.grouping != '\0') digits = grouped(digits, layout.grouping, 3);
  if (layout.type == 'F' || layout.type == 'E' || layout.type == 'G') digits = upper_ascii(digits);
  return sign_text(is_negative, layout.sign) + digits;
}

bool append_fill(Heap& heap, const std::string& fill, std::int64_t count) {
  if (count <= 0) return true;
  const auto times = static_cast<std::uint64_t>(count);
  if (!heap.allow_copies(times, fill.size())) return false;
  for (std::uint64_t i = 0; i < times; ++i) heap.output().append(fill, from_template);
  return true;
}

}  // namespace

std::optional<std::string> number_digits(Heap& heap, const Value& number,
                                         const FieldLayout& layout) {
  constexpr std::string_view integer_types = "dxXobin";
  constexpr std::string_view real_types = "fFeEgG%n";
  if (number.is(Kind::digits)) {
    if (!heap.spend_on(2 * std::uint64_t{number.size})) return std::nullopt;
    return std::string(number.text());
  }
  const bool wants_integer =
      layout.type == '\0' || integer_types.find(layout.type) != std::string_view::npos;
  if (number.is_integral() && wants_integer) return integer_digits(number.as_integer(), layout);
  const bool wants_real =
      layout.type == '\0' || real_types.find(layout.type) != std::string_view::npos;
  if (number.is_number() && wants_real) {
    if (!heap.spend(real_text_steps)) return std::nullopt;
    return real_digits(number.as_real(), layout);
  }
  return heap.fail(std::string("the format '") + layout.type + "' does not fit a value of type '" +
                   std::string(type_name(number.kind)) + "'");
}

bool append_number(Heap& heap, std::string_view digits, std::uint8_t origin,
                   const FieldLayout& layout) {
  const std::int64_t missing = layout.width - static_cast<std::int64_t>(digits.size());
  const char align = layout.align == '\0' ? '>' : layout.align;
  std::size_t head = 0;
  if (align == '=') {
    if (head < digits.size() && (digits[0] == '-' || digits[0] == '+' || digits[0] == ' ')) ++head;
    const bool has_prefix =
        layout.is_alternate && digits.size() > head + 1 && digits[head] == '0' &&
        (digits[head + 1] < '0' || digits[head + 1] > '9') && digits[head + 1] != '.';
    if (has_prefix) head += 2;
  }
  const std::int64_t left = left_of(missing, align);
  heap.output().append(digits.substr(0, head), origin);
  if (!append_fill(heap, layout.fill, left)) return false;
  heap.output().append(digits.substr(head), origin);
  return append_fill(heap, layout.fill, missing - left);
}

bool append_text(Heap& heap, const Value& text, const FieldLayout& layout) {
  const std::string_view bytes = text.text();
  if (!heap.allow_bytes(2 * bytes.size()) || !heap.allow_output()) return false;
  const std::size_t end =
      layout.precision < 0 ? bytes.size()
                           : byte_of_character(bytes, static_cast<std::size_t>(layout.precision));
  const auto size = static_cast<std::int64_t>(count_characters(bytes.substr(0, end)));
  const std::int64_t missing = layout.width - size;
  const std::int64_t left = left_of(missing, layout.align == '\0' ? '<' : layout.align);
  if (!append_fill(heap, layout.fill, left)) return false;
  heap.output().append_part(text, 0, end);
  return append_fill(heap, layout.fill, missing - left);
}

}  // namespace ingot::chat
