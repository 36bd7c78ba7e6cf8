// SPDX-License-Identifier: MIT
// "{:>4}" and the like.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/real_text.hpp"

namespace fmt::detail {
namespace {

/// What stands behind the colon.
struct Layout {
  char alignment = '\0';
  bool has_zeros = false;
  std::size_t width = 0;
  int precision = -1;
  char type = '\0';
};

std::string digits_of(std::uint64_t number, char type) {
  char digits[20];
  const int base = type == 'x' || type == 'X' ? 16 : 10;
  std::string text(digits, std::to_chars(std::begin(digits), std::end(digits), number, base).ptr);
  for (char& c : text) c = type == 'X' && c >= 'a' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

/// As many significant digits as the precision says, without zeros at the end.
std::string general(double number, int precision) {
  const int digits = std::max(precision, 1);
  const std::string scientific = ingot::scientific_real(number, digits - 1);
  const std::size_t place = scientific.find('e');
  int exponent = 0;
  const char* const first = scientific.data() + place + (scientific[place + 1] == '+' ? 2 : 1);
  std::from_chars(first, scientific.data() + scientific.size(), exponent);
  const bool is_plain = exponent >= -4 && exponent < digits;
  std::string text =
      is_plain ? ingot::fixed_real(number, digits - 1 - exponent) : scientific.substr(0, place);
  if (text.find('.') != std::string::npos) {
    text.resize(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return is_plain ? text : text + scientific.substr(place);
}

std::string real(double number, const Layout& layout) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  if (layout.type == 'f') return ingot::fixed_real(number, layout.precision);
  if (layout.type == '\0' && layout.precision < 0) return ingot::shortest_real(number);
  return general(number, layout.precision < 0 ? 6 : layout.precision);
}

std::string plain(const Argument& argument, const Layout& layout) {
  if (const auto* text = std::get_if<std::string_view>(&argument)) return std::string(*text);
  if (const auto* number = std::get_if<double>(&argument)) return real(*number, layout);
  if (const auto* number = std::get_if<std::uint64_t>(&argument)) {
    return digits_of(*number, layout.type);
  }
  const std::int64_t number = *std::get_if<std::int64_t>(&argument);
  const auto bits = static_cast<std::uint64_t>(number);
  return number < 0 ? "-" + digits_of(0 - bits, layout.type) : digits_of(bits, layout.type);
}

std::string aligned(std::string text, const Argument& argument, const Layout& layout) {
  if (text.size() >= layout.width) return text;
  const bool is_text = std::holds_alternative<std::string_view>(argument);
  const std::string space(layout.width - text.size(), layout.has_zeros ? '0' : ' ');
  if (layout.has_zeros && text.starts_with('-')) return text.insert(1, space);
  const char alignment = layout.alignment != '\0' ? layout.alignment : is_text ? '<' : '>';
  return alignment == '<' ? text + space : space + text;
}

/// A number, or `{}`, which is the next argument; -1 if there is neither.
int take_number(const char*& next, const Argument*& arguments) {
  int number = -1;
  if (*next == '{') {
    next += 2;
    const Argument& argument = *arguments++;
    const auto* natural = std::get_if<std::uint64_t>(&argument);
    return natural != nullptr ? static_cast<int>(*natural)
                              : static_cast<int>(*std::get_if<std::int64_t>(&argument));
  }
  for (; *next >= '0' && *next <= '9'; ++next) number = std::max(number, 0) * 10 + (*next - '0');
  return number;
}

}  // namespace

std::string format(std::string_view format, const Argument* arguments) {
  std::string result;
  for (const char* next = format.data(); next != format.data() + format.size(); ++next) {
    if (*next == '}') ++next;  // which is written twice
    if (*next != '{' || *++next == '{') {
      result += *next;
      continue;
    }
    const Argument& argument = *arguments++;
    Layout layout;
    if (*next == ':') {
      ++next;
      if (*next == '<' || *next == '>') layout.alignment = *next++;
      if (*next == '0') {
        layout.has_zeros = true;
        ++next;
      }
      layout.width = static_cast<std::size_t>(std::max(take_number(next, arguments), 0));
      if (*next == '.') layout.precision = take_number(++next, arguments);
      if (*next != '}') layout.type = *next++;
    }
    result += aligned(plain(argument, layout), argument, layout);
  }
  return result;
}

}  // namespace fmt::detail
