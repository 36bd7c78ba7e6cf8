// SPDX-License-Identifier: MIT
#include "ingot/model_card.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/expect_error.hpp"

namespace ingot {
namespace {

using test::FailsWith;

CardValue parse(std::string_view text) {
  auto card = parse_model_card(text, "README.md");
  EXPECT_THAT(card, test::Succeeds());
  return card ? *std::move(card) : CardValue();
}

TEST(ModelCard, IsTheYamlBetweenTheFences) {
  const CardValue card = parse("---\nlicense: mit\ntags:\n- a\n- \"b\"\n---\nname: not this\n");
  EXPECT_EQ(card["license"].text, "mit");
  ASSERT_EQ(card["tags"].items.size(), 2u);
  EXPECT_EQ(card["tags"].items[1].text, "b");
  EXPECT_FALSE(card.contains("name"));
}

TEST(ModelCard, KeepsScalarsAsTexts) {
  const CardValue card = parse("---\nlanguage:\n- no\n- 2024\nversion: 1.0\n---\n");
  EXPECT_EQ(card["language"].items[0].text, "no");
  EXPECT_EQ(card["language"].items[1].text, "2024");
  EXPECT_EQ(card["version"].text, "1.0");
}

TEST(ModelCard, TellsNullsFromTexts) {
  const CardValue card = parse("---\na:\nb: ~\nc: null\nd: 'null'\ne: ''\n---\n");
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_TRUE(card.contains(name));
    EXPECT_EQ(card[name].kind, CardValue::Kind::null) << name;
  }
  EXPECT_EQ(card["d"].text, "null");
  EXPECT_TRUE(card["e"].is_text());
}

TEST(ModelCard, ReadsLinesOfEverySystem) {
  EXPECT_EQ(parse("---\r\nlicense: mit\r\n---\r\n")["license"].text, "mit");
  EXPECT_EQ(parse("---\rlicense: mit\r---\r")["license"].text, "mit");
}

TEST(ModelCard, TakesTabsAsSpaces) {
  EXPECT_EQ(parse("---\na:\n\tb: c\n---\n")["a"]["b"].text, "c");
}

TEST(ModelCard, IsEmptyWithoutFences) {
  EXPECT_TRUE(parse("# Title\n---\nlicense: mit\n---\n").names.empty());
  EXPECT_TRUE(parse("").names.empty());
  EXPECT_TRUE(parse("---\n- a list\n---\n").names.empty());
}

TEST(ModelCard, TakesTheLastMemberOfAName) {
  EXPECT_EQ(parse("---\na: 1\na: 2\n---\n")["a"].text, "2");
}

TEST(ModelCard, NamesTheLineThatIsNotYaml) {
  const auto card = parse_model_card("---\na: b\nc: [\n---\n", "README.md");
  EXPECT_THAT(card, FailsWith(Errc::import_refused));
  EXPECT_EQ(card.error().line, 4u);
  EXPECT_THAT(card.error().message(), testing::HasSubstr("(line 4: "));
}

TEST(ModelCard, RefusesAliases) {
  const auto card = parse_model_card("---\na: &x [1]\nb: *x\n---\n", "README.md");
  EXPECT_THAT(card, FailsWith(Errc::import_refused));
  EXPECT_EQ(card.error().line, 3u);
  EXPECT_THAT(card.error().detail, testing::StartsWith("aliases"));
}

TEST(ModelCard, RefusesDeepNesting) {
  const std::string open(65, '[');
  const std::string close(65, ']');
  EXPECT_THAT(parse_model_card("---\na: " + open + close + "\n", "README.md"),
              FailsWith(Errc::limit_exceeded));
}

}  // namespace
}  // namespace ingot
