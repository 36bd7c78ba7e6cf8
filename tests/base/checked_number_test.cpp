// SPDX-License-Identifier: MIT
#include "base/checked_number.hpp"

#include <gtest/gtest.h>

namespace ingot {
namespace {

constexpr std::uint64_t largest = ~std::uint64_t{0};

TEST(CheckedNumber, RemembersAnOverflowToTheEnd) {
  EXPECT_EQ((CheckedNumber(2) * 3 + 4).value(), 10u);
  EXPECT_EQ((CheckedNumber(largest) + 0).value(), largest);
  EXPECT_FALSE((CheckedNumber(largest) + 1).value().has_value());
  EXPECT_FALSE((CheckedNumber(largest) * 2).value().has_value());
  EXPECT_FALSE(((CheckedNumber(largest) + 1) * 0).value().has_value());
  CheckedNumber sum = 1;
  sum += largest;
  sum += 5;
  EXPECT_FALSE(sum.value().has_value());
}

TEST(CheckedNumber, AnOverflowIsTheLargest) {
  EXPECT_EQ(max(CheckedNumber(3), 7).value(), 7u);
  EXPECT_FALSE(max(CheckedNumber(largest) + 1, 7).value().has_value());
}

}  // namespace
}  // namespace ingot
