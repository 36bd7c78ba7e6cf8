// SPDX-License-Identifier: MIT
// A template for each rule about chat templates, and one that breaks none.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "check/rule_case.hpp"
#include "support/vocabulary_sketch.hpp"

namespace ingot::test {
namespace {

using testing::Contains;
using testing::HasSubstr;

const std::string good =
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content if m.content is string else "
    "(m.content or [])|map(attribute='text')|join }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

/// A model of a vocabulary and a template.
VocabularySketch sketch_of(const std::string& source) {
  VocabularySketch sketch = ascii_bpe("gpt-2");
  for (const char* token : {"<|im_start|>", "<|im_end|>", "<|other|>"}) {
    sketch.add(token, 0.0F, TokenKind::control);
  }
  sketch.chat_template = source;
  return sketch;
}

Bytes model_of(const std::string& source) { return sketch_of(source).bytes(); }

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// The good template, but for what it refuses.
std::string refusing(const std::string& condition, const std::string& words) {
  return "{% if " + condition + " %}{{ raise_exception('" + words + "') }}{% endif %}" + good;
}

/// The good template with the calls of tools, each as an expression.
std::string calling(const std::string& expression) {
  return replaced(
      good, "<|im_end|>",
      "{% for call in m.tool_calls or [] %}{{ " + expression + " }}{% endfor %}<|im_end|>");
}

/// What a rule finds in a template: the first message.
std::string message_of(const std::string& rule, const Bytes& bytes) {
  for (const Finding& finding : findings_of(bytes)) {
    if (finding.rule->name == rule) return finding.message;
  }
  return "nothing";
}

}  // namespace

std::vector<RuleCase> template_cases() {
  std::vector<RuleCase> cases;
  const auto add = [&](const char* rule, const std::string& source) {
    cases.push_back({rule, model_of(source)});
  };
  add("template_syntax", "{% if x %}");
  add("template_syntax", "{{ messages|unheardof }}");
  add("template_fails", "{{ raise_exception('never') }}");
  add("template_fails", "{{ messages[0].content // 0 }}");
  add("template_fails", good + "{% if messages[0].role == 'system' %}{{ 1 // 0 }}{% endif %}");
  add("template_fails", good + "{% for t in tools %}{% endfor %}");
  add("template_fails", good + "{{ now_in_rome() }}");
  add("template_undefined", good + "{{ style.name }}");
  add("template_drops_text", "{% for m in messages %}{{ m.role }}{% endfor %}");
  add("template_limit", "{% for i in range(100000) %}{% endfor %}" + good);
  add("template_limit", good + "{% if tools %}{{ 'x' * 1000000 }}{% endif %}");
  add("template_drops_text", "{{ messages[0].content }}");
  add("template_drops_text", replaced(good, "in messages", "in messages if m.role != 'system'"));
  add("template_unknown_name", good + "{% if x %}{{ x|unheardof }}{% endif %}");
  add("template_unknown_name", good + "{% if x %}{{ now_in_rome() }}{% endif %}");
  add("template_forbidden", good + "{% if x %}{{ messages.append(1) }}{% endif %}");
  add("template_no_generation_prompt",
      "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}");
  add("template_token_missing", good + "{% if x %}<|unheardof|>{% endif %}");
  add("template_end", replaced(good, "<|im_end|>", "<|other|>"));
  add("template_escaped", "\"" + good + "\"");
  add("template_escaped", replaced(replaced(good, "\n", "\\n"), "}{%", "}\\n{%"));
  add("template_minja", good + "{% if x is undefined %}{% endif %}");
  add("template_javascript", good + "{% if x is sequence %}{{ 7 // 2 }}{% endif %}");
  add("template_refuses", refusing("messages[0].role == 'system'", "no system"));
  add("template_refuses", refusing("messages[0].role == 'assistant'", "the user begins"));
  add("template_tools", good + "{% if tools %}{% endif %}");
  add("template_tools", "{{ tools }}" + good);
  add("template_tools", "{{ tools }}" + calling("call.function.arguments.place"));
  add("template_tools", "{{ tools }}" + calling("call.function.arguments"));
  add("template_prefix", "{{ messages|length }}" + good);
  add("template_parts", "{% for m in messages %}{{ m.content.strip() }}{% endfor %}");
  add("template_parts", "{% for m in messages %}{{ m.content }}{% endfor %}");
  add("template_parts", "{% for m in messages %}{{ m.content[0].text }}{% endfor %}");
  add("template_line_ends", replaced(good, "\n", "\r\n"));
  add("template_line_ends", good + "\r");
  add("template_date", "{{ strftime_now('%Y') }}" + good);
  add("template_variables", good + "{% if mood is defined %}{{ mood }}{% endif %}");
  VocabularySketch doubled = sketch_of("{{ bos_token }}" + good);
  doubled.flags = {{"add_bos_token", true}};
  cases.push_back({"template_doubled_bos", doubled.bytes()});
  for (const char* listed : {"other", "rag"}) {
    GgufBuilder names;
    names.pair("tokenizer.chat_template.rag", good);
    names.array_pair<std::string_view>("tokenizer.chat_templates", {"default", listed});
    if (std::string(listed) == "rag") names.pair("tokenizer.chat_template.tool_use", good);
    cases.push_back({"template_names", names.bytes()});
  }
  return cases;
}

namespace {

TEST(CheckTemplate, FindsNothingInAGoodOne) {
  for (const std::string& name : broken_rules(model_of(good))) {
    EXPECT_FALSE(name.starts_with("template_")) << name;
  }
}

TEST(CheckTemplate, NeedsNoGenerationPromptWhereAnswersHaveNoBeginning) {
  const auto broken = broken_rules(
      model_of("{% for m in messages %}{% if m.role == 'user' %}[INST] {{ m.content }} [/INST]"
               "{% else %} {{ m.content }}<|im_end|>{% endif %}{% endfor %}"));
  EXPECT_THAT(broken, testing::Not(Contains("template_no_generation_prompt")));
  EXPECT_THAT(broken, testing::Not(Contains("template_fails")));
}

TEST(CheckTemplate, TakesALimitOfItsOwnForNoFault) {
  const auto broken = broken_rules(model_of("{% for i in range(100000) %}{% endfor %}" + good));
  EXPECT_THAT(broken, Contains("template_limit"));
  for (const char* rule : {"template_fails", "template_refuses", "template_drops_text"}) {
    EXPECT_THAT(broken, testing::Not(Contains(rule)));
  }
}

TEST(CheckTemplate, NamesThePlaceAndWhatWasMeant) {
  EXPECT_EQ(message_of("template_syntax", model_of("a\n{{ messages|tojsn }}")),
            "line 2, column 13: No filter named 'tojsn'; did you mean 'tojson'?");
  EXPECT_EQ(message_of("template_unknown_name",
                       model_of(good + "{% if x is strin %}{{ strftime() }}{% endif %}")),
            "line 4, column 20: there is no test 'strin'; did you mean 'string'?");
  EXPECT_EQ(message_of("template_minja", model_of(good + "{{ [1]|first }}")),
            "line 4, column 19: minja does not have the filter 'first'");
  EXPECT_EQ(message_of("template_fails", model_of("{{ raise_exception('no\x1B') }}")),
            "no plain conversation renders: line 1, column 4: no\\x1b");
}

TEST(CheckTemplate, TellsWhatAConversationHasToBe) {
  EXPECT_EQ(message_of("template_refuses",
                       model_of(refusing("messages|length > 1 and messages[1].role == 'user'",
                                         "roles alternate"))),
            "a system message fails: roles alternate");
  EXPECT_EQ(message_of("template_tools",
                       model_of("{{ tools }}" + calling("call.function.arguments.place"))),
            "arguments of calls have to be an object, not text");
  EXPECT_EQ(
      message_of("template_tools", model_of("{{ tools }}" + calling("call.function.arguments"))),
      "arguments of calls have to be text, not an object");
  EXPECT_EQ(message_of("template_tools",
                       model_of("{{ tools }}" + calling("call.function.arguments|tojson"))),
            "arguments of calls have to be an object, not text");
  EXPECT_EQ(message_of("template_variables",
                       model_of(good + "{% if mood is defined %}{{ mood ~ tempo }}{% endif %}")),
            "it reads mood, tempo");
}

TEST(CheckTemplate, TellsTokensThatAreMissingFromOrdinaryOnes) {
  VocabularySketch sketch = sketch_of(good + "{% if x %}<|plain|>{% endif %}");
  sketch.add("<|plain|>");
  EXPECT_EQ(message_of("template_token_missing", sketch.bytes()),
            "\"<|plain|>\" is an ordinary token, which is not found in a text");
  // Names in brackets may be words; tokens that are found anyway are as good as control tokens.
  VocabularySketch brackets = sketch_of(good + "<word>[INST]<a>");
  brackets.pre = "bloom";  // "<a>" is one word
  for (const char* token : {"[INST]", "<a>", "<a"}) brackets.add(token);
  brackets.merges.insert(brackets.merges.end(), {"< a", "<a >"});
  EXPECT_EQ(message_of("template_token_missing", brackets.bytes()),
            "\"[INST]\" is an ordinary token, which is not found in a text");
}

TEST(CheckTemplate, ComparesWithThatOfThePublisher) {
  const auto difference = [](const std::string& source, const std::string& expected) {
    CheckOptions options;
    options.chat_template = expected;
    options.is_wanted = [](const CheckRule& rule) { return rule.name == "template_differs"; };
    const auto findings = findings_of(model_of(source), options);
    return findings.empty() ? std::string() : findings[0].message;
  };
  EXPECT_EQ(difference("a\r\nb\n", "a\nb"), "");
  EXPECT_EQ(difference("a\nb1\n", "a\nb2\n"), "line 2, column 2 is \"1\", not \"2\"");
  EXPECT_EQ(difference("\u00e9\u00e9", "\u00e9\u00e8"),
            "line 1, column 2 is \"\u00e9\", not \"\u00e8\"");
  EXPECT_EQ(difference("a", "a\nb\n"), "line 2 is missing: \"b\"");
  EXPECT_EQ(difference("a\nb", "a"), "line 2 is too much: \"b\"");
}

TEST(CheckTemplate, TakesPartsWhereTextAloneIsNotInThePrompt) {
  const auto broken = broken_rules(
      model_of("{% for m in messages %}{{ m.content|map(attribute='text')|join }}{% endfor %}"));
  EXPECT_THAT(broken, Contains("template_parts"));
  EXPECT_THAT(broken, testing::Not(Contains("template_drops_text")));
}

TEST(CheckTemplate, GivesToolsToATemplateForTools) {
  const std::string source = "{% for t in tools %}{{ t.function.name }}{% endfor %}" + good;
  GgufBuilder file;
  file.pair("tokenizer.chat_template.tool_use", source);
  EXPECT_THAT(broken_rules(file.bytes()), testing::Not(Contains("template_fails")));
  EXPECT_THAT(broken_rules(model_of(source)), Contains("template_fails"));
}

TEST(CheckTemplate, LooksForTheEndOfAnAnswerInBracketsToo) {
  VocabularySketch sketch = sketch_of(replaced(good, "<|im_end|>", "<end_of_turn_of_ours>"));
  sketch.add("<end_of_turn_of_ours>", 0.0F, TokenKind::control);
  EXPECT_EQ(message_of("template_end", sketch.bytes()),
            "an answer ends with \"<end_of_turn_of_ours>\", which ends no generation");
  EXPECT_EQ(message_of("template_end", model_of(replaced(good, "<|im_end|>", "<end_of_all>"))),
            "nothing");
}

TEST(CheckTemplate, LooksAtEightTemplates) {
  GgufBuilder file;
  for (int i = 0; i < 20; ++i) {
    file.pair("tokenizer.chat_template.t" + std::to_string(i), std::string_view("{% if %}"));
  }
  const auto findings = findings_of(file.bytes());
  EXPECT_EQ(std::count_if(findings.begin(), findings.end(),
                          [](const Finding& each) { return each.rule->name == "template_syntax"; }),
            8);
}

}  // namespace
}  // namespace ingot::test
