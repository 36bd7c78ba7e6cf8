// SPDX-License-Identifier: MIT
#include "formats/json/json_tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/expect_error.hpp"

namespace ingot::huggingface {
namespace {

using test::FailsWith;

TEST(JsonTree, KeepsTheOrderOfMembers) {
  const auto tree = JsonTree::parse(R"({"b": 1, "a": {"x": [1, 2]}, "c": "t"})", "f");
  ASSERT_THAT(tree, test::Succeeds());
  std::vector<std::string> names;
  for (const auto& [name, value] : tree->root().members()) names.emplace_back(name);
  EXPECT_THAT(names, testing::ElementsAre("b", "a", "c"));
  EXPECT_EQ(tree->root().size(), 3u);
  EXPECT_EQ(tree->root()["a"]["x"].at(1).integer(), 2);
  EXPECT_EQ(tree->root()["c"].text(), "t");
}

TEST(JsonTree, TellsKindsApart) {
  const auto tree = JsonTree::parse(R"([null, true, -3, 1.5, "", [], {}, 1e30])", "f");
  ASSERT_THAT(tree, test::Succeeds());
  const JsonView list = tree->root();
  EXPECT_TRUE(list.at(0).is_null());
  EXPECT_EQ(list.at(1).boolean(), true);
  EXPECT_EQ(list.at(2).integer(), -3);
  EXPECT_EQ(list.at(3).integer(), std::nullopt);
  EXPECT_EQ(list.at(3).number(), 1.5);
  EXPECT_TRUE(list.at(4).is_text());
  EXPECT_TRUE(list.at(5).is_array());
  EXPECT_TRUE(list.at(6).is_object());
  EXPECT_EQ(list.at(7).number(), 1e30);
  EXPECT_FALSE(list.at(8).exists());
}

TEST(JsonTree, AnswersNoneForWhatIsNotThere) {
  const auto tree = JsonTree::parse("{}", "f");
  ASSERT_THAT(tree, test::Succeeds());
  const JsonView nothing = tree->root()["a"]["b"].at(3)["c"];
  EXPECT_FALSE(nothing.exists());
  EXPECT_EQ(nothing.text(), "");
  EXPECT_EQ(nothing.number(), std::nullopt);
  EXPECT_FALSE(JsonTree().root().exists());
}

TEST(JsonTree, TakesTheLastMemberOfAName) {
  const auto tree = JsonTree::parse(R"({"a": 1, "a": 2})", "f");
  ASSERT_THAT(tree, test::Succeeds());
  EXPECT_EQ(tree->root()["a"].integer(), 2);
}

TEST(JsonTree, NamesTheByteThatIsNotJson) {
  EXPECT_THAT(JsonTree::parse(R"({"a": x})", "f"), FailsWith(Errc::import_refused, 6, "f"));
  EXPECT_THAT(JsonTree::parse("", "f"), FailsWith(Errc::import_refused));
}

TEST(JsonTree, IsBounded) {
  const std::string deep = std::string(101, '[') + std::string(101, ']');
  EXPECT_THAT(JsonTree::parse(deep, "f"), FailsWith(Errc::limit_exceeded));
  EXPECT_THAT(JsonTree::parse(deep.substr(1, 200), "f"), test::Succeeds());
  EXPECT_THAT(JsonTree::parse("[1,2,3]", "f", {.values = 3}), FailsWith(Errc::limit_exceeded));
  EXPECT_THAT(JsonTree::parse("[1,2]", "f", {.values = 3}), test::Succeeds());
}

}  // namespace
}  // namespace ingot::huggingface
