// SPDX-License-Identifier: MIT
#include "base/ranges.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string_view>

namespace ingot::test {
namespace {

struct NamedNumber {
  std::string_view name;
  int number;
};

constexpr std::array<NamedNumber, 3> named_numbers = {{{"one", 1}, {"two", 2}, {"again two", 2}}};

TEST(FindRow, FindsTheFirstWithAValue) {
  ASSERT_NE(find_row(named_numbers, &NamedNumber::number, 2), nullptr);
  EXPECT_EQ(find_row(named_numbers, &NamedNumber::number, 2)->name, "two");
  EXPECT_EQ(find_row(named_numbers, &NamedNumber::name, "one")->number, 1);
  EXPECT_EQ(find_row(named_numbers, &NamedNumber::number, 3), nullptr);
}

}  // namespace
}  // namespace ingot::test
