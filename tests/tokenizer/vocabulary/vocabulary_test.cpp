// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "ingot/vocabulary_statistics.hpp"
#include "support/expect_error.hpp"
#include "support/vocabulary_sketch.hpp"

namespace ingot {
namespace {

using test::FailsWith;
using test::VocabularySketch;

TEST(Vocabulary, TellsTokensAndSpecials) {
  VocabularySketch sketch{.model = "llama"};
  sketch.add("<unk>", 0.0F, TokenKind::unknown).add("<s>", 0.0F, TokenKind::control);
  sketch.add("</s>").add("a", -1.5F).add("").add("a");
  sketch.flags = {{"add_eos_token", true}};
  const auto tokenizer = sketch.make();
  ASSERT_TRUE(tokenizer.has_value()) << tokenizer.error().message();
  EXPECT_EQ(tokenizer->family(), TokenizerFamily::spm);
  EXPECT_EQ(tokenizer->size(), 6U);
  EXPECT_EQ(tokenizer->text(3), "a");
  EXPECT_EQ(tokenizer->score(3), -1.5F);
  EXPECT_EQ(tokenizer->text(4), "[EMPTY_4]");
  EXPECT_EQ(tokenizer->find("a"), 3);
  EXPECT_EQ(tokenizer->find("b"), no_token);
  EXPECT_EQ(tokenizer->special(SpecialToken::bos), 1);
  EXPECT_EQ(tokenizer->special(SpecialToken::mask), no_token);
  EXPECT_TRUE(tokenizer->flags().adds_bos);
  EXPECT_TRUE(tokenizer->flags().adds_eos);
  // The token is a control token by its text alone.
  EXPECT_EQ(tokenizer->kind(2), TokenKind::control);
  EXPECT_EQ(tokenizer->kind_in_file(2), TokenKind::normal);
  EXPECT_TRUE(tokenizer->is_end_of_generation(2));
  EXPECT_FALSE(tokenizer->is_end_of_generation(1));
}

TEST(Vocabulary, StatisticsCountAllTokens) {
  VocabularySketch sketch{.model = "llama"};
  sketch.add("<unk>", 0.0F, TokenKind::unknown).add("</s>").add("a").add("longest").add("a");
  const auto tokenizer = sketch.make();
  ASSERT_TRUE(tokenizer.has_value()) << tokenizer.error().message();
  const VocabularyStatistics statistics = compute_statistics(*tokenizer);
  EXPECT_EQ(statistics.model, "llama");
  EXPECT_EQ(statistics.pre_known, std::nullopt);
  EXPECT_EQ(statistics.tokens, 5U);
  EXPECT_EQ(statistics.text_bytes, 18U);
  ASSERT_EQ(statistics.types.size(), 7U);
  EXPECT_EQ(statistics.types[1], std::pair(std::string("normal"), std::uint64_t{3}));
  EXPECT_EQ(statistics.longest, 3);
  EXPECT_EQ(statistics.repeated, std::vector<TokenId>{4});
  EXPECT_EQ(statistics.end_of_generation, (std::vector<TokenId>{1, 2}));  // 2 is the usual eos
}

TEST(Vocabulary, TellsOfEqualTextsAndOfMergesThatAreNoTokens) {
  VocabularySketch sketch = test::ascii_bpe("gpt-2");
  sketch.add("ab").merges = {"a b"};
  EXPECT_FALSE(sketch.make()->has_equal_texts());
  EXPECT_FALSE(sketch.make()->has_unknown_merges());
  for (const char* merge : {"a c", "ab xx", "ab", "ab "}) {
    sketch.merges = {"a b", merge};
    EXPECT_TRUE(sketch.make()->has_unknown_merges()) << merge;
  }
  EXPECT_TRUE(sketch.add("ab").make()->has_equal_texts());
}

TEST(Vocabulary, AnyNumberMayBeAsked) {
  const auto tokenizer = VocabularySketch{.model = "llama"}.add("a").make();
  ASSERT_TRUE(tokenizer.has_value());
  for (const TokenId id : {-1, 1, 2'000'000'000}) {
    EXPECT_EQ(tokenizer->text(id), "");
    EXPECT_EQ(tokenizer->piece(id), "");
    EXPECT_EQ(tokenizer->kind(id), TokenKind::undefined);
    EXPECT_THAT(tokenizer->decode(std::vector{id}), FailsWith(Errc::index_out_of_range));
    EXPECT_THAT(StreamDecoder(*tokenizer).push(id), FailsWith(Errc::index_out_of_range));
  }
}

TEST(Vocabulary, SpecialsAreFoundByTheirTextsInOrder) {
  VocabularySketch sketch{.model = "llama"};
  sketch.add("<PRE>").add("<|im_end|>").add("<|eot_id|>").add("<PAD>").add("<|end|>");
  sketch.add("<|return|>").add("<|call|>");
  const auto tokenizer = sketch.make();
  ASSERT_TRUE(tokenizer.has_value());
  EXPECT_EQ(tokenizer->special(SpecialToken::fim_pre), 0);
  EXPECT_EQ(tokenizer->special(SpecialToken::eot), 2);
  EXPECT_EQ(tokenizer->kind(0), TokenKind::control);
  // <|end|> is a part of a turn where there are calls.
  EXPECT_EQ(tokenizer->kind(4), TokenKind::user_defined);
  const auto ends = tokenizer->end_of_generation();
  EXPECT_EQ(std::vector(ends.begin(), ends.end()), (std::vector<TokenId>{1, 2, 3, 5, 6}));
}

TEST(Vocabulary, OlderKeysWinAndIdsOutsideAreIgnored) {
  VocabularySketch sketch{.model = "llama"};
  sketch.add("a").add("b").add("c");
  sketch.ids = {{"fim_pre", 0}, {"prefix", 1}, {"eos", 3}};
  const auto tokenizer = sketch.make();
  ASSERT_TRUE(tokenizer.has_value());
  EXPECT_EQ(tokenizer->special(SpecialToken::fim_pre), 1);
  EXPECT_EQ(tokenizer->special(SpecialToken::eos), 2);  // the family's own
}

TEST(Vocabulary, RefusesWhatCannotBeUsed) {
  EXPECT_THAT((VocabularySketch{.model = "brainfuck"}.add("a").make()),
              FailsWith(Errc::tokenizer_unknown));
  EXPECT_THAT((VocabularySketch{.model = "none"}.make()), FailsWith(Errc::tokenizer_unknown));
  EXPECT_THAT((VocabularySketch{.model = "gpt2", .pre = "gpt-5"}.add("a").make()),
              FailsWith(Errc::pre_tokenizer_unknown));
  EXPECT_THAT((VocabularySketch{.model = "gemma4"}.add("a").make()),
              FailsWith(Errc::key_not_found));  // no merges
  EXPECT_THAT((VocabularySketch{.model = "plamo2"}.add("a").make()),
              FailsWith(Errc::tokenizer_invalid));  // no byte tokens
  EXPECT_THAT((VocabularySketch{.model = "t5", .charsmap = "\x08\1\1\1\1"}.add("a").make()),
              FailsWith(Errc::tokenizer_invalid));
}

TEST(Vocabulary, AnUnknownPreTokenizerCanBeReplaced) {
  VocabularySketch sketch = test::ascii_bpe("gpt-5");
  const test::Bytes file = sketch.bytes();
  const auto model = Model::open_memory(file);
  ASSERT_TRUE(model.has_value());
  const auto vocabulary = Vocabulary::make(*model);
  ASSERT_TRUE(vocabulary.has_value());
  EXPECT_EQ(vocabulary->pre_tokenizer(), "gpt-5");
  const auto tokenizer = Tokenizer::make(*model, {.pre_tokenizer = "gpt-2"});
  ASSERT_TRUE(tokenizer.has_value()) << tokenizer.error().message();
  EXPECT_EQ(test::pieces(*tokenizer, "ab", {.add_special = false}), "a|b");
}

TEST(Vocabulary, NoTextsButIds) {
  test::GgufBuilder file;
  file.pair("general.architecture", "llama").pair("tokenizer.ggml.model", "none");
  file.pair("llama.vocab_size", std::uint32_t{7});
  const test::Bytes bytes = file.bytes();
  const auto model = Model::open_memory(bytes);
  ASSERT_TRUE(model.has_value());
  const auto vocabulary = Vocabulary::make(*model);
  ASSERT_TRUE(vocabulary.has_value()) << vocabulary.error().message();
  EXPECT_EQ(vocabulary->size(), 7U);
  EXPECT_TRUE(vocabulary->contains(6));
  EXPECT_EQ(vocabulary->decode(std::vector<TokenId>{6}).value(), "");
  EXPECT_EQ(vocabulary->special(SpecialToken::bos), no_token);
}

}  // namespace
}  // namespace ingot
