// SPDX-License-Identifier: MIT
#include "huggingface/export/yaml_text.hpp"

#include <gmock/gmock.h>

#include "ingot/model_card.hpp"
#include "support/expect_error.hpp"

namespace ingot::test {
namespace {

TEST(YamlScalar, StandsPlainWhereEveryReaderTakesItForAText) {
  EXPECT_EQ(huggingface::yaml_scalar("apache-2.0"), "apache-2.0");
  EXPECT_EQ(huggingface::yaml_scalar("org/Model_1"), "org/Model_1");
  for (const char* text : {"no", "null", "1.0", "a b", "a: b", "-x", ""}) {
    EXPECT_EQ(huggingface::yaml_scalar(text), "\"" + std::string(text) + "\"");
  }
}

TEST(YamlScalar, ComesBackFromACard) {
  const std::string texts[] = {"a\"b\\c",
                               "tab\tline\nreturn\r",
                               "\x01\x7F",
                               "\xC2\x85\xC3\xA9",
                               "\xE2\x80\xA8 \xEF\xBB\xBF",
                               "\xF0\x9F\x98\x80",
                               "---",
                               "# x",
                               "~"};
  for (const std::string& text : texts) {
    const std::string card = "---\nname: " + huggingface::yaml_scalar(text) + "\n---\n";
    const auto read = parse_model_card(card, "README.md");
    ASSERT_THAT(read, Succeeds()) << card;
    EXPECT_EQ((*read)["name"].text, text);
  }
}

}  // namespace
}  // namespace ingot::test
