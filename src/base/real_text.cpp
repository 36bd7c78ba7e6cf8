// SPDX-License-Identifier: MIT
#include "base/real_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <system_error>
#include <vector>

#include "base/real_number.hpp"

namespace ingot {
namespace {

/// 0.DIGITS * 10^point, without zeros at its ends; no digits for 0.
struct Decimal {
  std::string digits;
  int point = 0;
  bool is_negative = false;

  /// Keeps the first digits, rounded, of two equally near the even one.
  [[nodiscard]] Decimal rounded(int count) const {
    Decimal result = *this;
    const auto size = static_cast<int>(digits.size());
    if (count >= size) return result;
    if (count < 0) return {{}, 0, is_negative};
    const auto at = static_cast<std::size_t>(count);
    const bool is_odd = count > 0 && (digits[at - 1] - '0') % 2 == 1;
    const bool is_up = digits[at] > '5' || (digits[at] == '5' && (count + 1 < size || is_odd));
    result.digits.resize(at);
    return is_up ? result.next() : result;
  }

  /// One more in the last digit.
  [[nodiscard]] Decimal next() const {
    Decimal result = *this;
    std::size_t i = result.digits.size();
    while (i > 0 && result.digits[i - 1] == '9') result.digits[--i] = '0';
    if (i > 0) {
      ++result.digits[i - 1];
    } else {
      result.digits.insert(0, 1, '1');
      ++result.point;
    }
    return result;
  }

  [[nodiscard]] Decimal without_zeros() const {
    Decimal result = *this;
    result.digits.resize(digits.find_last_not_of('0') + 1);
    return result;
  }

  [[nodiscard]] std::string scientific(int decimals) const {
    std::string text = digits.empty() ? "0" : digits;
    text.resize(static_cast<std::size_t>(decimals) + 1, '0');
    if (decimals > 0) text.insert(1, 1, '.');
    const int exponent = digits.empty() ? 0 : point - 1;
    const std::string power = std::to_string(std::abs(exponent));
    return (is_negative ? "-" : "") + text + (exponent < 0 ? "e-" : "e+") +
           (power.size() < 2 ? "0" : "") + power;
  }

  [[nodiscard]] std::string fixed(int decimals) const {
    std::string text = digits;
    int whole = digits.empty() ? 1 : point;
    if (digits.empty()) text = "0";
    if (whole < 1) {
      text.insert(0, static_cast<std::size_t>(1 - whole), '0');
      whole = 1;
    }
    text.resize(static_cast<std::size_t>(whole + decimals), '0');
    if (decimals > 0) text.insert(static_cast<std::size_t>(whole), 1, '.');
    return (is_negative ? "-" : "") + text;
  }
};

/// All digits of a number: every double is a whole number of powers of 2, and so of 10.
Decimal exact_decimal(double number) {
  Decimal result{{}, 0, std::signbit(number)};
  if (number == 0) return result;
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(number), &exponent);
  auto mantissa = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
  exponent -= 53;
  while (mantissa % 2 == 0) {
    mantissa /= 2;
    ++exponent;
  }
  constexpr std::uint64_t part = 1'000'000'000;  // nine digits, the lowest first
  std::vector<std::uint32_t> parts;
  for (; mantissa != 0; mantissa /= part)
    parts.push_back(static_cast<std::uint32_t>(mantissa % part));
  for (int i = std::abs(exponent); i > 0; --i) {
    std::uint64_t carry = 0;
    for (std::uint32_t& each : parts) {
      carry += std::uint64_t{each} * (exponent > 0 ? 2 : 5);
      each = static_cast<std::uint32_t>(carry % part);
      carry /= part;
    }
    if (carry != 0) parts.push_back(static_cast<std::uint32_t>(carry));
  }
  for (std::size_t i = parts.size(); i-- > 0;) {
    const std::string digits = std::to_string(parts[i]);
    if (!result.digits.empty()) result.digits.append(9 - digits.size(), '0');
    result.digits += digits;
  }
  result.point = static_cast<int>(result.digits.size()) + std::min(exponent, 0);
  result.digits.resize(result.digits.find_last_not_of('0') + 1);
  return result;
}

template <class Real>
bool reads_as(const Decimal& decimal, Real number) {
  const std::string text = decimal.scientific(static_cast<int>(decimal.digits.size()) - 1);
  Real read = 0;
  read_real_exactly(text.data(), text.data() + text.size(), read, std::chars_format::general);
  return read == number;
}

template <class Real>
Decimal shortest_decimal(Real number) {
  // So many digits are never those of two numbers: a whole number of no more has no shorter form.
  const Real most = std::numeric_limits<Real>::digits10 == 6 ? Real(1e6) : Real(1e15);
  const Real size = std::fabs(number);
  if (size > 0 && size < most && size == std::trunc(size)) {
    const std::string digits = std::to_string(static_cast<std::uint64_t>(size));
    return Decimal{digits, static_cast<int>(digits.size()), number < 0}.without_zeros();
  }
  const Decimal exact = exact_decimal(number);
  for (int count = 1; count < std::numeric_limits<Real>::max_digits10; ++count) {
    const Decimal decimal = exact.rounded(count);
    if (decimal.digits.empty()) return decimal;
    if (reads_as(decimal, number)) return decimal.without_zeros();
    // Below a power of 2 the next number is nearer than above it.
    const bool has_all = static_cast<int>(decimal.digits.size()) == count;
    if (has_all && reads_as(decimal.next(), number)) return decimal.next().without_zeros();
  }
  return exact.rounded(std::numeric_limits<Real>::max_digits10);
}

std::string scientific_text(const Decimal& decimal) {
  return decimal.scientific(std::max(static_cast<int>(decimal.digits.size()) - 1, 0));
}

template <class Real>
std::string shorter_text(Real number) {
  const Decimal shortest = shortest_decimal(number);
  const int decimals = std::max(static_cast<int>(shortest.digits.size()) - shortest.point, 0);
  // A whole number has all its digits.
  const std::string fixed = decimals == 0 && shortest.point > 0
                                ? exact_decimal(number).fixed(0)
                                : shortest.fixed(shortest.digits.empty() ? 0 : decimals);
  std::string scientific = scientific_text(shortest);
  return fixed.size() <= scientific.size() ? fixed : scientific;
}

}  // namespace

std::string ExactReals::fixed(double number, int decimals) {
  const Decimal exact = exact_decimal(number);
  return exact.rounded(exact.point + decimals).fixed(decimals);
}

std::string ExactReals::scientific(double number, int decimals) {
  return exact_decimal(number).rounded(decimals + 1).scientific(decimals);
}

std::string ExactReals::shortest_scientific(double number) {
  return scientific_text(shortest_decimal(number));
}
std::string ExactReals::shortest(double number) { return shorter_text(number); }
std::string ExactReals::shortest(float number) { return shorter_text(number); }

#ifdef __cpp_lib_to_chars
namespace {

template <class... Arguments>
std::string written(Arguments... arguments) {
  std::array<char, 512> buffer;
  auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), arguments...);
  if (end.ec == std::errc()) return {buffer.data(), end.ptr};
  std::string large(2048, '\0');  // 309 digits before the point, and 1100 behind it
  end = std::to_chars(large.data(), large.data() + large.size(), arguments...);
  large.resize(end.ec == std::errc() ? static_cast<std::size_t>(end.ptr - large.data()) : 0);
  return large;
}

}  // namespace

std::string fixed_real(double number, int decimals) {
  return written(number, std::chars_format::fixed, decimals);
}
std::string scientific_real(double number, int decimals) {
  return written(number, std::chars_format::scientific, decimals);
}
std::string shortest_scientific(double number) {
  return written(number, std::chars_format::scientific);
}
std::string shortest_real(double number) { return written(number); }
std::string shortest_real(float number) { return written(number); }
#else
std::string fixed_real(double number, int decimals) { return ExactReals::fixed(number, decimals); }
std::string scientific_real(double number, int decimals) {
  return ExactReals::scientific(number, decimals);
}
std::string shortest_scientific(double number) { return ExactReals::shortest_scientific(number); }
std::string shortest_real(double number) { return ExactReals::shortest(number); }
std::string shortest_real(float number) { return ExactReals::shortest(number); }
#endif

}  // namespace ingot
