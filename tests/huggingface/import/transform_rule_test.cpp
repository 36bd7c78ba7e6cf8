// SPDX-License-Identifier: MIT
// The tables of rules are read as a whole, and a typo in a transform is an error of the table.
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "huggingface/rules/architecture_rules.hpp"
#include "support/expect_error.hpp"

namespace ingot::huggingface {
namespace {

using testing::HasSubstr;

TEST(RuleTable, HoldsEveryTableOfTheLibrary) {
  const auto read = RuleTable::parse(rule_texts());
  ASSERT_THAT(read, test::Succeeds());
  EXPECT_FALSE(read->classes().empty());
  EXPECT_EQ(RuleTable::builtin().classes(), read->classes());
}

/// Reads a table whose only class has one transform.
Result<RuleTable> read_transform(std::string_view transform) {
  const std::string entry =
      R"({"X": {"architecture": "x", "transforms": [)" + std::string(transform) + "]}}";
  const RuleText files[] = {
      {"shared.json", R"({"drop_everywhere": [], "drop_after_renames": [], "always_f32": [],
                          "folders": {}})"},
      {"x.json", entry}};
  return RuleTable::parse(files);
}

TEST(TransformRule, HoldsWhatTheOperationIsCalled) {
  const auto table = read_transform(
      R"({"op": "stack", "names": ["e.{expert}.{part}"], "parts": ["a", "b"], "count": "n",
          "when": "moe?", "to": ["e.{part}"]})");
  ASSERT_THAT(table, test::Succeeds());
  const TransformRule& rule = table->find("X")->transforms.at(0);
  EXPECT_THAT(rule.parts, testing::ElementsAre("a", "b"));
  EXPECT_TRUE(rule.when.is_set());
  EXPECT_EQ(std::get<StackTensors>(rule.operation).to[0], "e.{part}");
}

struct Typo {
  std::string_view transform;
  std::string_view message;
};

TEST(TransformRule, RefusesTyposWhenTheTableIsRead) {
  const Typo typos[] = {
      {R"({"op": "stak", "names": ["a"]})", "a known operation instead of stak"},
      {R"({"names": ["a"]})", "a text instead of null"},
      {R"({"op": "drop"})", "a list instead of null"},
      {R"({"op": "add", "names": ["a"]})", "the member value of add"},
      {R"({"op": "add", "names": ["a"], "value": "1"})", "a number instead of \"1\""},
      {R"({"op": "add", "names": ["a"], "value": 1, "vaule": 2})",
       "a member of add instead of vaule"},
      {R"({"op": "drop", "names": ["a"], "heads": "n"})", "a member of drop instead of heads"},
      {R"({"op": "drop", "names": ["a{laier}"]})", "unknown placeholder"},
      {R"({"op": "drop", "names": ["a"], "when": "b +"})", "`b +`"},
      {R"({"op": "drop", "names": ["a"], "part": ["b"]})", "a member of drop instead of part"},
      {R"({"op": "rename", "names": ["a"], "to": []})", "a list of 1 names instead of []"},
      {R"({"op": "split_rows_half", "names": ["a"], "to": ["b"]})", "a list of 2 names"},
      {R"({"op": "rename", "names": ["a"], "to": ["{bsae}.b"]})", "unknown placeholder"},
      {R"({"op": "rope_pairs", "names": ["a"], "heads": ["n"]})", "a text instead of"},
  };
  for (const Typo& typo : typos) {
    const auto table = read_transform(typo.transform);
    ASSERT_FALSE(table) << typo.transform;
    EXPECT_EQ(table.error().code, Errc::import_refused);
    EXPECT_THAT(table.error().message(), HasSubstr(std::string(typo.message)));
    EXPECT_THAT(table.error().message(), HasSubstr("x.json: X"));
  }
}

}  // namespace
}  // namespace ingot::huggingface
