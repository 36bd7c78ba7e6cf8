// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/vocabulary_sketch.hpp"
#include "tokenizer/made_tokenizer.hpp"

namespace ingot {
namespace {

using test::made;
using test::metaspace;
using test::VocabularySketch;

VocabularySketch spm() {
  VocabularySketch sketch{.model = "llama"};
  sketch.add("<unk>", 0, TokenKind::unknown).add("<s>", 0, TokenKind::control);
  sketch.add("</s>", 0, TokenKind::control).add(metaspace + "a").add("b");
  sketch.add("<0xC3>", 0, TokenKind::byte).add("<0xA9>", 0, TokenKind::byte);
  sketch.add("x", 0, TokenKind::unused).add("<zz>", 0, TokenKind::byte);
  return sketch;
}

TEST(Decode, TheSpaceThatEncodingAddsIsDropped) {
  const Tokenizer tokenizer = made(spm());
  const std::vector<TokenId> ids = {1, 3, 4, 3, 2};
  EXPECT_EQ(tokenizer.decode(ids).value(), "<s> ab a</s>");
  EXPECT_EQ(tokenizer.decode(ids, {.show_special = false}).value(), " ab a");
  EXPECT_EQ(tokenizer.decode(std::span(ids).subspan(1)).value(), "ab a</s>");
  EXPECT_EQ(tokenizer.decode(ids, {.remove_special = true}).value(), " ab a</s>");
}

TEST(Decode, KindsOfTokens) {
  const Tokenizer tokenizer = made(spm());
  EXPECT_EQ(tokenizer.piece(5), "\xC3");
  EXPECT_EQ(tokenizer.piece(7), "");  // unused
  EXPECT_EQ(tokenizer.piece(8), "");  // a byte that is not spelt as one
  EXPECT_EQ(tokenizer.piece(1, false), "");
}

TEST(Decode, ACharacterThatStandsForNoByteShows) {
  VocabularySketch sketch = test::ascii_bpe("gpt-2");
  sketch.add("a\xE4\xB8\xAD");
  EXPECT_EQ(made(sketch).piece(static_cast<TokenId>(sketch.tokens.size() - 1)),
            "a[UNK_BYTE_0xe4b8ada\xE4\xB8\xAD]");
}

TEST(Decode, SpacesAreCleanedAsTheFileWantsIt) {
  VocabularySketch sketch = test::ascii_bpe("gpt-2");
  const Tokenizer tokenizer = made(sketch);
  const auto cleaned = [&](std::string_view text, std::optional<bool> is_cleaned) {
    const auto ids = tokenizer.encode(text, {.add_special = false});
    return tokenizer.decode(*ids, {.clean_spaces = is_cleaned}).value();
  };
  EXPECT_EQ(cleaned("if (a != b) , c .", {}), "if (a!= b), c.");
  EXPECT_EQ(cleaned("if (a != b)", false), "if (a != b)");
  EXPECT_EQ(cleaned("it 's they 're we 've I 'm 'll", {}), "it's they're we've I'm 'll");
  EXPECT_EQ(cleaned("a ' b ' ' c", {}), "a'b'' c");
  EXPECT_EQ(cleaned(" .", {}), ".");
}

TEST(StreamDecoder, NeverTearsACharacter) {
  const Tokenizer tokenizer = made(spm());
  StreamDecoder decoder(tokenizer);
  EXPECT_EQ(decoder.push(3).value(), "a");
  EXPECT_EQ(decoder.push(5).value(), "");
  EXPECT_EQ(decoder.push(6).value(), "\xC3\xA9");
  EXPECT_EQ(decoder.push(6).value(), "\xEF\xBF\xBD");  // no character begins so
  EXPECT_EQ(decoder.push(5).value(), "");
  EXPECT_EQ(decoder.push(4).value(),
            "\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(decoder.push(5).value(), "");
  EXPECT_EQ(decoder.finish(), "\xEF\xBF\xBD");
  EXPECT_EQ(decoder.push(3).value(), "a");  // as new
}

}  // namespace
}  // namespace ingot
