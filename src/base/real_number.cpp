// SPDX-License-Identifier: MIT
#include "base/real_number.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include "base/ascii.hpp"
#include "ingot/text.hpp"

namespace ingot {
namespace {

/// Digits that can decide how a double is rounded: the longest exact middle between two doubles has
/// 767. Of later digits it counts whether one is not 0.
constexpr int most_digits = 770;
// Powers of ten outside of which every number is infinite or rounded to 0.
constexpr std::int64_t highest_point = 310;
constexpr std::int64_t lowest_point = -330;

/// A whole number that is as large as the digits and powers above can make it: 770 digits, or
/// 5^1100 and the bits of a quotient.
class LargeNumber {
 public:
  void multiply_add(std::uint32_t factor, std::uint32_t addend) noexcept {
    std::uint64_t carry = addend;
    for (std::size_t i = 0; i < size_; ++i) {
      carry += std::uint64_t{words_[i]} * factor;
      words_[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) words_[size_++] = static_cast<std::uint32_t>(carry);
  }

  /// Returns whether there is a remainder.
  bool divide(std::uint32_t divisor) noexcept {
    std::uint64_t rest = 0;
    for (std::size_t i = size_; i-- > 0;) {
      rest = rest << 32 | words_[i];
      words_[i] = static_cast<std::uint32_t>(rest / divisor);
      rest %= divisor;
    }
    while (size_ > 0 && words_[size_ - 1] == 0) --size_;
    return rest != 0;
  }

  void shift_left(std::size_t bits) noexcept {
    for (std::size_t i = 0; i < bits % 32; ++i) multiply_add(2, 0);
    const std::size_t words = bits / 32;
    std::uint32_t* const first = words_.data();
    std::copy_backward(first, first + size_, first + size_ + words);
    std::fill_n(first, words, 0);
    size_ += words;
  }

  [[nodiscard]] std::int64_t bit_count() const noexcept {
    if (size_ == 0) return 0;
    return static_cast<std::int64_t>(32 * size_) - std::countl_zero(words_[size_ - 1]);
  }
  [[nodiscard]] std::uint64_t bit(std::int64_t position) const noexcept {
    const auto at = static_cast<std::size_t>(position);
    return position < bit_count() ? words_[at / 32] >> (at % 32) & 1 : 0;
  }
  [[nodiscard]] bool has_bit_below(std::int64_t position) const noexcept {
    for (std::int64_t i = 0; i < std::min(position, bit_count()); ++i) {
      if (bit(i) != 0) return true;
    }
    return false;
  }

 private:
  std::array<std::uint32_t, 128> words_ = {};
  std::size_t size_ = 0;
};

/// The digits of a number without a sign: 0.DIGITS * 10^point.
struct Digits {
  std::array<std::uint8_t, most_digits> digits = {};
  int count = 0;
  bool has_more = false;  ///< Whether a later digit is not 0.
  std::int64_t point = 0;

  void add(int digit) noexcept {
    if (count == 0 && digit == 0) return;
    if (count < most_digits) {
      digits[static_cast<std::size_t>(count++)] = static_cast<std::uint8_t>(digit);
    } else {
      has_more = has_more || digit != 0;
    }
  }
};

/// Rounds `number` * 2^exponent, and a little more if `has_more`, to the nearest Real, of two the
/// even one.
template <class Real>
Real rounded(const LargeNumber& number, std::int64_t exponent, bool has_more) noexcept {
  constexpr std::int64_t real_bits = std::numeric_limits<Real>::digits;
  constexpr std::int64_t lowest_exponent = std::numeric_limits<Real>::min_exponent - real_bits;
  const std::int64_t bits = number.bit_count();
  const std::int64_t unit = std::max(bits + exponent - real_bits, lowest_exponent);
  const std::int64_t dropped = unit - exponent;
  std::uint64_t mantissa = 0;
  for (std::int64_t i = bits; i-- > std::max<std::int64_t>(dropped, 0);) {
    mantissa = mantissa << 1 | number.bit(i);
  }
  if (dropped <= 0) return std::ldexp(static_cast<Real>(mantissa), static_cast<int>(exponent));
  const bool is_half = number.bit(dropped - 1) != 0;
  const bool is_more = has_more || number.has_bit_below(dropped - 1);
  if (is_half && (is_more || mantissa % 2 == 1)) ++mantissa;
  return std::ldexp(static_cast<Real>(mantissa), static_cast<int>(unit));
}

template <class Real>
Real nearest(const Digits& decimal) noexcept {
  if (decimal.count == 0 || decimal.point < lowest_point) return 0;
  if (decimal.point > highest_point) return std::numeric_limits<Real>::infinity();
  std::int64_t power = decimal.point - decimal.count;
  // A Real holds these exactly, so that one operation rounds correctly.
  constexpr int exact_digits = std::numeric_limits<Real>::digits10;
  constexpr int exact_power = std::is_same_v<Real, double> ? 22 : 10;
  if (decimal.count <= exact_digits && std::abs(power) <= exact_power) {
    std::uint64_t whole = 0;
    for (int i = 0; i < decimal.count; ++i) {
      whole = 10 * whole + decimal.digits[static_cast<std::size_t>(i)];
    }
    Real scale = 1;
    for (std::int64_t i = std::abs(power); i > 0; --i) scale *= 10;
    const auto number = static_cast<Real>(whole);
    return power < 0 ? number / scale : number * scale;
  }
  LargeNumber number;
  for (int i = 0; i < decimal.count; ++i) {
    number.multiply_add(10, decimal.digits[static_cast<std::size_t>(i)]);
  }
  std::int64_t exponent = power;
  bool has_more = decimal.has_more;
  for (; power > 0; --power) number.multiply_add(5, 0);
  if (power < 0) {
    // The quotient keeps more bits than a double has; 5 has less than 2.33 of them.
    constexpr std::int64_t quotient_bits = 66;
    const std::int64_t wanted = -power * 233 / 100 + quotient_bits;
    const auto shift =
        static_cast<std::size_t>(std::max(wanted - number.bit_count(), quotient_bits));
    number.shift_left(shift);
    exponent -= static_cast<std::int64_t>(shift);
    for (; power <= -13; power += 13) has_more |= number.divide(1'220'703'125);  // 5^13
    for (; power < 0; ++power) has_more |= number.divide(5);
  }
  return rounded<Real>(number, exponent, has_more);
}

bool takes_word(const char*& next, const char* last, std::string_view word) noexcept {
  if (static_cast<std::size_t>(last - next) < word.size()) return false;
  if (!std::equal(word.begin(), word.end(), next,
                  [](char wanted, char c) { return lower_case(c) == wanted; })) {
    return false;
  }
  next += word.size();
  return true;
}

/// Reads the power of ten behind a number, if there is one.
std::int64_t take_exponent(const char*& next, const char* last) noexcept {
  if (next == last || lower_case(*next) != 'e') return 0;
  const char* at = next + 1;
  const bool is_negative = at != last && *at == '-';
  if (at != last && (*at == '-' || *at == '+')) ++at;
  if (at == last || !is_digit(*at)) return 0;
  std::int64_t exponent = 0;
  constexpr std::int64_t enough = std::int64_t{1} << 40;
  for (; at != last && is_digit(*at); ++at) {
    if (exponent < enough) exponent = 10 * exponent + (*at - '0');
  }
  next = at;
  return is_negative ? -exponent : exponent;
}

/// Reads as std::from_chars does, without it.
template <class Real>
std::from_chars_result read_decimal(const char* first, const char* last, Real& number,
                                    std::chars_format format) noexcept {
  const char* next = first;
  const bool is_negative = next != last && *next == '-';
  if (is_negative) ++next;
  const Real sign = is_negative ? -1 : 1;
  if (takes_word(next, last, "inf")) {
    takes_word(next, last, "inity");
    number = sign * std::numeric_limits<Real>::infinity();
    return {next, {}};
  }
  if (takes_word(next, last, "nan")) {
    number = std::copysign(std::numeric_limits<Real>::quiet_NaN(), sign);
    return {next, {}};
  }
  Digits decimal;
  std::int64_t digit_count = 0;
  for (; next != last && is_digit(*next); ++next, ++digit_count) {
    decimal.add(*next - '0');
    if (decimal.count > 0) ++decimal.point;
  }
  if (next != last && *next == '.') {
    const char* at = next + 1;
    for (; at != last && is_digit(*at); ++at, ++digit_count) {
      if (decimal.count == 0 && *at == '0') --decimal.point;
      decimal.add(*at - '0');
    }
    if (digit_count > 0) next = at;
  }
  if (digit_count == 0) return {first, std::errc::invalid_argument};
  if (format != std::chars_format::fixed) decimal.point += take_exponent(next, last);
  const auto result = nearest<Real>(decimal);
  if (std::isinf(result) || (result == 0 && decimal.count > 0)) {
    return {next, std::errc::result_out_of_range};
  }
  number = sign * result;
  return {next, {}};
}

template <class Real>
std::from_chars_result read_by_library(const char* first, const char* last, Real& number,
                                       std::chars_format format) noexcept {
#ifdef __cpp_lib_to_chars
  return std::from_chars(first, last, number, format);
#else
  return read_decimal(first, last, number, format);
#endif
}

template <class Real>
bool read_whole(std::string_view text, Real& number) noexcept {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = read_by_library(text.data(), end, number, std::chars_format::general);
  return error == std::errc() && stop == end;
}

}  // namespace

std::from_chars_result read_real(const char* first, const char* last, double& number,
                                 std::chars_format format) noexcept {
  return read_by_library(first, last, number, format);
}

std::from_chars_result read_real_exactly(const char* first, const char* last, double& number,
                                         std::chars_format format) noexcept {
  return read_decimal(first, last, number, format);
}

std::from_chars_result read_real_exactly(const char* first, const char* last, float& number,
                                         std::chars_format format) noexcept {
  return read_decimal(first, last, number, format);
}

bool read_float(std::string_view text, float& number) noexcept { return read_whole(text, number); }
bool read_float(std::string_view text, double& number) noexcept { return read_whole(text, number); }

}  // namespace ingot
