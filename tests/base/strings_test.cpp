// SPDX-License-Identifier: MIT
#include "base/strings.hpp"

#include <gtest/gtest.h>

namespace ingot::test {
namespace {

TEST(Strings, TakesPartsWithTheirSeparators) {
  std::string_view text = "a,,b";
  EXPECT_EQ(take_part(text, ','), "a");
  EXPECT_EQ(text, ",b");
  EXPECT_EQ(take_part(text, ','), "");
  EXPECT_EQ(take_part(text, ','), "b");
  EXPECT_EQ(text, "");
  EXPECT_EQ(take_part(text, ','), "");
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  replace_all(text, from, to);
  return text;
}

TEST(Strings, ReplacesFromLeftToRight) {
  EXPECT_EQ(replaced("aaa", "aa", "b"), "ba");
  EXPECT_EQ(replaced("a-b-c", "-", "--"), "a--b--c");
  EXPECT_EQ(replaced("a-b-c", "-", ""), "abc");
  EXPECT_EQ(replaced("abc", "", "x"), "abc");
  EXPECT_EQ(replaced("abc", "d", "x"), "abc");
}

TEST(Strings, MeasuresTheNestingOfJsonOutsideOfItsTexts) {
  EXPECT_FALSE(is_json_deeper(R"({"a": [1], "b": [2]})", 2));
  EXPECT_TRUE(is_json_deeper(R"({"a": [1], "b": [2]})", 1));
  EXPECT_FALSE(is_json_deeper(R"(["[[[", "\"[[[", "]"])", 1));
  EXPECT_TRUE(is_json_deeper(R"(["\\", [[]]])", 2));
  EXPECT_FALSE(is_json_deeper("]]]][", 1));
  EXPECT_TRUE(is_json_deeper("]]]][[", 1));
}

// This would take minutes in quadratic time.
TEST(Strings, ReplacesInLongTexts) {
  const std::string tabs(std::size_t{1} << 22, '\t');
  EXPECT_EQ(replaced(tabs, "\t", "  "), std::string(2 * tabs.size(), ' '));
}

}  // namespace
}  // namespace ingot::test
