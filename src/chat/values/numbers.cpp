// SPDX-License-Identifier: MIT
#include "chat/values/numbers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/real_number.hpp"
#include "base/real_text.hpp"
#include "chat/values/characters.hpp"

namespace ingot::chat {
namespace {

/// "inf", "-inf" or "nan"; empty for a number.
std::string_view special_text(double number) noexcept {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  return {};
}

/// A number as digits and a power of ten: 0.d1d2d3... * 10^point.
struct Decimal {
  bool is_negative = false;
  std::string digits;
  int point = 0;
};

/// Reads what to_chars writes in scientific form: "-1.234e+05".
Decimal decimal_of(std::string_view text) {
  Decimal decimal;
  if (text.starts_with('-')) {
    decimal.is_negative = true;
    text.remove_prefix(1);
  }
  const std::size_t exponent = text.find('e');
  for (const char c : text.substr(0, exponent)) {
    if (c != '.') decimal.digits += c;
  }
  const char* first = text.data() + exponent + 1;
  if (*first == '+') ++first;
  std::from_chars(first, text.data() + text.size(), decimal.point);
  ++decimal.point;
  return decimal;
}

std::string exponent_form(const Decimal& decimal) {
  std::string text = decimal.digits.substr(0, 1);
  if (decimal.digits.size() > 1) text += '.' + decimal.digits.substr(1);
  const int exponent = decimal.point - 1;
  const std::string number = std::to_string(std::abs(exponent));
  text += exponent < 0 ? "e-" : "e+";
  return text + (number.size() < 2 ? "0" : "") + number;
}

/// Digits with a point in them; without a fraction, no point.
std::string point_form(const Decimal& decimal) {
  const auto size = static_cast<int>(decimal.digits.size());
  if (decimal.point <= 0) {
    return "0." + std::string(static_cast<std::size_t>(-decimal.point), '0') + decimal.digits;
  }
  if (decimal.point >= size) {
    return decimal.digits + std::string(static_cast<std::size_t>(decimal.point - size), '0');
  }
  const auto point = static_cast<std::size_t>(decimal.point);
  return decimal.digits.substr(0, point) + '.' + decimal.digits.substr(point);
}

/// Decimal digits of other scripts become those of ASCII, as Python reads them.
std::string plain_number(std::string_view text) {
  text = strip_right(strip_left(text));
  std::string plain;
  for (std::size_t i = 0; i < text.size();) {
    const Character character = first_character(text.substr(i));
    const bool is_foreign = character.code_point >= 0x80 && character.is_valid &&
                            class_of(character.code_point) == CharacterClass::decimal;
    if (is_foreign) {
      // Digits of a script stand side by side from 0 on.
      char32_t zero = character.code_point;
      while (character.code_point - zero < 9 && class_of(zero - 1) == CharacterClass::decimal) {
        --zero;
      }
      plain += static_cast<char>('0' + (character.code_point - zero));
    } else {
      plain += text.substr(i, character.size_bytes);
    }
    i += character.size_bytes;
  }
  return plain;
}

/// Removes underscores between digits; false if one stands elsewhere.
bool remove_underscores(std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      plain += text[i];
      continue;
    }
    const bool is_between = i > 0 && i + 1 < text.size() && digit_value(text[i - 1]) < 36 &&
                            digit_value(text[i + 1]) < 36;
    if (!is_between) return false;
  }
  text = std::move(plain);
  return true;
}

}  // namespace

std::string real_text(double number) {
  if (const auto special = special_text(number); !special.empty()) return std::string(special);
  Decimal decimal = decimal_of(shortest_scientific(number));
  const std::string sign = decimal.is_negative ? "-" : "";
  if (number == 0) return sign + "0.0";
  if (decimal.point <= -4 || decimal.point > 16) return sign + exponent_form(decimal);
  const std::string text = point_form(decimal);
  return sign + text + (text.find('.') == std::string::npos ? ".0" : "");
}

std::string fixed_text(double number, int decimals) {
  if (const auto special = special_text(number); !special.empty()) return std::string(special);
  return fixed_real(number, decimals);
}

std::string exponent_text(double number, int decimals) {
  if (const auto special = special_text(number); !special.empty()) return std::string(special);
  return scientific_real(number, decimals);
}

std::string general_text(double number, int digits, bool keeps_zeros) {
  if (const auto special = special_text(number); !special.empty()) return std::string(special);
  const int significant = std::max(digits, 1);
  Decimal decimal = decimal_of(scientific_real(number, significant - 1));
  if (!keeps_zeros) {
    const std::size_t last = decimal.digits.find_last_not_of('0');
    decimal.digits.resize(last == std::string::npos ? 1 : last + 1);
  }
  const std::string sign = decimal.is_negative ? "-" : "";
  const bool is_large = number != 0 && (decimal.point <= -4 || decimal.point > significant);
  return sign + (is_large ? exponent_form(decimal) : point_form(decimal));
}

std::optional<std::int64_t> truncate_real(double number) noexcept {
  if (!std::isfinite(number) || std::fabs(number) >= 0x1p63) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

double round_real(double number, std::int64_t decimals) {
  if (!std::isfinite(number) || number == 0 || decimals > 330) return number;
  if (decimals < -310) return std::copysign(0.0, number);
  std::string text;
  if (decimals >= 0) {
    text = fixed_text(number, static_cast<int>(decimals));
  } else {
    // Significant digits down to the place that is kept.
    const Decimal exact = decimal_of(shortest_scientific(number));
    const std::int64_t digits = exact.point + decimals;
    if (digits < 0) return std::copysign(0.0, number);
    if (digits == 0) {
      const double unit = std::pow(10.0, static_cast<double>(-decimals));
      return std::copysign(std::fabs(number) > unit / 2 ? unit : 0.0, number);
    }
    text = exponent_text(number, static_cast<int>(digits - 1));
  }
  double rounded = 0;
  read_real(text.data(), text.data() + text.size(), rounded);
  return rounded;
}

std::optional<std::int64_t> round_integer(std::int64_t number, std::int64_t decimals) {
  if (decimals >= 0) return number;
  if (decimals < -18) return 0;
  std::int64_t unit = 1;
  for (std::int64_t i = decimals; i < 0; ++i) unit *= 10;
  std::int64_t rest = number % unit;
  if (rest < 0) rest += unit;
  std::int64_t rounded = 0;
  if (__builtin_sub_overflow(number, rest, &rounded)) return std::nullopt;
  const bool is_odd = (rounded / unit) % 2 != 0;
  if (rest > unit - rest || (rest == unit - rest && is_odd)) {
    if (__builtin_add_overflow(rounded, unit, &rounded)) return std::nullopt;
  }
  return rounded;
}

std::optional<std::int64_t> parse_integer(std::string_view text, std::int64_t base) {
  if (base != 0 && (base < 2 || base > 36)) return std::nullopt;
  std::string plain = plain_number(text);
  const bool is_negative = plain.starts_with('-');
  if (is_negative || plain.starts_with('+')) plain.erase(0, 1);
  const char letter = plain.size() > 1 && plain[0] == '0' ? lower_case(plain[1]) : '\0';
  const int prefix = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
  if (prefix != 0 && (base == 0 || base == prefix)) {
    plain.erase(0, plain.size() > 2 && plain[2] == '_' ? 3 : 2);
    base = prefix;
  } else if (base == 0) {
    base = 10;
    if (plain.size() > 1 && plain[0] == '0' && plain.find_first_not_of("0_") != std::string::npos) {
      return std::nullopt;
    }
  }
  if (!remove_underscores(plain) || plain.empty()) return std::nullopt;
  std::int64_t number = 0;
  for (const char c : plain) {
    const int digit = digit_value(c);
    const std::int64_t signed_digit = is_negative ? -digit : digit;
    if (digit >= base || __builtin_mul_overflow(number, base, &number) ||
        __builtin_add_overflow(number, signed_digit, &number)) {
      return std::nullopt;
    }
  }
  return number;
}

std::optional<double> parse_real(std::string_view text) {
  std::string plain = plain_number(text);
  if (!remove_underscores(plain)) return std::nullopt;
  std::string_view rest = plain;
  const bool is_negative = rest.starts_with('-');
  if (is_negative || rest.starts_with('+')) rest.remove_prefix(1);
  const bool is_word = !rest.empty() && digit_value(rest[0]) >= 10 && rest[0] != '.';
  if (rest.empty() || rest[0] == '-' || rest[0] == '+') return std::nullopt;
  if (is_word) {
    const std::string word = lower_case(rest);
    if (word == "nan") return std::nan("");
    if (word != "inf" && word != "infinity") return std::nullopt;
    return is_negative ? -HUGE_VAL : HUGE_VAL;
  }
  double number = 0;
  const auto end = read_real(rest.data(), rest.data() + rest.size(), number);
  if (end.ptr != rest.data() + rest.size()) return std::nullopt;
  if (end.ec == std::errc::result_out_of_range) {
    number = rest.find("e-") == std::string_view::npos ? HUGE_VAL : 0.0;
  }
  return is_negative ? -number : number;
}

std::string digits_text(std::uint64_t number, unsigned base) {
  std::array<char, 64> buffer;
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, static_cast<int>(base));
  return {buffer.data(), end.ptr};
}

}  // namespace ingot::chat
