// SPDX-License-Identifier: MIT
#include "base/real_number.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>

#include "base/real_text.hpp"
#include "ingot/text.hpp"

namespace ingot {
namespace {

#ifdef __cpp_lib_to_chars  // which says that the standard library reads reals, too
template <class Real>
void expect_real_as_from_chars(const std::string& text, std::chars_format format) {
  Real wanted = 7;
  Real found = 7;
  const char* const end = text.data() + text.size();
  const auto expected = std::from_chars(text.data(), end, wanted, format);
  const auto result = read_real_exactly(text.data(), end, found, format);
  EXPECT_EQ(result.ptr, expected.ptr) << text;
  EXPECT_EQ(result.ec, expected.ec) << text;
  if (expected.ec != std::errc()) return;
  EXPECT_TRUE(found == wanted || (std::isnan(found) && std::isnan(wanted))) << text;
  EXPECT_EQ(std::signbit(found), std::signbit(wanted)) << text;
}

void expect_as_from_chars(const std::string& text, std::chars_format format) {
  expect_real_as_from_chars<double>(text, format);
  expect_real_as_from_chars<float>(text, format);
}
#endif

template <class... Arguments>
std::string as_to_chars(Arguments... arguments) {
  std::array<char, 2048> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), arguments...).ptr};
}

void expect_as_to_chars(double number, int decimals) {
  EXPECT_EQ(ExactReals::shortest(number), as_to_chars(number));
  EXPECT_EQ(ExactReals::shortest_scientific(number),
            as_to_chars(number, std::chars_format::scientific));
  EXPECT_EQ(ExactReals::scientific(number, decimals),
            as_to_chars(number, std::chars_format::scientific, decimals));
  EXPECT_EQ(ExactReals::fixed(number, decimals),
            as_to_chars(number, std::chars_format::fixed, decimals));
  if (const auto single = static_cast<float>(number); std::isfinite(single)) {
    EXPECT_EQ(ExactReals::shortest(single), as_to_chars(single));
  }
}

#ifdef __cpp_lib_to_chars
TEST(RealNumber, ReadsWhatFromCharsReads) {
  std::mt19937_64 random(1);
  const auto digits = [&](std::uint64_t most) {
    std::string text;
    for (std::uint64_t i = random() % most; i-- > 0;)
      text += static_cast<char>('0' + random() % 10);
    return text;
  };
  for (const auto format : {std::chars_format::general, std::chars_format::fixed}) {
    for (const char* text : {"",
                             "-",
                             ".",
                             "1.",
                             ".5",
                             "-.e1",
                             "1e",
                             "1e+",
                             "1e5",
                             "-0",
                             "inf",
                             "INFINITY",
                             "infin",
                             "nan",
                             "-nan",
                             "2.4703282292062327e-324",
                             "2.4703282292062328e-324",
                             "7.006492321624085e-46",
                             "7.0064923216240854e-46",
                             "1e400",
                             "1e-400",
                             "4.9e-324",
                             "2e-324",
                             "2.2250738585072011e-308",
                             "9007199254740993",
                             "9007199254740993.0000000000000000000000001",
                             "3.4028235677973366e38",
                             "1e-45",
                             "16777217",
                             "16777217.0000000000000001",
                             "1.1754943508222874e-38"}) {
      expect_as_from_chars(text, format);
    }
    for (int i = 0; i < 5000; ++i) {
      std::string text = (random() % 2 == 0 ? "-" : "") + digits(25) + "." + digits(25);
      if (random() % 2 == 0) text += "e" + std::to_string(static_cast<int>(random() % 700) - 350);
      expect_as_from_chars(text, format);
    }
    for (int i = 0; i < 50; ++i) expect_as_from_chars("1" + digits(900) + "e-" + digits(4), format);
    for (int i = 0; i < 2000; ++i) {
      expect_as_from_chars(
          digits(9) + "." + digits(9) + "e" + std::to_string(static_cast<int>(random() % 100) - 50),
          format);
    }
  }
}
#endif

TEST(RealNumber, IsNearestToTheTextByOneRounding) {
  float number = 0;
  // As a double, the first would be the middle of two floats, and rounded down.
  EXPECT_TRUE(read_float("16777217.0000000001", number));
  EXPECT_EQ(number, 16777218.0f);
  EXPECT_TRUE(read_float("1e-45", number));
  EXPECT_EQ(number, std::numeric_limits<float>::denorm_min());
  EXPECT_FALSE(read_float("1e39", number));
  double wide = 0;
  EXPECT_TRUE(read_float("-1.5e300", wide));
  EXPECT_EQ(wide, -1.5e300);
  for (const char* text : {"", "1 ", " 1", "+1", "0x10", "1e400"}) {
    EXPECT_FALSE(read_float(text, wide)) << text;
  }
}

TEST(RealText, WritesWhatToCharsWrites) {
  std::mt19937_64 random(2);
  for (int power = -1074; power < 1024; power += 3) expect_as_to_chars(std::ldexp(1.0, power), 5);
  for (const double number :
       {0.0, -0.0, 0.5, 2.5, 0.05, 1e22, 1e23, 5e-324, 123456789012345680.0}) {
    for (const int decimals : {0, 1, 17}) expect_as_to_chars(number, decimals);
  }
  for (int i = 0; i < 2000; ++i) {
    const auto number = std::bit_cast<double>(random());
    if (std::isfinite(number)) expect_as_to_chars(number, static_cast<int>(random() % 20));
    expect_as_to_chars(static_cast<double>(random() % 100'000) / 1000,
                       static_cast<int>(random() % 4));
    expect_as_to_chars(-static_cast<double>(random() >> (1 + random() % 63)), 2);
  }
}

}  // namespace
}  // namespace ingot
