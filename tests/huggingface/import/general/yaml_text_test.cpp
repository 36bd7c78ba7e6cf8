// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include "ingot/model_card.hpp"
#include "support/expect_error.hpp"

namespace ingot::test {
namespace {

TEST(YamlScalar, StandsPlainWhereEveryReaderTakesItForAText) {
  EXPECT_EQ(yaml_scalar("apache-2.0"), "apache-2.0");
  EXPECT_EQ(yaml_scalar("org/Model_1"), "org/Model_1");
  for (const char* text : {"no", "null", "1.0", "a b", "a: b", "-x", ""}) {
    EXPECT_EQ(yaml_scalar(text), "\"" + std::string(text) + "\"");
  }
}

TEST(YamlScalar, ComesBackFromACard) {
  const std::string texts[] = {"a\"b\\c",
                               "tab\tline\nreturn\r",
                               "\x01\x7F",
                               "\xC2\x85\xC3\xA9",
                               "\xE2\x80\xA8 \xEF\xBB\xBF",
                               "\xF0\x9F\x98\x80",
                               "\xE2\x80\xAE \xF3\xA0\x80\x81",
                               "---",
                               "# x",
                               "~"};
  for (const std::string& text : texts) {
    const std::string card = "---\nname: " + yaml_scalar(text) + "\n---\n";
    const auto read = parse_model_card(card, "README.md");
    ASSERT_THAT(read, Succeeds()) << card;
    EXPECT_EQ((*read)["name"].text, text);
  }
}

TEST(YamlScalar, HidesNothingFromWhoLooksAtIt) {
  EXPECT_EQ(yaml_scalar("\xE2\x80\xAE"), "\"\\u202E\"");
  EXPECT_EQ(yaml_scalar("\xF3\xA0\x80\x81"), "\"\\U000E0001\"");
}

TEST(ParseYaml, ReadsADocumentWithoutFences) {
  const auto read = parse_yaml("types: [F16, Q8_0]\nname: a\n", "release.yaml");
  ASSERT_THAT(read, Succeeds());
  EXPECT_EQ((*read)["types"].items[1].text, "Q8_0");
  EXPECT_THAT(parse_yaml("", "release.yaml"), Succeeds());
}

TEST(ParseYaml, NamesTheLineOfAFault) {
  const auto read = parse_yaml("name: a\ntypes: *none\n", "release.yaml");
  ASSERT_THAT(read, FailsWith(Errc::import_refused));
  EXPECT_EQ(read.error().line, 2U);
}

}  // namespace
}  // namespace ingot::test
