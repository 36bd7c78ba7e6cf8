// SPDX-License-Identifier: MIT
#include "base/hexadecimal.hpp"

#include <gtest/gtest.h>

namespace ingot::test {
namespace {

TEST(Hexadecimal, WritesAtLeastSoManyDigits) {
  EXPECT_EQ(hexadecimal(0, 1), "0");
  EXPECT_EQ(hexadecimal(0x2AF, 2), "2af");
  EXPECT_EQ(hexadecimal(0x2AF, 6), "0002af");
  EXPECT_EQ(hexadecimal(UINT64_MAX, 1, upper_hexadecimal_digits), "FFFFFFFFFFFFFFFF");
  EXPECT_EQ(hexadecimal_byte('\xE9', hexadecimal_digits), "e9");
  EXPECT_EQ(hexadecimal_byte('\n', upper_hexadecimal_digits), "0A");
}

TEST(Hexadecimal, ReadsDigitsOfEitherCase) {
  EXPECT_EQ(value_of_hexadecimal('7'), 7u);
  EXPECT_EQ(value_of_hexadecimal('b'), 11u);
  EXPECT_EQ(value_of_hexadecimal('F'), 15u);
  for (const char c : {'g', '/', ':', '@', '`', '\0', '\xFF'}) {
    EXPECT_EQ(value_of_hexadecimal(c), std::nullopt);
  }
}

TEST(Hexadecimal, ReadsBytesOfTwoDigits) {
  EXPECT_EQ(byte_of_hexadecimal("E9"), '\xE9');
  EXPECT_EQ(byte_of_hexadecimal("0a"), '\n');
  for (const char* text : {"", "1", "1g", "x1", "123"}) {
    EXPECT_EQ(byte_of_hexadecimal(text), std::nullopt);
  }
}

TEST(Hexadecimal, KnowsDigests) {
  EXPECT_TRUE(is_hexadecimal("0f9a", 4));
  EXPECT_FALSE(is_hexadecimal("0f9a", 5));
  EXPECT_FALSE(is_hexadecimal("0F9a", 4));
  EXPECT_FALSE(is_hexadecimal("0g9a", 4));
}

}  // namespace
}  // namespace ingot::test
