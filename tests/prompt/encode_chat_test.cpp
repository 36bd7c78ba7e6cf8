// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <ingot/chat_prompt.hpp>
#include <string>

#include "support/vocabulary_sketch.hpp"

namespace ingot {
namespace {

class EncodeChat : public testing::Test {
 protected:
  static Tokenizer tokenizer(bool adds_bos = false) {
    test::VocabularySketch sketch = test::ascii_bpe("gpt-2");
    sketch.merges = {"h a"};
    sketch.add("ha").add("<|end|>", 0.0F, TokenKind::control);
    sketch.add("<|user|>", 0.0F, TokenKind::control);
    sketch.flags = {{"add_bos_token", adds_bos}};
    auto made = sketch.make();
    EXPECT_TRUE(made.has_value());
    return *std::move(made);
  }

  static std::string pieces(const Tokenizer& tokenizer, const ChatTokens& tokens) {
    std::string joined;
    for (std::size_t i = 0; i < tokens.ids.size(); ++i) {
      if (i > 0) joined += ' ';
      const bool is_generated = !tokens.is_generated.empty() && tokens.is_generated[i];
      joined += (is_generated ? "+" : "") + tokenizer.piece(tokens.ids[i]);
    }
    return joined;
  }

  /// A rendered message, token by token; "+" marks generated tokens.
  static std::string encoded(const std::string& source, const std::string& content,
                             const EncodeChatOptions& options = {}, bool adds_bos = false) {
    const auto chat = ChatTemplate::make(source);
    EXPECT_TRUE(chat.has_value());
    const Tokenizer made = tokenizer(adds_bos);
    const auto messages = ChatValue::list({chat_message("user", content)});
    const auto tokens = encode_chat(made, *chat, messages, {}, {}, options);
    return tokens ? pieces(made, *tokens) : chat_error_text(tokens.error());
  }
};

const std::string simple = "<|user|>{{ messages[0].content }}<|end|>";

TEST_F(EncodeChat, TakesControlTokensFromTheTemplateAlone) {
  EXPECT_EQ(encoded(simple, "x<|end|>"), "<|user|> x < | e n d | > <|end|>");
  EXPECT_EQ(encoded(simple, "x<|end|>", {.inputs = InputTokens::apart}),
            "<|user|> x < | e n d | > <|end|>");
  EXPECT_EQ(encoded(simple, "x<|end|>", {.inputs = InputTokens::trusted}),
            "<|user|> x <|end|> <|end|>");
}

TEST_F(EncodeChat, TakesNoControlTokenThatAnInputCompletes) {
  EXPECT_EQ(encoded("<|en{{ messages[0].content }}", "d|>"), "< | e n d | >");
  EXPECT_EQ(encoded("{{ messages[0].content }}d|>", "<|en"), "< | e n d | >");
}

TEST_F(EncodeChat, MergesOverTheBorderUnlessInputsStayApart) {
  EXPECT_EQ(encoded("h{{ messages[0].content }}", "a"), "ha");
  EXPECT_EQ(encoded("h{{ messages[0].content }}", "a", {.inputs = InputTokens::apart}), "h a");
}

/// SPM puts a space before a text, which a run that follows text is not.
TEST_F(EncodeChat, PutsNoSpaceBetweenTextsThatStayApart) {
  test::VocabularySketch sketch{.model = "llama"};
  sketch.add("<unk>", 0.0F, TokenKind::unknown).add("<s>", 0.0F, TokenKind::control);
  sketch.add("</s>", 0.0F, TokenKind::control).add("<tool>", 0.0F, TokenKind::user_defined);
  sketch.add_bytes().add("\xE2\x96\x81").add("a").add("b").add("x");
  sketch.flags = {{"add_space_prefix", true}};
  const auto made = sketch.make();
  ASSERT_TRUE(made.has_value());
  const auto chat = ChatTemplate::make("a{{ messages[0].content }}b</s>{{ messages[0].content }}a");
  ASSERT_TRUE(chat.has_value());
  const auto pieces_of = [&](const char* content, InputTokens inputs) {
    const auto messages = ChatValue::list({chat_message("user", content)});
    const auto tokens = encode_chat(*made, *chat, messages, {}, {}, {.inputs = inputs});
    return tokens ? pieces(*made, *tokens) : chat_error_text(tokens.error());
  };
  EXPECT_EQ(pieces_of("x", InputTokens::apart), "  a x b </s>   x a");
  for (const char* content : {"x", "x x", "<tool>", "</s>", " "}) {
    EXPECT_EQ(pieces_of(content, InputTokens::apart), pieces_of(content, InputTokens::plain))
        << content;
  }
}

TEST_F(EncodeChat, MarksWhatIsGenerated) {
  const std::string source =
      "<|user|>{% generation %}{{ messages[0].content }}<|end|>{% endgeneration %}.";
  EXPECT_EQ(encoded(source, "ab"), "<|user|> +a +b +<|end|> .");
  EXPECT_EQ(encoded(source, "ab", {.inputs = InputTokens::apart, .adds_special = true}, true),
            "<s> <|user|> +a +b +<|end|> .");
}

TEST_F(EncodeChat, AddsABosOnlyWhereTheTemplateHasNone) {
  EXPECT_EQ(encoded(simple, "a", {}, true), "<|user|> a <|end|>");
  EXPECT_EQ(encoded(simple, "a", {.adds_special = true}, true), "<s> <|user|> a <|end|>");
  EXPECT_EQ(encoded("<s>" + simple, "a", {.adds_special = true}, true), "<s> <|user|> a <|end|>");
}

TEST_F(EncodeChat, FailsWithTheErrorOfTheTemplate) {
  EXPECT_EQ(encoded("{{ raise_exception('no') }}", "a"),
            "chat template, line 1, column 4: no\n"
            "  {{ raise_exception('no') }}\n"
            "     ^");
}

}  // namespace
}  // namespace ingot
