// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/chat.h"
#include "support/vocabulary_sketch.hpp"

namespace ingot {
namespace {

ingot_string text_of(std::string_view text) { return {text.data(), text.size()}; }
std::string_view view_of(ingot_string text) { return {text.data, text.size}; }

class CapiChat : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(ingot_chat_value_make(&value_, nullptr), INGOT_OK); }
  void TearDown() override {
    ingot_chat_text_free(text_);
    ingot_chat_template_free(chat_);
    ingot_chat_value_free(value_);
  }

  void make(std::string_view source) {
    ASSERT_EQ(ingot_chat_template_make_from_text(text_of(source), &chat_, nullptr, &error_),
              INGOT_OK)
        << error_.message;
  }

  /// A conversation of one message, and its prompt.
  void render_message(std::string_view source, std::string_view content) {
    make(source);
    ingot_chat_begin_list(value_);
    ingot_chat_add_message(value_, "user", text_of(content));
    ingot_chat_end(value_);
    ASSERT_EQ(ingot_chat_render(chat_, value_, nullptr, &text_, nullptr, &error_), INGOT_OK)
        << error_.message;
  }

  /// The code of rendering with the value as all variables.
  ingot_code render_variables(std::string_view source) {
    make(source);
    ingot_chat_options options = {};
    options.struct_size = sizeof options;
    options.variables = value_;
    return ingot_chat_render(chat_, nullptr, &options, &text_, nullptr, &error_);
  }

  ingot_chat_value* value_ = nullptr;
  ingot_chat_template* chat_ = nullptr;
  ingot_chat_text* text_ = nullptr;
  ingot_error error_ = {};
};

TEST_F(CapiChat, BuildsEveryKindOfValue) {
  ingot_chat_begin_object(value_);
  ingot_chat_key(value_, text_of("x"));
  ingot_chat_begin_list(value_);
  ingot_chat_add_none(value_);
  ingot_chat_add_bool(value_, true);
  ingot_chat_add_integer(value_, -3);
  ingot_chat_add_real(value_, 0.5);
  ingot_chat_add_string(value_, text_of("s"));
  ingot_chat_add_digits(value_, text_of("123456789012345678901234567890"));
  ingot_chat_add_message(value_, "user", text_of("c"));
  ingot_chat_end(value_);
  ingot_chat_end(value_);
  ASSERT_EQ(render_variables("{{ x|tojson }}"), INGOT_OK) << error_.message;
  EXPECT_EQ(view_of(ingot_chat_text_bytes(text_)),
            "[null, true, -3, 0.5, \"s\", 123456789012345678901234567890, "
            "{\"role\": \"user\", \"content\": \"c\"}]");
}

TEST_F(CapiChat, KeepsTheFirstStepThatCannotBe) {
  using Steps = void (*)(ingot_chat_value*);
  const std::vector<std::pair<Steps, std::string_view>> wrong = {
      {[](ingot_chat_value* value) { ingot_chat_end(value); }, "an end without a begin"},
      {[](ingot_chat_value* value) { ingot_chat_begin_list(value); }, "a begin without an end"},
      {[](ingot_chat_value* value) {
         ingot_chat_key(value, {"k", 1});
       },
       "a key in no object"},
      {[](ingot_chat_value* value) {
         ingot_chat_begin_object(value);
         ingot_chat_add_none(value);
         ingot_chat_end(value);
       },
       "a member without a key"},
      {[](ingot_chat_value* value) {
         ingot_chat_begin_object(value);
         ingot_chat_key(value, {"k", 1});
         ingot_chat_end(value);
         ingot_chat_add_none(value);
         ingot_chat_end(value);
       },
       "a key without a value"},
      {[](ingot_chat_value* value) {
         ingot_chat_add_none(value);
         ingot_chat_add_none(value);
       },
       "a second value beside the first"},
      {[](ingot_chat_value* value) {
         for (int i = 0; i < 201; ++i) ingot_chat_begin_list(value);
         for (int i = 0; i < 200; ++i) ingot_chat_end(value);
       },
       "more than 200 levels"},
  };
  make("x");
  for (const auto& [steps, problem] : wrong) {
    ingot_chat_value* value = nullptr;
    ASSERT_EQ(ingot_chat_value_make(&value, nullptr), INGOT_OK);
    steps(value);
    EXPECT_EQ(ingot_chat_render(chat_, value, nullptr, &text_, nullptr, &error_),
              INGOT_ERROR_INVALID_ARGUMENT);
    EXPECT_NE(std::string_view(error_.message).find(problem), std::string_view::npos)
        << error_.message;
    ingot_chat_value_free(value);
  }
}

TEST_F(CapiChat, RendersWithOptions) {
  make("{{ tools|length }}{{ x }}{{ add_generation_prompt }}{{ strftime_now('%Y') }}");
  ingot_chat_value* tools = nullptr;
  ASSERT_EQ(ingot_chat_value_make(&tools, nullptr), INGOT_OK);
  ingot_chat_begin_list(tools);
  ingot_chat_end(tools);
  ingot_chat_begin_object(value_);
  ingot_chat_key(value_, text_of("x"));
  ingot_chat_add_integer(value_, 7);
  ingot_chat_end(value_);
  ingot_chat_options options = {};
  options.struct_size = sizeof options;
  options.flags = INGOT_CHAT_NO_GENERATION_PROMPT | INGOT_CHAT_HAS_TIME;
  options.tools = tools;
  options.variables = value_;
  options.year = 1999;
  options.month = 1;
  options.day = 1;
  ASSERT_EQ(ingot_chat_render(chat_, tools, &options, &text_, nullptr, &error_), INGOT_OK)
      << error_.message;
  EXPECT_EQ(view_of(ingot_chat_text_bytes(text_)), "07False1999");
  options.max_depth = 201;
  EXPECT_EQ(ingot_chat_render(chat_, tools, &options, &text_, nullptr, &error_),
            INGOT_ERROR_INVALID_ARGUMENT);
  options.max_depth = 0;
  options.max_steps = 1;
  EXPECT_EQ(ingot_chat_render(chat_, tools, &options, &text_, nullptr, &error_),
            INGOT_ERROR_LIMIT_EXCEEDED);
  ingot_chat_value_free(tools);
}

TEST_F(CapiChat, NamesThePlaceOfAnError) {
  ingot_chat_place place = {};
  EXPECT_EQ(ingot_chat_template_make_from_text(text_of("a\n{{ 1 + }}"), &chat_, &place, &error_),
            INGOT_ERROR_CHAT_SYNTAX);
  EXPECT_EQ(place.line, 2U);
  EXPECT_EQ(place.column, 8U);
  EXPECT_EQ(render_variables("{{ raise_exception('no\x1B') }}"), INGOT_ERROR_CHAT_RAISED);
  EXPECT_NE(std::string_view(error_.message).find("no\\x1b"), std::string_view::npos)
      << error_.message;
}

TEST_F(CapiChat, TellsWhatCameFromInputs) {
  render_message("<{% generation %}{{ messages[0].content }}{% endgeneration %}", "hi");
  ASSERT_EQ(ingot_chat_run_count(text_), 2U);
  ingot_chat_run run = {};
  ASSERT_EQ(ingot_chat_get_run(text_, 1, &run, nullptr), INGOT_OK);
  EXPECT_EQ(run.offset_bytes, 1U);
  EXPECT_EQ(run.size_bytes, 2U);
  EXPECT_EQ(run.flags, std::uint32_t{INGOT_CHAT_RUN_INPUT | INGOT_CHAT_RUN_GENERATED});
  EXPECT_EQ(ingot_chat_get_run(text_, 2, &run, &error_), INGOT_ERROR_INDEX_OUT_OF_RANGE);
}

TEST_F(CapiChat, EncodesWithoutControlTokensOfInputs) {
  test::VocabularySketch sketch = test::ascii_bpe("gpt-2");
  sketch.add("<|e|>", 0.0F, TokenKind::control);
  const auto end = static_cast<ingot_token>(sketch.tokens.size()) - 1;
  const test::Bytes bytes = sketch.bytes();
  ingot_model* model = nullptr;
  ingot_tokenizer* tokenizer = nullptr;
  ASSERT_EQ(ingot_open_memory(bytes.data(), bytes.size(), nullptr, &model, nullptr), INGOT_OK);
  ASSERT_EQ(ingot_tokenizer_make(model, nullptr, &tokenizer, nullptr), INGOT_OK);
  EXPECT_EQ(ingot_chat_template_make(model, "x", &chat_, nullptr, &error_),
            INGOT_ERROR_CHAT_MISSING);
  ingot_close(model);
  render_message("{% generation %}{{ messages[0].content }}{% endgeneration %}<|e|>", "<|e|>");

  std::array<ingot_token, 6> ids = {};
  std::array<std::uint8_t, 6> mask = {};
  std::size_t count = 0;
  ASSERT_EQ(
      ingot_chat_encode(tokenizer, text_, 0, ids.data(), mask.data(), ids.size(), &count, &error_),
      INGOT_OK);
  EXPECT_EQ(count, 6U);
  EXPECT_NE(ids[0], end);
  EXPECT_EQ(ids[5], end);
  EXPECT_EQ(mask, (std::array<std::uint8_t, 6>{1, 1, 1, 1, 1, 0}));
  ASSERT_EQ(ingot_chat_encode(tokenizer, text_, INGOT_CHAT_INPUTS_TRUSTED, ids.data(), nullptr, 1,
                              &count, nullptr),
            INGOT_OK);
  EXPECT_EQ(count, 2U);
  EXPECT_EQ(ids[0], end);
  ingot_tokenizer_free(tokenizer);
}

TEST_F(CapiChat, TakesNull) {
  ingot_chat_end(nullptr);
  ingot_chat_add_none(nullptr);
  EXPECT_EQ(ingot_chat_text_bytes(nullptr).size, 0U);
  EXPECT_EQ(ingot_chat_template_source(nullptr).size, 0U);
  EXPECT_EQ(ingot_chat_run_count(nullptr), 0U);
  EXPECT_EQ(ingot_chat_render(nullptr, nullptr, nullptr, &text_, nullptr, nullptr),
            INGOT_ERROR_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace ingot
