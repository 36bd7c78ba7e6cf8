// SPDX-License-Identifier: MIT
#include "huggingface/import/tokenizer/sentencepiece_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/expect_error.hpp"

namespace ingot::huggingface {
namespace {

using namespace std::string_literals;
using test::FailsWith;

/// A field of bytes with a number below 16.
std::string field(int number, const std::string& bytes) {
  return std::string(1, static_cast<char>(number << 3 | 2)) +
         std::string(1, static_cast<char>(bytes.size())) + bytes;
}

// Text "a", score 1.5, type 3.
const std::string sample_piece =
    "\x0A\x01"s
    "a\x15\x00\x00\xC0\x3F\x18\x03"s;

TEST(SentencePieceModel, HasPieces) {
  const std::string file = field(1, sample_piece) + field(1, "");
  const auto model = parse_sentencepiece(file, "tokenizer.model");
  ASSERT_THAT(model, test::Succeeds());
  ASSERT_EQ(model->pieces.size(), 2u);
  EXPECT_EQ(model->pieces[0].text, "a");
  EXPECT_EQ(model->pieces[0].score, 1.5f);
  EXPECT_EQ(model->pieces[0].type, SentencePiece::control);
  EXPECT_EQ(model->pieces[1].type, SentencePiece::normal);
}

TEST(SentencePieceModel, HasSettings) {
  const std::string file = field(1, sample_piece) + field(2, "\x18\x02"s) +
                           field(3, "\x12\x01m\x18\x00\x20\x00"s) + field(9, "unknown");
  const auto model = parse_sentencepiece(file, "tokenizer.model");
  ASSERT_THAT(model, test::Succeeds());
  EXPECT_EQ(model->algorithm, SentencePieceModel::bpe);
  EXPECT_EQ(model->charsmap, "m");
  EXPECT_FALSE(model->adds_dummy_prefix);
  EXPECT_FALSE(model->removes_extra_whitespaces);
}

TEST(SentencePieceModel, SkipsUnknownFieldsOfEveryType) {
  const std::string file = field(1, sample_piece) + "\xF8\x01\x96\x01"s +  // field 31, a varint
                           "\xF9\x01"s
                           "12345678" +
                           "\xFD\x01"s
                           "1234" +
                           "\xFA\x01\x02"s
                           "ab";
  EXPECT_THAT(parse_sentencepiece(file, "tokenizer.model"), test::Succeeds());
}

TEST(SentencePieceModel, NamesTheByteThatIsWrong) {
  const auto parse = [](const std::string& bytes) {
    return parse_sentencepiece(bytes, "tokenizer.model");
  };
  EXPECT_THAT(parse("\x0A\x7F"s), FailsWith(Errc::import_refused, 2, "tokenizer.model"));
  EXPECT_THAT(parse("\x0A"s), FailsWith(Errc::import_refused, 1, "tokenizer.model"));
  EXPECT_THAT(parse("\x0B\x00"s), FailsWith(Errc::import_refused, 1, "tokenizer.model"));
  EXPECT_THAT(parse(std::string(11, '\xFF')),
              FailsWith(Errc::import_refused, 10, "tokenizer.model"));
  EXPECT_THAT(parse("\x02\x00"s), FailsWith(Errc::import_refused, 1, "tokenizer.model"));
  EXPECT_THAT(parse("\x08\x01"s), FailsWith(Errc::import_refused, 0, "tokenizer.model"));
  EXPECT_THAT(parse(field(1, "\x08\x01"s)), FailsWith(Errc::import_refused, 2, "tokenizer.model"));
  EXPECT_THAT(parse(field(1, "\x10\x01"s)), FailsWith(Errc::import_refused, 2, "tokenizer.model"));
  EXPECT_THAT(parse(field(1, "\x18\x07"s)), FailsWith(Errc::import_refused, 2, "tokenizer.model"));
  EXPECT_THAT(parse(field(1, "\x15\x01"s)), FailsWith(Errc::import_refused, 3, "tokenizer.model"));
}

TEST(SentencePieceModel, NeedsPieces) {
  EXPECT_THAT(parse_sentencepiece("", "tokenizer.model"), FailsWith(Errc::import_refused));
}

TEST(SentencePieceModel, BoundsThePieces) {
  std::string file;
  for (std::size_t i = 0; i <= max_tokens; ++i) file += "\x0A\x00"s;
  EXPECT_THAT(parse_sentencepiece(file, "tokenizer.model"),
              FailsWith(Errc::limit_exceeded, 2 * max_tokens, "tokenizer.model"));
}

}  // namespace
}  // namespace ingot::huggingface
