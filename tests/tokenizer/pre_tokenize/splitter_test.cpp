// SPDX-License-Identifier: MIT
#include "tokenizer/pre_tokenize/splitter.hpp"

#include <gtest/gtest.h>

#include <string>

#include "ingot/tokenizer.hpp"
#include "support/expect_error.hpp"
#include "tokenizer/pre_tokenize/pre_tokenizer.hpp"

namespace ingot::tokenizer {
namespace {

/// The pieces of a text, joined by "|".
std::string split(std::string_view pre_tokenizer, std::string_view text) {
  const PreTokenizer* pre = find_pre_tokenizer(pre_tokenizer);
  if (pre == nullptr) return "unknown";
  const auto splitter = Splitter::make(pre->expressions);
  if (!splitter) return splitter.error().message();
  std::string joined;
  splitter->split(text, [&](std::string_view piece) {
    if (!joined.empty()) joined += '|';
    joined += piece;
  });
  return joined;
}

TEST(Splitter, WordsNumbersSymbolsAndSpace) {
  EXPECT_EQ(split("gpt-2", "Hello world's  123!?\n"), "Hello| world|'s| | 123|!?|\n");
  EXPECT_EQ(split("llama-bpe", "I'LL  go\n\n 1234 a.b"), "I|'LL| | go|\n\n| |123|4| a|.b");
  EXPECT_EQ(split("", "a$b12345"), "a|$|b|123|45");  // "default"
}

TEST(Splitter, TildeIsASymbol) {
  for (const char* pre :
       {"deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4", "spark2_5", "afmoe"}) {
    EXPECT_EQ(split(pre, "cd ~/.bashrc"), "cd| ~/.|bashrc") << pre;
    EXPECT_EQ(split(pre, "a~b ~ ~~! \xC3\xA9~"), "a|~b| ~| ~~!| \xC3\xA9|~") << pre;
  }
}

TEST(Splitter, UpperCaseBeginsAWord) {
  EXPECT_EQ(split("gpt-4o", "fooBar BAZqux it's"), "foo|Bar| BAZqux| it's");
  // A letter that is not ASCII is upper case and lower case.
  EXPECT_EQ(split("tekken",
                  "\xC3\x89"
                  "AB"),
            "\xC3\x89|AB");
}

TEST(Splitter, DigitsInThreesFromTheRight) {
  EXPECT_EQ(split("tiny_aya", "a 1234567 b"), "a| |1|234|567| b");
  EXPECT_EQ(split("superbpe", "1234567x12"), "1|234|567|x|12");
  EXPECT_EQ(split("afmoe", "123456"), "123|456");
}

TEST(Splitter, RunsOfSpaceInPowersOfTwo) {
  EXPECT_EQ(split("jais-2", std::string(7, ' ') + "a"), "    |  | a");
}

TEST(Splitter, SpaceAtTheEndOfAPiece) {
  EXPECT_EQ(split("deepseek-llm", "ab  \ncd   "), "ab|  |\n|cd|   ");
  // A long run that no expression takes is looked at once.
  const std::string run(100'000, ' ');
  EXPECT_TRUE(split("deepseek-llm", run + "\xD8\xA7") == run + "\xD8\xA7");
}

TEST(Splitter, EveryNameHasExpressionsThatCompile) {
  for (const std::string_view name : known_pre_tokenizers()) {
    ASSERT_NE(find_pre_tokenizer(name), nullptr) << name;
    EXPECT_THAT(Splitter::make(find_pre_tokenizer(name)->expressions), test::Succeeds()) << name;
  }
  EXPECT_EQ(find_pre_tokenizer("gpt-5"), nullptr);
}

TEST(Splitter, ExpressionsGetTheCharactersThatTheyName) {
  EXPECT_EQ(with_plain_characters("[\\x{E4}-\\x{4E00}]+|\\x{1F600}"),
            "[\xC3\xA4-\xE4\xB8\x80]+|\xF0\x9F\x98\x80");
  // ASCII could be syntax; what names no character stays.
  for (const std::string_view same : {"", "\\p{L}+", "\\x{2A}", "\\x{4E00", "\\x{4E0G}", "\\x{}",
                                      "\\x{110000}", "\\x{", "\\x{\\x{"}) {
    EXPECT_EQ(with_plain_characters(same), same);
  }
}

TEST(Splitter, RefusesOtherSyntax) {
  for (const std::string_view wrong : {"(a", "a)", "[a", "\\d", "\\p{X}", "a{", ""}) {
    const std::string_view list[] = {wrong};
    if (wrong.empty()) {
      EXPECT_THAT(Splitter::make(list), test::Succeeds());
    } else {
      EXPECT_THAT(Splitter::make(list), test::FailsWith(Errc::internal)) << wrong;
    }
  }
}

}  // namespace
}  // namespace ingot::tokenizer
