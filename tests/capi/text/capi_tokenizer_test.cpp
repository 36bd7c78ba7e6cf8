// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "ingot/tokenizer.h"
#include "support/vocabulary_sketch.hpp"

namespace ingot {
namespace {

class CapiTokenizer : public testing::Test {
 protected:
  void SetUp() override {
    test::VocabularySketch sketch = test::ascii_bpe("gpt-2");
    sketch.merges = {"a b"};
    sketch.add("ab", -2.5F).add("<|im_end|>");
    sketch.flags = {{"add_bos_token", true}};
    const test::Bytes bytes = sketch.bytes();
    ASSERT_EQ(ingot_open_memory(bytes.data(), bytes.size(), nullptr, &model_, nullptr), INGOT_OK);
    ASSERT_EQ(ingot_tokenizer_make(model_, nullptr, &tokenizer_, &error_), INGOT_OK)
        << error_.message;
    ingot_close(model_);  // the tokenizer lives on
    model_ = nullptr;
  }
  void TearDown() override {
    ingot_tokenizer_free(tokenizer_);
    ingot_close(model_);
  }
  [[nodiscard]] ingot_token find(std::string_view text) const {
    return ingot_find_token(tokenizer_, {text.data(), text.size()});
  }

  ingot_model* model_ = nullptr;
  ingot_tokenizer* tokenizer_ = nullptr;
  ingot_error error_ = {};
};

TEST_F(CapiTokenizer, TellsItsTokens) {
  EXPECT_EQ(ingot_tokenizer_family(tokenizer_), INGOT_FAMILY_BPE);
  const ingot_token end = find("<|im_end|>");
  EXPECT_EQ(ingot_token_count(tokenizer_), static_cast<std::size_t>(end) + 1);
  EXPECT_EQ(ingot_token_kind(tokenizer_, end), INGOT_TOKEN_KIND_CONTROL);
  EXPECT_EQ(ingot_token_kind(tokenizer_, end + 1), -1);
  EXPECT_EQ(ingot_token_score(tokenizer_, find("ab")), -2.5F);
  EXPECT_EQ(ingot_special_token(tokenizer_, INGOT_SPECIAL_EOT), end);
  EXPECT_EQ(ingot_special_token(tokenizer_, INGOT_SPECIAL_COUNT), INGOT_NO_TOKEN);
  EXPECT_TRUE(ingot_is_end_of_generation(tokenizer_, end));
  ingot_string text = {};
  ASSERT_EQ(ingot_token_text(tokenizer_, end, &text, nullptr), INGOT_OK);
  EXPECT_EQ(std::string_view(text.data, text.size), "<|im_end|>");
  EXPECT_EQ(ingot_token_text(tokenizer_, -1, &text, &error_), INGOT_ERROR_INDEX_OUT_OF_RANGE);
}

TEST_F(CapiTokenizer, EncodesWhatFitsAndTellsHowMuchThereIs) {
  const ingot_string text = {"abc", 3};
  std::array<ingot_token, 2> ids = {-7, -7};
  std::size_t count = 0;
  ASSERT_EQ(ingot_encode(tokenizer_, text, 0, nullptr, 0, &count, nullptr), INGOT_OK);
  EXPECT_EQ(count, 2U);
  ASSERT_EQ(ingot_encode(tokenizer_, text, INGOT_ADD_SPECIAL, ids.data(), 2, &count, nullptr),
            INGOT_OK);
  EXPECT_EQ(count, 3U);
  EXPECT_EQ(ids, (std::array<ingot_token, 2>{0, find("ab")}));

  std::array<ingot_byte_range, 2> ranges = {};
  ASSERT_EQ(
      ingot_encode_with_offsets(tokenizer_, text, 0, ids.data(), ranges.data(), 2, &count, nullptr),
      INGOT_OK);
  EXPECT_EQ(ranges[1].begin, 2U);
  EXPECT_EQ(ranges[1].end, 3U);

  const ingot_string end = {"<|im_end|>", 10};
  ASSERT_EQ(ingot_encode(tokenizer_, end, INGOT_PARSE_SPECIAL, ids.data(), 2, &count, nullptr),
            INGOT_OK);
  EXPECT_EQ(count, 1U);
}

TEST_F(CapiTokenizer, DecodesTheSameWay) {
  const std::vector<ingot_token> ids = {0, find("ab"), find("\xC4\xA0"), find("!")};
  std::array<char, 16> buffer = {};
  std::size_t size = 0;
  const auto decode = [&](std::uint32_t flags) {
    EXPECT_EQ(ingot_decode(tokenizer_, ids.data(), ids.size(), flags, buffer.data(), buffer.size(),
                           &size, nullptr),
              INGOT_OK);
    return std::string(buffer.data(), size);
  };
  EXPECT_EQ(decode(0), "<s>ab!");
  EXPECT_EQ(decode(INGOT_REMOVE_SPECIAL | INGOT_KEEP_SPACES), "ab !");
  EXPECT_EQ(decode(INGOT_HIDE_SPECIAL), "ab!");
  ASSERT_EQ(ingot_token_piece(tokenizer_, ids[1], 0, buffer.data(), 1, &size, nullptr), INGOT_OK);
  EXPECT_EQ(size, 2U);
  const ingot_token wrong = 1'000'000;
  EXPECT_EQ(ingot_decode(tokenizer_, &wrong, 1, 0, buffer.data(), buffer.size(), &size, &error_),
            INGOT_ERROR_INDEX_OUT_OF_RANGE);
}

TEST_F(CapiTokenizer, RefusesNull) {
  std::size_t count = 0;
  ingot_token id = 0;
  EXPECT_EQ(ingot_encode(nullptr, {"a", 1}, 0, &id, 1, &count, nullptr),
            INGOT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ingot_encode(tokenizer_, {"a", 1}, 0, nullptr, 1, &count, nullptr),
            INGOT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ingot_encode(tokenizer_, {"a", 1}, 0, &id, 1, nullptr, nullptr),
            INGOT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ingot_tokenizer_make(nullptr, nullptr, &tokenizer_, nullptr),
            INGOT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ingot_token_count(nullptr), 0U);
  EXPECT_EQ(ingot_tokenizer_family(nullptr), -1);
  ingot_tokenizer_free(nullptr);
}

}  // namespace
}  // namespace ingot
