// SPDX-License-Identifier: MIT
// Each family on vocabularies of a few tokens.
#include <gtest/gtest.h>

#include <string>

#include "support/expect_error.hpp"
#include "support/vocabulary_sketch.hpp"
#include "tokenizer/made_tokenizer.hpp"
#include "tokenizer/vocabulary/byte_alphabet.hpp"

namespace ingot {
namespace {

using test::made;
using test::metaspace;
using test::pieces;
using test::VocabularySketch;

constexpr EncodeOptions plain{.add_special = false};

TEST(EncodeSpm, TheHighestScoreMergesFirstThenTheLeftmost) {
  VocabularySketch sketch{.model = "llama"};
  sketch.add("<unk>", 0, TokenKind::unknown).add("<s>", 0, TokenKind::control);
  sketch.add("</s>", 0, TokenKind::control).add_bytes();
  sketch.add("a", -9)
      .add("b", -9)
      .add(metaspace, -9)
      .add("ab", -2)
      .add("bb", -1)
      .add(metaspace + "a", -3);
  const Tokenizer tokenizer = made(sketch);
  EXPECT_EQ(pieces(tokenizer, "abb"), "<s>| a|bb");
  EXPECT_EQ(pieces(tokenizer, "bbb", plain), " |bb|b");
  EXPECT_EQ(pieces(tokenizer, "\xC3\xA9", plain), " |\xC3|\xA9");  // no token, so bytes
  EXPECT_EQ(pieces(tokenizer, ""), "<s>");
}

TEST(EncodeSpm, UnknownBytesAreTheUnknownToken) {
  VocabularySketch sketch{.model = "llama"};
  sketch.add("<unk>", 0, TokenKind::unknown).add("a").add(metaspace);
  EXPECT_EQ(pieces(made(sketch), "az", plain), " |a|<unk>");
}

TEST(EncodeBpe, TheLowestRankMergesFirst) {
  VocabularySketch sketch = test::ascii_bpe("gpt-2");
  sketch.merges = {"b c", "a b", "ab c"};
  for (const char* product : {"bc", "ab", "abc"}) sketch.add(product);
  const Tokenizer tokenizer = made(sketch);
  EXPECT_EQ(pieces(tokenizer, "abc abc", plain), "a|bc| |a|bc");
  EXPECT_EQ(pieces(tokenizer, "abab", plain), "ab|ab");
}

TEST(EncodeBpe, SymbolsOfAnySizeMerge) {
  // Each merge adds a letter, the last ones to the end of the file.
  VocabularySketch sketch = test::ascii_bpe("gpt-2");
  std::string symbol = "a";
  for (int i = 0; i < 40; ++i) {
    sketch.merges.push_back(symbol + " b");
    sketch.add(symbol += 'b');
    EXPECT_EQ(pieces(made(sketch), symbol + "b", plain), symbol + "|b");
  }
  sketch.merges.push_back("c " + symbol);
  sketch.merges.insert(sketch.merges.begin(), {"d", "d ", " d"});  // no merges
  EXPECT_EQ(pieces(made(sketch.add("c" + symbol)), "dc" + symbol, plain), "d|c" + symbol);
}

TEST(EncodeBpe, APieceThatIsATokenNeedsNoMerges) {
  VocabularySketch sketch = test::ascii_bpe("llama-bpe");
  sketch.add("abc");
  EXPECT_EQ(pieces(made(sketch), "abc abc"), "<s>|abc| |a|b|c");
}

TEST(EncodeBpe, AProductWithoutATokenFallsApart) {
  VocabularySketch sketch = test::ascii_bpe("gpt-2");
  sketch.merges = {"a b"};
  EXPECT_EQ(pieces(made(sketch), "ab", plain), "a|b");
}

TEST(EncodeBpe, BytesWithoutATokenVanish) {
  EXPECT_EQ(pieces(made(test::ascii_bpe("gpt-2")), "a\tb", plain), "a|b");
}

TEST(EncodeBpe, WordsFallApartBetweenBytesThatNoMergeJoins) {
  const auto spelt = [](std::string_view bytes) { return tokenizer::token_of_bytes(bytes); };
  VocabularySketch sketch{.model = "gpt2", .pre = "gpt-2"};
  for (const char* byte : {"\xC3", "\xA9", "\xA8"}) sketch.add(spelt(byte));
  sketch.merges = {spelt("\xC3") + " " + spelt("\xA9"),
                   spelt("\xC3\xA9") + " " + spelt("\xC3\xA9")};
  sketch.add(spelt("\xC3\xA9")).add(spelt("\xC3\xA9\xC3\xA9")).add(spelt("\xC3\xA8"));
  const Tokenizer tokenizer = made(sketch);
  EXPECT_EQ(pieces(tokenizer, "\xC3\xA9\xC3\xA9\xC3\xA8\xC3\xA9", plain),
            "\xC3\xA9\xC3\xA9|\xC3|\xA8|\xC3\xA9");
}

TEST(EncodeBpe, PartsOfCharactersMergeAcrossThem) {
  // The end of one character with all of the next, its beginning or one byte of it; the pair of
  // bytes between them is the same each time.
  const std::string acute = "\xC3\xAD";
  const std::string han = "\xE5\x9B\xBD";
  struct Case {
    std::string left, right, expected;
  };
  const Case cases[] = {{"\xC3\xAD", "\xE5\x9B\xBD", acute + han},
                        {"\xAD", "\xE5\x9B", "\xC3|\xAD\xE5\x9B|\xBD"},
                        {"\xC3\xAD", "\xE5", "\xC3\xAD\xE5|\x9B|\xBD"},
                        {"\xAD", "\xE5", "\xC3|\xAD\xE5|\x9B|\xBD"},
                        {"\xB8\xAD", "\xE5\x9B", acute + "|" + "\xE5\x9B|\xBD"}};
  for (const auto& [left, right, expected] : cases) {
    const auto spelt = [](std::string_view bytes) { return tokenizer::token_of_bytes(bytes); };
    VocabularySketch sketch{.model = "gpt2", .pre = "gpt-2"};
    for (const char byte : acute + han) sketch.add(spelt({&byte, 1}));
    for (const std::string& side : {left, right}) {
      for (std::size_t size = 2; size <= side.size(); ++size) {
        sketch.merges.push_back(spelt(side.substr(0, size - 1)) + " " +
                                spelt(side.substr(size - 1, 1)));
        sketch.add(spelt(side.substr(0, size)));
      }
    }
    sketch.merges.push_back(spelt(left) + " " + spelt(right));
    sketch.add(spelt(left + right)).add(spelt(acute));
    sketch.merges.push_back(spelt("\xC3") + " " + spelt("\xAD"));
    EXPECT_EQ(pieces(made(sketch), acute + han, plain), expected);
  }
}

TEST(EncodeBpe, AMergeOfWhatNoTextHoldsIsNotOneOfItsLetters) {
  VocabularySketch sketch = test::ascii_bpe("gpt-2");
  sketch.merges = {"a\x80 b",
                   "b \x80"
                   "a"};
  sketch
      .add(
          "a\x80"
          "b")
      .add(
          "b\x80"
          "a");
  EXPECT_EQ(pieces(made(sketch), "aba", plain), "a|b|a");
}

TEST(EncodeBpe, WordsOfAllLengthsComeOutAlike) {
  // Short words merge by trying all pairs, long ones with a heap.
  VocabularySketch sketch = test::ascii_bpe("gpt-2");
  sketch.merges = {"a b", "ab ab", "b a"};
  sketch.add("ab").add("abab").add("ba");
  const Tokenizer tokenizer = made(sketch);
  for (std::size_t count = 1; count < 80; ++count) {
    std::string word;
    std::string expected;
    for (std::size_t i = 0; i < count; ++i) word += "ab";
    for (std::size_t i = 0; i < count / 2; ++i) expected += i == 0 ? "abab" : "|abab";
    if (count % 2 == 1) expected += count == 1 ? "ab" : "|ab";
    EXPECT_EQ(pieces(tokenizer, word, plain), expected);
  }
}

TEST(EncodeBpe, AMegabyteOfOneLetter) {
  VocabularySketch sketch = test::ascii_bpe("llama-bpe");
  sketch.merges = {"a a", "aa aa"};
  sketch.add("aa").add("aaaa");
  const auto count = made(sketch).count(std::string(std::size_t{1} << 20, 'a'), plain);
  EXPECT_EQ(count.value(), std::size_t{1} << 18);
}

TEST(EncodeBpe, KMersOfDna) {
  VocabularySketch sketch = test::ascii_bpe("gpt-2");
  sketch.model = "hybriddna";
  sketch.merges = {"a b"};
  sketch.add("<dna>").add("</dna>").add("<oov>");
  sketch.add("ACGTAA\xEE\x80\x80").add("CCCCCC\xEE\x80\x80");
  EXPECT_EQ(pieces(made(sketch), "a<dna>ccccccACGT</dna>b", plain),
            "a|<dna>|CCCCCC|ACGTAA|</dna>|b");
  EXPECT_EQ(pieces(made(sketch), "<dna>GGGGGG", plain), "<dna>|<oov>");
}

TEST(EncodeBpe, WordsBetweenWhiteSpace) {
  VocabularySketch sketch{.model = "whitespace", .merges = {"a b"}};
  sketch.add("a").add("b").add("ab");
  sketch.flags = {{"normalizer.lowercase", true}};
  EXPECT_EQ(pieces(made(sketch), " AB\xE2\x80\x83 b\n", plain), "ab|b");
}

TEST(EncodeWpm, TheLongestTokenFirstElseTheWholeWordIsUnknown) {
  VocabularySketch sketch{.model = "bert"};
  sketch.add("[UNK]", 0, TokenKind::control).add("[CLS]", 0, TokenKind::control);
  sketch.add("[SEP]", 0, TokenKind::control);
  sketch.add(metaspace + "play").add("ing").add(metaspace + "plays").add(metaspace + "!").add("s");
  sketch.ids = {{"unknown", 0}, {"bos", 1}, {"seperator", 2}};
  const Tokenizer tokenizer = made(sketch);
  EXPECT_EQ(pieces(tokenizer, "Playing plays!"), "[CLS]| play|ing| plays| !|[SEP]");
  EXPECT_EQ(pieces(tokenizer, "pla\xCC\x81ys playz", plain), " plays|[UNK]");  // an accent
}

TEST(EncodeUgm, TheBestSumWinsAndUnknownsAreOne) {
  VocabularySketch sketch{.model = "t5"};
  sketch.add("<pad>", 0, TokenKind::control).add("</s>", 0, TokenKind::control);
  sketch.add("<unk>", 0, TokenKind::unknown);
  sketch.add(metaspace, -1).add("a", -2).add("b", -2).add("ab", -5).add(metaspace + "ab", -4.5F);
  sketch.flags = {{"add_space_prefix", true}};
  const Tokenizer tokenizer = made(sketch);
  EXPECT_EQ(pieces(tokenizer, "ab"), " ab|</s>");
  EXPECT_EQ(pieces(tokenizer, "bab", plain), " |b|a|b");
  EXPECT_EQ(pieces(tokenizer, "azzzb", plain), " |a|<unk>|b");
}

/// UGM tokens, with one replacement in the charsmap ("xyz" for "a"), where words are apart.
VocabularySketch ugm_of_words() {
  VocabularySketch sketch{.model = "t5"};
  sketch.add("<unk>", 0, TokenKind::unknown);
  sketch.add("<b c>", 0, TokenKind::user_defined);
  sketch.add(metaspace, -1)
      .add("b", -2)
      .add(metaspace + "b", -2)
      .add("bc", -2)
      .add("xyz", -1)
      .add("y", -3);
  sketch.flags = {{"remove_extra_whitespaces", true}, {"add_eos_token", false}};
  sketch.ids = {{"unknown", 0}};
  // Darts-clone: from the root at 0x60 by 'a' to unit 1, whose value is in unit 3.
  for (const std::uint32_t word : {16U, 0x60U << 10, (2U << 10) | 0x100 | 'a', 0U, 0U}) {
    for (int shift = 0; shift < 32; shift += 8) {
      sketch.charsmap += static_cast<char>(word >> shift);
    }
  }
  sketch.charsmap += std::string("xyz\0", 4);
  return sketch;
}

TEST(EncodeUgm, WordsAreTheSameApartAndTogether) {
  const Tokenizer tokenizer = made(ugm_of_words());
  EXPECT_EQ(pieces(tokenizer, "b  bc b"), " b| |bc| b");
  EXPECT_EQ(pieces(tokenizer, " bab ba<b c>b "), " b|xyz|b| b|xyz|<b c>| b");
  // With ranges the text is normalized as a whole, else word for word.
  for (const char* text : {"", " ", "a", " a", "b a", "ba b", "bac a ", "b\xC3\xA9 a", "\xFF b",
                           "b<b c>b", "<b c> a", "b <b c>", "a<b",
                           "b\xE2\x96\x81"
                           "b"}) {
    EXPECT_EQ(tokenizer.encode(text).value(), tokenizer.encode_with_offsets(text)->ids) << text;
  }
}

TEST(EncodeUgm, TokensAcrossWordsAreFound) {
  VocabularySketch sketch = ugm_of_words();
  sketch.add("c" + metaspace + "b", -1).add("c", -1);
  EXPECT_EQ(pieces(made(sketch), "bc b"), " b|c b");
}

TEST(EncodeRwkv, TheLongestTokenThatBegins) {
  VocabularySketch sketch{.model = "rwkv"};
  sketch.add("<s>").add("a").add("aab").add("\\n").add("\\xe4").add("b");
  EXPECT_EQ(pieces(made(sketch), "aaaab\n\xE4z"), "a|a|aab|\n|\xE4|none");
}

TEST(EncodePlamo2, TheLowestCostFromTheEnd) {
  VocabularySketch sketch{.model = "plamo2"};
  sketch.add_bytes().add("a", -2).add("b", -2).add("ab", -5).add("ba", -3).add("c", -3000);
  const Tokenizer tokenizer = made(sketch);
  EXPECT_EQ(pieces(tokenizer, "abab"), "a|ba|b");
  EXPECT_EQ(pieces(tokenizer, "ac"), "a|c");  // its score is unusable, so it is the byte
  EXPECT_EQ(tokenizer.encode("c").value(), std::vector<TokenId>{'c'});
}

TEST(EncodeFrame, LongerSpecialTokensComeFirst) {
  VocabularySketch sketch = test::ascii_bpe("gpt-2");
  sketch.add("<x>", 0, TokenKind::control).add("b<x><", 0, TokenKind::control);
  sketch.add("yy", 0, TokenKind::user_defined);
  const Tokenizer tokenizer = made(sketch);
  const EncodeOptions parsed{.add_special = false, .parse_special = true};
  EXPECT_EQ(pieces(tokenizer, "a<x>b<x><x>", parsed), "a|<x>|b<x><|x|>");
  EXPECT_EQ(pieces(tokenizer, "yyy<x>", plain), "yy|y|<|x|>");
}

TEST(EncodeFrame, SomeTokensDropWhiteSpaceBesideThem) {
  VocabularySketch sketch = test::ascii_bpe("gpt-2");
  sketch.name = "Phi-3 mini";
  sketch.add("<|user|>", 0, TokenKind::control);
  const EncodeOptions parsed{.add_special = false, .parse_special = true};
  EXPECT_EQ(pieces(made(sketch), "a <|user|> \n b", parsed), "a| |<|user|>|b");
  sketch.name = "ModernBERT modern-bert";
  sketch.add("[MASK]", 0, TokenKind::control);
  EXPECT_EQ(pieces(made(sketch), "a \t[MASK] b", parsed), "a|[MASK]| |b");
}

TEST(EncodeFrame, BytesThatAreNotUtf8) {
  VocabularySketch sketch = test::ascii_bpe("gpt-2");
  // The three bytes of U+FFFD in the alphabet of bytes.
  sketch.add("\xC3\xAF").add("\xC2\xBF").add("\xC2\xBD");
  const Tokenizer tokenizer = made(sketch);
  const std::string replaced = "\xEF|\xBF|\xBD";
  EXPECT_EQ(pieces(tokenizer, "a\xFFz", plain), "a|" + replaced + "|z");
  EXPECT_EQ(pieces(tokenizer, "\xC0\xAF", plain), "/");  // an overlong form
  EXPECT_EQ(tokenizer.count("\xF7\xBF\xBF\xBF", plain).value(), 12U);
}

TEST(EncodeFrame, RangesAreThoseOfTheText) {
  VocabularySketch sketch{.model = "llama"};
  sketch.add("<unk>", 0, TokenKind::unknown).add("<s>", 0, TokenKind::control);
  sketch.add("</s>", 0, TokenKind::control).add("a").add(metaspace).add(metaspace + "a");
  const auto result = made(sketch).encode_with_offsets("a  a");
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->ids, (std::vector<TokenId>{1, 5, 4, 5}));
  EXPECT_EQ(result->ranges, (std::vector<ByteRange>{{0, 0}, {0, 1}, {1, 2}, {2, 4}}));
}

TEST(EncodeFrame, RangesOfRepairedText) {
  VocabularySketch sketch = test::ascii_bpe("gpt-2");
  sketch.add("\xC3\xAF").add("\xC2\xBF").add("\xC2\xBD");
  const auto result = made(sketch).encode_with_offsets("a\xFFz", plain);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->ranges.front(), (ByteRange{0, 1}));
  EXPECT_EQ(result->ranges[3], (ByteRange{1, 2}));
  EXPECT_EQ(result->ranges.back(), (ByteRange{2, 3}));
}

TEST(EncodeFrame, ABatchIsItsTexts) {
  const Tokenizer tokenizer = made(test::ascii_bpe("gpt-2"));
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < 100; ++i) texts.push_back(std::string(i, 'a') + " b");
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  for (const unsigned thread_count : {1U, 3U}) {
    const auto batch = tokenizer.encode_batch(views, plain, thread_count);
    ASSERT_TRUE(batch.has_value());
    ASSERT_EQ(batch->size(), texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      EXPECT_EQ((*batch)[i], tokenizer.encode(texts[i], plain).value());
    }
  }
}

TEST(EncodeFrame, ABufferReceivesWhatFits) {
  const Tokenizer tokenizer = made(test::ascii_bpe("gpt-2"));
  std::vector<TokenId> buffer(2, -7);
  EXPECT_EQ(tokenizer.encode("abc", buffer, plain).value(), 3U);
  EXPECT_EQ(buffer, (std::vector{tokenizer.find("a"), tokenizer.find("b")}));
  EXPECT_EQ(tokenizer.encode("abc", std::span<TokenId>(), plain).value(), 3U);
}

}  // namespace
}  // namespace ingot
