// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <ctime>
#include <ingot/chat_profile.hpp>
#include <string>

namespace ingot {
namespace {

ChatProfile profile_of(const std::string& source) {
  const auto chat = ChatTemplate::make(source);
  EXPECT_TRUE(chat.has_value()) << chat.error().message();
  return profile_chat(*chat);
}

/// The names of the features, with commas.
std::string features_of(const std::string& source) {
  const ChatProfile profile = profile_of(source);
  std::string names;
  for (std::size_t i = 0; i < chat_feature_count; ++i) {
    const auto feature = static_cast<ChatFeature>(i);
    if (!profile.supports(feature)) continue;
    if (!names.empty()) names += ", ";
    names += name_of(feature);
  }
  return names;
}

const std::string texts = "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}";

TEST(ChatProfileTest, NamesTheFormatOfPrompts) {
  const auto format_of = [](const std::string& before, const std::string& between,
                            const std::string& after) {
    return profile_of("{% for m in messages %}{% if m.role == 'user' %}" + before +
                      "{{ m.content }}" + between + "{% elif m.role == 'assistant' %}" +
                      "{{ m.content }}" + after + "{% endif %}{% endfor %}")
        .format;
  };
  EXPECT_EQ(format_of("<|im_start|>user\n", "<|im_end|>\n<|im_start|>assistant\n", "<|im_end|>\n"),
            "ChatML");
  // Blanks tell the versions of Mistral apart, and the text of a system message that of Llama 2.
  EXPECT_EQ(format_of("[INST] ", " [/INST]", "</s>"), "Mistral v1");
  EXPECT_EQ(format_of("[INST] ", "[/INST] ", "</s>"), "Mistral v3");
  EXPECT_EQ(format_of("[INST]", "[/INST]", "</s>"), "Mistral v3 Tekken");
  EXPECT_EQ(format_of("{# <<SYS>> #}[INST] ", " [/INST] ", " </s>"), "Llama 2");
  EXPECT_EQ(format_of("{# [SYSTEM_PROMPT] #}[INST]", "[/INST]", "</s>"), "Mistral v7 Tekken");
  EXPECT_EQ(format_of("", " ", ""), "");
  EXPECT_EQ(profile_of("{{ raise_exception('no') }}").format, "");
}

TEST(ChatProfileTest, FindsWhatATemplateSupports) {
  EXPECT_EQ(features_of("{% for m in messages if m.role in ['user', 'assistant'] %}{{ m.content }}"
                        "{% endfor %}"),
            "");
  EXPECT_EQ(features_of(texts), "system, tool results");
  EXPECT_EQ(features_of(texts + "{% if tools %}{{ tools|tojson }}{% endif %}"),
            "system, tools, tool results");
  EXPECT_EQ(features_of(texts + "{% for m in messages %}{% for c in m.tool_calls %}"
                                "{{ c.function.name }}{% endfor %}{% endfor %}"),
            "system, tool calls, tool results");
  EXPECT_EQ(features_of(texts + "{{ messages[-1].reasoning_content }}"),
            "system, tool results, thinking");
  EXPECT_EQ(features_of(texts + "{% if enable_thinking %}<think>{% endif %}"),
            "system, tool results, thinking");
  EXPECT_EQ(features_of(texts + "{% for d in documents or [] %}{{ d.text }}{% endfor %}"),
            "system, tool results, documents");
}

TEST(ChatProfileTest, FindsImagesAndNoListsPrinted) {
  const std::string parts =
      "{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}"
      "{% for p in m.content %}{% if p.type == 'text' %}{{ p.text }}{% else %}<img>{% endif %}"
      "{% endfor %}{% endif %}{% endfor %}";
  EXPECT_EQ(features_of(parts), "system, tool results, text parts, images");
  EXPECT_EQ(features_of("{% for m in messages %}{{ m.content }}{% endfor %}"),
            "system, tool results");
}

TEST(ChatProfileTest, AsksAsStrictTemplatesWant) {
  // Tools only as text, and no system message.
  EXPECT_EQ(features_of("{% for m in messages %}{% if m.role == 'system' %}"
                        "{{ raise_exception('no system') }}{% endif %}"
                        "{% for c in m.tool_calls or [] %}{{ c.function.name ~ c.function.arguments"
                        ".strip() }}{% endfor %}{{ m.content }}{% endfor %}"),
            "tool calls, tool results");
}

TEST(ChatProfileTest, FindsWhatStandsAroundAnAnswer) {
  const std::string source = "{% for m in messages %}<{{ m.role }}>{{ m.content }}</s>{% endfor %}";
  const ChatProfile lacking = profile_of(source);
  EXPECT_EQ(lacking.answer_begin, "<assistant>");
  EXPECT_EQ(lacking.answer_end, "</s>");
  EXPECT_TRUE(lacking.lacks_generation_prompt);
  const ChatProfile whole =
      profile_of(source + "{% if add_generation_prompt %}<assistant>{% endif %}");
  EXPECT_FALSE(whole.lacks_generation_prompt);
  EXPECT_TRUE(whole.prompt.ends_with("</s><assistant>"));
}

TEST(ChatProfileTest, KeepsTheReasonWhereNothingRenders) {
  const ChatProfile profile = profile_of("{{ raise_exception('no') }}");
  ASSERT_TRUE(profile.failure.has_value());
  EXPECT_EQ(profile.failure->code, Errc::chat_raised);
  EXPECT_FALSE(profile_of("{{ messages[0].content }}").failure.has_value());
  EXPECT_FALSE(profile_of("{{ messages[0].content }}").keeps_text);
}

TEST(ChatProfileTest, EndsAtALimitOfItsOwnAndSaysSo) {
  const std::string nested = "{% for i in range(99999) %}{% for j in range(99999) %}";
  const std::clock_t begin = std::clock();
  for (const std::string& source :
       {nested + "{% endfor %}{% endfor %}", nested + "{{ 'a' * 99999 }}{% endfor %}{% endfor %}",
        nested + "{% set x = [i] * 99999 %}{% endfor %}{% endfor %}"}) {
    const ChatProfile profile = profile_of(source + texts);
    EXPECT_TRUE(profile.reached_limit);
    EXPECT_TRUE(profile.refusals.empty());
  }
  EXPECT_LT((std::clock() - begin) / CLOCKS_PER_SEC, 5);
  const ChatProfile partly =
      profile_of(texts + "{% if tools %}" + nested + "{% endfor %}{% endfor %}{% endif %}");
  EXPECT_TRUE(partly.reached_limit);
  EXPECT_TRUE(partly.keeps_text);
  EXPECT_FALSE(profile_of(texts).reached_limit);
}

/// Reading a source and looking at it are linear in it: each of these took seconds to minutes.
TEST(ChatLint, TakesLinearTime) {
  const auto numbered = [](const std::string& begin, const std::string& end) {
    std::string source;
    for (int i = 0; i < 20'000; ++i) source += begin + std::to_string(i) + end;
    return source;
  };
  const auto nested = [](const std::string& begin, const std::string& body,
                         const std::string& end) {
    std::string source = body;
    for (int i = 0; i < 190; ++i) source = begin + source + end;
    return source;
  };
  std::string names;
  for (int i = 0; i < 100'000; ++i) names += "a,";
  const std::clock_t begin = std::clock();
  for (const std::string& source :
       {numbered("{{ a", "() }}"), "{% if x %}" + numbered("{{ 1|a", " }}") + "{% endif %}",
        numbered("<|", ""),
        nested("{% for a in x %}", numbered("{{a}}", "") + "{{ loop }}", "{% endfor %}"),
        "{% for x in y %}{% macro m(" + names + "b) %}{% endmacro %}{{ loop }}{% endfor %}"}) {
    const auto chat = ChatTemplate::make(source);
    if (!chat) continue;
    EXPECT_LE(lint_chat(*chat).size(), 200u);
    EXPECT_LE(control_texts(*chat).size(), 10'000u);
  }
  EXPECT_LT((std::clock() - begin) / CLOCKS_PER_SEC, 10);
}

TEST(ChatLint, FindsEachFactOnce) {
  const auto chat = ChatTemplate::make(
      "{% if a %}{{ a|unheardof }}{{ b|unheardof }}{% endif %}{{ c() }}"
      "{% if d is defined %}{{ d() }}{% endif %}{{ [].append(1) }}");
  ASSERT_TRUE(chat.has_value());
  std::string found;
  for (const ChatRemark& remark : lint_chat(*chat)) {
    if (remark.kind == ChatRemark::Kind::unknown_name || remark.kind == ChatRemark::Kind::forbidden)
      found += remark.text + "\n";
  }
  EXPECT_EQ(found,
            "there is no filter 'unheardof'\n"
            "there is no function 'c'\n"
            "the sandbox of Hugging Face forbids the method 'append'\n");
}

TEST(ChatLint, FindsWhatLooksLikeAControlToken) {
  const auto chat = ChatTemplate::make(
      "<|a|>{{ '<|b|>' ~ x }}{% if x %}<|a|><| c |><|d<|e|>{% endif %}<\xEF\xBD\x9C"
      "f\xEF\xBD\x9C>");
  ASSERT_TRUE(chat.has_value());
  EXPECT_EQ(control_texts(*chat), (std::vector<std::string>{"<|a|>", "<|b|>", "<|e|>",
                                                            "<\xEF\xBD\x9C"
                                                            "f\xEF\xBD\x9C>"}));
}

}  // namespace
}  // namespace ingot
