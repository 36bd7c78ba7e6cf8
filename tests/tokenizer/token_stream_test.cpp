// SPDX-License-Identifier: MIT
// Texts in parts: every cut keeps the ids of the whole, in all families and for all pre-tokenizers,
// and streams give the same for any number of threads and size of parts.

#include "ingot/token_stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "support/expect_error.hpp"
#include "support/random.hpp"
#include "support/stream_vocabularies.hpp"

namespace ingot::test {
namespace {

using testing::SizeIs;

constexpr const char* atoms[] = {"a",
                                 "B",
                                 "the",
                                 " ",
                                 "  ",
                                 "\n",
                                 "\r\n",
                                 "\t",
                                 "1",
                                 "12",
                                 "345",
                                 ".",
                                 ",",
                                 "!",
                                 "'s",
                                 "'",
                                 "\xC3\xA9",
                                 "\xE4\xB8\xAD",
                                 "\xE2\x96\x81",
                                 "\xCC\x81",
                                 "\xE3\x81\x82",
                                 "\xF0\x9F\x98\x80",
                                 "\xFF",
                                 "\xE2\x96",
                                 "<end>",
                                 "<en",
                                 "\xC0\xBC",          // "<" in two bytes
                                 "\xE0\x81\xB4",      // "t" in three
                                 "\xF0\x8F\xBB\xBF",  // the byte order mark in four
                                 "end>",
                                 "he",
                                 "~",
                                 "/",
                                 "\xC2\xA0"};

std::string random_text(Random& random, std::size_t atom_count) {
  std::string text;
  for (std::size_t i = 0; i < atom_count; ++i) text += atoms[random.below(std::size(atoms))];
  return text;
}

std::vector<TokenId> streamed(const Tokenizer& tokenizer, std::string_view text,
                              const EncodeStreamOptions& options) {
  std::vector<TokenId> ids;
  std::size_t read_bytes = 0;
  const auto read = [&](std::span<char> buffer) -> Result<std::size_t> {
    const std::size_t size = std::min({buffer.size(), text.size() - read_bytes, std::size_t{7}});
    std::memcpy(buffer.data(), text.data() + read_bytes, size);
    read_bytes += size;
    return size;
  };
  std::uint64_t end = 0;
  const auto take = [&](const TokenizedPart& part) -> Result<void> {
    EXPECT_EQ(part.begin, end);
    end += part.text.size();
    EXPECT_EQ(part.text, text.substr(part.begin, part.text.size()));
    EXPECT_EQ(part.ranges.size(), options.with_ranges ? part.ids.size() : 0);
    ids.insert(ids.end(), part.ids.begin(), part.ids.end());
    return {};
  };
  EXPECT_THAT(encode_stream(tokenizer, read, take, options), Succeeds());
  EXPECT_EQ(end, text.size());
  return ids;
}

TEST(TokenStream, GivesTheIdsOfTheWhole) {
  const std::vector<Tokenizer> tokenizers = all_tokenizers();
  Random random;
  for (const Tokenizer& tokenizer : tokenizers) {
    for (const bool parse_special : {false, true}) {
      for (int round = 0; round < 20; ++round) {
        const std::string text = random_text(random, 1 + random.below(60));
        const auto ids = tokenizer.encode(text, {.parse_special = parse_special});
        ASSERT_THAT(ids, Succeeds());
        for (const std::size_t part_bytes : {1u, 5u, 24u}) {
          ASSERT_EQ(streamed(tokenizer, text,
                             {.parse_special = parse_special,
                              .with_ranges = round % 2 == 0,
                              .thread_count = 1 + static_cast<unsigned>(random.below(3)),
                              .part_bytes = part_bytes}),
                    *ids)
              << tokenizer.model_name() << " " << tokenizer.pre_tokenizer() << " "
              << testing::PrintToString(text) << " " << part_bytes;
        }
      }
    }
  }
}

TEST(TokenStream, GivesTheIdsOfALongTextThatIsCutNearTheEndsOfItsParts) {
  Random random;
  for (const Tokenizer& tokenizer : all_tokenizers()) {
    std::string text;
    while (text.size() < 25'000) {
      // Long runs, of white space and special tokens too, so that no place near an end may do.
      const std::string run = random_text(random, 1 + random.below(3));
      const std::size_t times = random.below(20) == 0 ? 3000 : 1 + random.below(4);
      for (std::size_t i = 0; i < times; ++i) text += run;
    }
    const auto ids = tokenizer.encode(text, {.parse_special = true});
    ASSERT_THAT(ids, Succeeds());
    ASSERT_EQ(
        streamed(tokenizer, text, {.parse_special = true, .thread_count = 3, .part_bytes = 9000}),
        *ids)
        << tokenizer.model_name() << " " << tokenizer.pre_tokenizer();
  }
}

TEST(TokenStream, CutsOrdinaryText) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "the  end of line 12,\nthe a\n";
  for (const Tokenizer& tokenizer : all_tokenizers()) {
    const bool holds = tokenizer.family() == TokenizerFamily::ugm;
    const std::size_t cut = tokenizer.find_cut(text);
    EXPECT_EQ(cut > text.size() / 2, !holds) << tokenizer.model_name() << tokenizer.pre_tokenizer();
  }
}

TEST(TokenStream, OneLetterOfRwkvIsCutByItsTokens) {
  VocabularySketch sketch{.model = "rwkv"};
  sketch.add("aaa").add("a").add("\\n");
  const auto tokenizer = sketch.make();
  ASSERT_THAT(tokenizer, Succeeds());
  EXPECT_EQ(tokenizer->find_cut(std::string(20, 'a')), 18u);
  EXPECT_THAT(streamed(*tokenizer, std::string(1000, 'a'), {.part_bytes = 20}), SizeIs(334));
}

TEST(TokenStream, EmptyTextHasItsSpecialTokens) {
  const auto tokenizer = stream_bpe("gpt-2").make();
  EXPECT_THAT(streamed(*tokenizer, "", {}), SizeIs(2));
  EXPECT_THAT(streamed(*tokenizer, "", {.add_special = false}), SizeIs(0));
}

TEST(TokenStream, ErrorsOfReaderAndTakerAreReturned) {
  const auto tokenizer = stream_bpe("gpt-2").make();
  const auto failing = [](std::span<char>) -> Result<std::size_t> {
    return fail(Errc::io_error, "text");
  };
  const auto ignoring = [](const TokenizedPart&) -> Result<void> { return {}; };
  EXPECT_THAT(encode_stream(*tokenizer, failing, ignoring), FailsWith(Errc::io_error));
  const auto empty = [](std::span<char>) -> Result<std::size_t> { return 0; };
  const auto refusing = [](const TokenizedPart&) -> Result<void> {
    return fail(Errc::interrupted, "text");
  };
  EXPECT_THAT(encode_stream(*tokenizer, empty, refusing), FailsWith(Errc::interrupted));
}

}  // namespace
}  // namespace ingot::test
