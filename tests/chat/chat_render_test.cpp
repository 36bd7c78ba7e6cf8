// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <ingot/chat.hpp>
#include <string>
#include <thread>
#include <vector>

namespace ingot {
namespace {

using testing::HasSubstr;

Result<ChatText> render(const std::string& source, const ChatValue& variables = {},
                        const ChatOptions& options = {}) {
  const auto compiled = ChatTemplate::make(source);
  if (!compiled) return tl::make_unexpected(compiled.error());
  return compiled->render_variables(variables, options);
}

std::string text_of(const std::string& source, const ChatValue& variables = {}) {
  const auto result = render(source, variables);
  return result ? result->text : std::string(name_of(result.error().code));
}

/// Parts of a prompt: "[...]" came from an input, "{...}" is generated.
std::string marked(const ChatText& prompt) {
  std::string text;
  for (const ChatRun& run : prompt.runs) {
    if (run.is_generated) text += '{';
    if (run.is_input) text += '[';
    text += prompt.text.substr(run.offset_bytes, run.size_bytes);
    if (run.is_input) text += ']';
    if (run.is_generated) text += '}';
  }
  return text;
}

std::string marked(const std::string& source, const ChatValue& variables) {
  const auto result = render(source, variables);
  return result ? marked(*result) : chat_error_text(result.error());
}

TEST(ChatRender, GivesTheUsualVariables) {
  const auto chat = ChatTemplate::make(
      "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
      "{{ tools is none }}{{ documents is none }}{% if add_generation_prompt %}<assistant>{% endif "
      "%}");
  ASSERT_TRUE(chat.has_value());
  const auto messages = ChatValue::list({chat_message("user", "Hi")});
  EXPECT_EQ(chat->render(messages)->text, "<user>HiTrueTrue<assistant>");
  ChatOptions options;
  options.add_generation_prompt = false;
  options.variables = ChatValue::object({{"documents", ChatValue::list({1})}});
  EXPECT_EQ(chat->render(messages, ChatValue::list({"f"}), options)->text, "<user>HiFalseFalse");
}

TEST(ChatRender, KeepsTheOrderAndTheLastOfEqualNames) {
  ChatValue object;
  object.add("z", 1).add("a", 2).add("z", 3);
  EXPECT_EQ(text_of("{{ x }}", ChatValue::object({{"x", object}})), "{'z': 3, 'a': 2}");
}

TEST(ChatRender, KeepsDigitsBeyond64Bits) {
  const auto variables = ChatValue::object({{"x", 18446744073709551615u}});
  EXPECT_EQ(text_of("{{ x }} {{ x > 1 }} {{ x|tojson }}", variables),
            "18446744073709551615 True 18446744073709551615");
  EXPECT_EQ(text_of("{{ x + 1 }}", variables), "chat_failed");
}

/// The results are those of Jinja2 3.1.6 with Python 3.11.
TEST(ChatRender, FollowsTheReferenceInOddCases) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{{ {'a': 1}[1:] }}|{{ 5[1:] }}|{{ none[:2] is undefined }}", "||True"},
      {"{% set a = {'a': 1} %}{{ a[1:] }}", "chat_failed"},
      {"{{ '\xC7\x85x \xC7\x86'.title() }} {{ '\xC7\x85x'|title }} {{ '\xC7\x85x \xC7\x84 "
       "\xC7\x86'.swapcase() }}",
       "\xC7\x85x \xC7\x85 \xC7\x84x \xC7\x85X \xC7\x86 \xC7\x84"},
      {"{{ '\xC7\x85 a'.capitalize() }} {{ '\xC7\x85'.istitle() }} {{ '\xC7\x85'.islower() }}",
       "\xC7\x85 a True False"},
      {"{{ 2.5.is_integer() }} {{ 2.0.is_integer() }} {{ (-5).bit_length() }}", "False True 3"},
      {"{{ true.bit_count() }} {{ (5).real }} {{ (5).imag }} {{ 2.5.imag }}", "1 5 0 0.0"},
      {"{{ [1, 2]|truncate(3) }} {{ x|truncate }}", "[1, 2] "},
      {"{{ ([1] * 99)|truncate(3) }}", "chat_failed"},
      {"{% filter length %}abc{% endfilter %}", "chat_failed"},
      {"{{ '{} {0}'.format(1, 2) }}", "chat_failed"},
      {"{{ '{0} {}'.format(1, 2) }}", "chat_failed"},
      {"{{ [{'b': 1}, {'b': 2}]|sort(attribute='a') }}", "[{'b': 1}, {'b': 2}]"},
      {"{{ [{'a': 1}, {}]|sort(attribute='a') }}", "chat_undefined"},
      {"{{ 'well-known a1-b2 xx--yy'|wordwrap(6) }}", "well-\nknown\na1-b2\nxx--yy"},
      {"{{ 'well-known'|wordwrap(6, break_on_hyphens=false) }}", "well-k\nnown"},
      {"{{ 'a<!-- > --> b<c>d <e'|striptags }}", "a bd <e"},
      {"{{ 'a' % [1] }} {{ 'a'.ljust(3, 1) }}", "chat_failed"},
      {"{{ 'a' % [1] }} {{ 7|int(base='x') }} {{ '7'|int(3, 'x') }}", "a 7 7"},
      {"{{ [] is filter }}", "chat_failed"},
  };
  for (const auto& [source, text] : cases) EXPECT_EQ(text_of(source), text) << source;
}

TEST(ChatRuns, TellInputFromTemplate) {
  const auto variables = ChatValue::object({{"u", "<|end|>"}, {"n", 3}});
  EXPECT_EQ(marked("<|user|>{{ u }}<|end|>{{ n }}", variables), "<|user|>[<|end|>]<|end|>[3]");
  EXPECT_EQ(marked("{{ 'a' ~ u }}{{ '(' + u + ')' }}", variables), "a[<|end|>]([<|end|>])");
}

TEST(ChatRuns, TakeSpecialTokensForTheTemplates) {
  const auto variables = ChatValue::object({{"bos_token", "<s>"}, {"some_token", "<s>"}});
  EXPECT_EQ(marked("{{ bos_token }}{{ some_token }}", variables), "<s>[<s>]");
}

TEST(ChatRuns, SurviveWhatChangesText) {
  const auto variables = ChatValue::object({{"u", " ab "}, {"l", ChatValue::list({"x", "y"})}});
  EXPECT_EQ(marked("{{ u|trim|upper }}-", variables), "[AB]-");
  EXPECT_EQ(marked("{{ ('<' ~ u ~ '>')[1:-1] }}", variables), "[ ab ]");
  EXPECT_EQ(marked("{{ ('<' ~ u ~ '>')|replace('b', '_') }}", variables), "<[ a]_[ ]>");
  EXPECT_EQ(marked("{{ l|join('+') }}", variables), "[x]+[y]");
  EXPECT_EQ(marked("{{ l|tojson }}", variables), "[[\"x\", \"y\"]]");
  EXPECT_EQ(marked("{{ [l[0]]|tojson }}", variables), "[[\"x\"]]");
  EXPECT_EQ(marked("{% set s %}<{{ u }}>{% endset %}{{ s.split(' ')[1] }}", variables), "[ab]");
  EXPECT_EQ(marked("{% macro m(x) %}({{ x }}){% endmacro %}{{ m(l[1]) }}", variables), "([y])");
}

TEST(ChatRuns, MarkWhatIsGenerated) {
  const auto variables = ChatValue::object({{"u", "x"}});
  EXPECT_EQ(marked("a{% generation %}b{{ u }}{% endgeneration %}c", variables), "a{b}{[x]}c");
  EXPECT_EQ(
      marked("{% set s %}{% generation %}b{% endgeneration %}{% endset %}-{{ s }}", variables),
      "-{b}");
}

TEST(ChatValues, ASliceMayBeAnIndex) {
  EXPECT_EQ(text_of("{{ {'ba': 1}['ab'[::-1]] }}"), "1");
  EXPECT_EQ(text_of("{% set k = 'xy' %}{{ {'y': 2}[k[1:]] }}{{ 'abc'[1:][0] }}"), "2b");
}

TEST(ChatValues, TheCharactersOfMarkupAreNone) {
  EXPECT_EQ(text_of("{{ ('<'|e)|list }}"), "['&', 'l', 't', ';']");
  EXPECT_EQ(text_of("{% for c in 'a'|safe %}{{ c is escaped }}{% endfor %}"), "False");
  EXPECT_EQ(text_of("{{ ('ab'|safe)[0] is escaped }} {{ ('ab'|safe)|reverse is escaped }}"),
            "True True");
}

TEST(ChatValues, AnUndefinedValueHasNoElements) {
  EXPECT_EQ(text_of("{% set a, b = nothing %}"), "chat_failed");
  EXPECT_EQ(text_of("{% for a in nothing %}x{% endfor %}"), "");
}

TEST(ChatValues, LongIntegersMayHaveASign) {
  EXPECT_EQ(text_of("{{ +12345678901234567890 }}"), "12345678901234567890");
}

TEST(ChatFilters, UrlencodeTakesWhateverHasTwoElements) {
  EXPECT_EQ(text_of("{{ ['ab', {'c': 1, 'd': 2}, (1, ' ')]|urlencode }}"), "a=b&c=d&1=+");
  EXPECT_EQ(text_of("{{ ['abc']|urlencode }}"), "chat_failed");
}

TEST(ChatFilters, BatchesOfASizeThatIsNoNumberAreNeverFull) {
  EXPECT_EQ(text_of("{{ [1, 2]|batch('x')|list }}{{ [1, 2]|batch(1)|list }}"),
            "[[1, 2]][[1], [2]]");
  EXPECT_EQ(text_of("{{ [1, 2]|batch('x', 0)|list }}"), "chat_failed");
}

TEST(ChatErrors, NameThePlace) {
  const auto result = render("line one\n  {{ 'x' ~ nothing.name }}\n");
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, Errc::chat_undefined);
  EXPECT_EQ(result.error().line, 2u);
  EXPECT_EQ(result.error().column, 19u);
  EXPECT_EQ(result.error().excerpt->source_line, "  {{ 'x' ~ nothing.name }}");
  EXPECT_EQ(chat_error_text(result.error()),
            "chat template, line 2, column 19: 'nothing' is undefined\n"
            "    {{ 'x' ~ nothing.name }}\n"
            "                    ^");
}

TEST(ChatErrors, AreErrorsOfOneLine) {
  const auto result = ChatTemplate::make("a\n{{ 1 // 0 }}", "tools")->render({});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().message(),
            "\"tools\": the chat template fails (line 2, column 6: division by zero)");
  EXPECT_THAT(chat_error_text(result.error()),
              HasSubstr("chat template \"tools\", line 2, column 6: division by zero"));
}

TEST(ChatErrors, HaveTheirMessageWithoutAPlace) {
  const auto result = ChatTemplate::make("too long", "tools", {.max_source_bytes = 3});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().line, 0u);
  EXPECT_EQ(chat_error_text(result.error()), result.error().message());
  EXPECT_THAT(result.error().message(), HasSubstr("(more than max_source_bytes = 3)"));
}

TEST(ChatErrors, NameTheMacrosThatRan) {
  const auto result = render(
      "{% macro inner() %}{{ 1 // 0 }}{% endmacro %}\n"
      "{% macro outer() %}{{ inner() }}{% endmacro %}\n"
      "{{ outer() }}");
  ASSERT_FALSE(result.has_value());
  ASSERT_EQ(result.error().excerpt->calls.size(), 2u);
  EXPECT_EQ(result.error().excerpt->calls[0].macro, "inner");
  EXPECT_EQ(result.error().excerpt->calls[0].line, 2u);
  EXPECT_EQ(result.error().excerpt->calls[1].macro, "outer");
  EXPECT_EQ(result.error().excerpt->calls[1].line, 3u);
}

TEST(ChatErrors, CarryTheWordsOfTheTemplate) {
  const auto result = render("{{ raise_exception('roles must\nalternate') }}");
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, Errc::chat_raised);
  EXPECT_EQ(result.error().detail, "roles must\nalternate");
  EXPECT_THAT(chat_error_text(result.error()), HasSubstr("roles must\\nalternate"));
}

TEST(ChatErrors, CanBeShownWhateverTheTemplateHolds) {
  const auto result = render("\x1B[31m{{ x.\x1B }}");
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(chat_error_text(result.error()).find('\x1B'), std::string::npos);
}

TEST(ChatSandbox, ForbidsToWriteUnlessLenient) {
  const std::string source = "{% set l = [1] %}{% set _ = l.append(2) %}{{ l }}";
  EXPECT_EQ(text_of(source), "chat_security");
  ChatOptions options;
  options.is_lenient = true;
  EXPECT_EQ(render(source, {}, options)->text, "[1, 2]");
  const auto inputs = ChatValue::object({{"l", ChatValue::list({1})}});
  EXPECT_EQ(render("{{ l.append(2) }}", inputs, options).error().code, Errc::chat_security);
}

struct Bomb {
  std::string source;
  std::string limit;
};

TEST(ChatLimitsTest, StopBombs) {
  const std::vector<Bomb> bombs = {
      {"{{ range(1000000000) }}", "max_range"},
      {"{{ 'x' * 1000000000 }}", "max_string_bytes"},
      {"{{ [1] * 1000000000 }}", "max_elements"},
      {"{{ 'x'.center(1000000000) }}", "max_string_bytes"},
      {"{{ '%1000000000d' % 1 }}", "max_string_bytes"},
      {"{{ '{:1000000000}'.format(1) }}", "max_string_bytes"},
      {"{{ 'a'|indent(1000000000) }}", "max_string_bytes"},
      {"{{ [1]|tojson(indent=1000000000) }}", "max_string_bytes"},
      {"{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "max_depth"},
      {"{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
       "max_steps"},
      {"{% set ns = namespace(x='xxxxxxxxxxxxxxxx') %}{% for i in range(99) %}"
       "{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
       "max_string_bytes"},
      {"{% set x = 'x' * 1000000 %}{% for i in range(99999) %}{{ x }}{% endfor %}",
       "max_output_bytes"},
      {"{% set x = 'x' * 10000000 %}{% for i in range(99999) %}{% set y = x|upper %}{% endfor %}",
       "max_"},
      {"{% set ns = namespace(x=[]) %}{% for i in range(9999) %}{% set ns.x = [ns.x] %}"
       "{% endfor %}{{ ns.x }}",
       "depth"},
  };
  for (const Bomb& bomb : bombs) {
    const auto result = render(bomb.source);
    ASSERT_FALSE(result.has_value()) << bomb.source;
    EXPECT_EQ(result.error().code, Errc::limit_exceeded) << bomb.source;
    EXPECT_THAT(result.error().detail, HasSubstr(bomb.limit)) << bomb.source;
  }
}

/// Every operation pays before it works: these took minutes to years within their steps.
TEST(ChatLimitsTest, StopWhatTakesLong) {
  const auto shared = [](const std::string& pair, const std::string& use) {
    return "{% set ns = namespace(x=1, y=1) %}{% for i in range(60) %}{% set ns.x = " + pair +
           " %}{% set ns.y = ns.x %}{% endfor %}{{ " + use + " }}";
  };
  const auto repeated = [](const std::string& use) {
    return "{% set a = 'a' * 100000 %}{% for i in range(9999) %}{{ " + use + " }}{% endfor %}";
  };
  std::vector<std::string> sources;
  for (const char* pair : {"[ns.x, ns.x]", "(ns.x, ns.x)", "{1: ns.x, 2: ns.x}"}) {
    for (const char* use : {"ns.x == ns.y", "ns.x in [ns.y]", "[ns.x].count(ns.y)",
                            "[ns.x].index(ns.y)", "ns.x|string|length", "ns.x|tojson|length"}) {
      sources.push_back(shared(pair, use));
    }
  }
  for (const char* use : {"ns.x < ns.y", "[ns.x, ns.y]|sort|length", "[ns.x, ns.y]|max|length",
                          "[{'a': ns.x}, {'a': ns.y}]|groupby('a')|length", "{ns.x: 1}|length",
                          "ns.x in {1: 2}", "[ns.x, ns.y]|unique|list|length"}) {
    sources.push_back(shared("(ns.x, ns.x)", use));
  }
  for (const char* use :
       {"a.find('a' * 50000 ~ 'b')", "a.rfind('b' ~ 'a' * 50000)", "('a' * 50000 ~ 'b') in a",
        "a.count('a' * 50000 ~ 'b')", "a.replace('a' * 50000 ~ 'b', '')|length",
        "a.split('a' * 50000 ~ 'b')|length", "a.rsplit('b' ~ 'a' * 50000)|length",
        "a.partition('a' * 50000 ~ 'b')|length", "a.strip('b' * 50000 ~ 'a')|length",
        "('<!--' * 25000)|striptags|length", "range(9999)|list == range(9999)|list",
        "1|tojson(indent=9999999)|length", "([1] * 9999)|tojson(indent=999999)|length"}) {
    sources.push_back(repeated(use));
  }
  const std::string name(100'000, 'm');
  sources.push_back("{% macro " + name + "() %}{% endmacro %}{% for i in range(99999) %}{{ " +
                    name + "() }}{{ [" + name + "] * 99999 }}{% endfor %}");
  sources.push_back("{% for i in range(99999) %}{% for j in [1] %}{% set x %}" + name +
                    "{% break %}{% endset %}{% endfor %}{% endfor %}");
  ChatOptions options;
  options.limits.max_steps = 50'000;
  const std::clock_t begin = std::clock();
  for (const std::string& source : sources) {
    const auto result = render(source, {}, options);
    ASSERT_FALSE(result.has_value()) << source.substr(0, 300);
    EXPECT_EQ(result.error().code, Errc::limit_exceeded) << source.substr(0, 300);
  }
  EXPECT_LT((std::clock() - begin) / CLOCKS_PER_SEC, 20);
}

TEST(ChatLimitsTest, BoundTheDepthOfWhatIsCompared) {
  for (const char* use : {"{ns.x: 1}", "ns.x == ns.y", "ns.x < ns.y"}) {
    const std::string source =
        "{% set ns = namespace(x=(1,), y=(1,)) %}{% for i in range(99999) %}{% set ns.x = (ns.x,) "
        "%}"
        "{% set ns.y = (ns.y,) %}{% endfor %}{{ " +
        std::string(use) + " }}";
    EXPECT_EQ(text_of(source), "limit_exceeded") << use;
  }
}

TEST(ChatLimitsTest, BoundTheSource) {
  const auto nested = [](std::size_t depth) {
    return "{{ " + std::string(depth, '(') + "1" + std::string(depth, ')') + " }}";
  };
  EXPECT_EQ(text_of(nested(150)), "1");
  EXPECT_EQ(text_of(nested(100000)), "chat_syntax");
  std::string sum = "{{ 1";
  for (int i = 0; i < 100000; ++i) sum += "+1";
  EXPECT_EQ(text_of(sum + " }}"), "chat_syntax");
  EXPECT_EQ(text_of(std::string((1u << 20) + 1, 'x')), "limit_exceeded");
}

TEST(ChatTimes, AreTheCallers) {
  ChatOptions options;
  options.now = ChatTime{2024, 2, 29, 13, 5, 9};
  EXPECT_EQ(render("{{ strftime_now('%A %d %b %Y, %-I:%M %p, %j, %G-W%V') }}", {}, options)->text,
            "Thursday 29 Feb 2024, 1:05 PM, 060, 2024-W09");
}

TEST(ChatTimes, AreRead) {
  const auto time = parse_chat_time("2025-07-04T05:06:07");
  ASSERT_TRUE(time.has_value());
  EXPECT_EQ(time->month, 7);
  EXPECT_EQ(time->second, 7);
  EXPECT_TRUE(parse_chat_time("2024-02-29").has_value());
  for (const char* text : {"", "2023-02-29", "2025-13-01", "2025-07-04T25:00", "2025-07-04x"}) {
    EXPECT_FALSE(parse_chat_time(text).has_value()) << text;
  }
}

TEST(ChatTemplateTest, RendersInManyThreads) {
  const auto chat = ChatTemplate::make("{% for m in messages %}{{ m.content|upper }}{% endfor %}");
  ASSERT_TRUE(chat.has_value());
  std::vector<std::jthread> threads;
  std::vector<std::string> texts(4);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    threads.emplace_back([&chat, &text = texts[i], i] {
      const ChatValue messages = ChatValue::list({chat_message("user", std::to_string(i) + "a")});
      for (int round = 0; round < 100; ++round) text = chat->render(messages)->text;
    });
  }
  threads.clear();
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(texts[i], std::to_string(i) + "A");
}

TEST(ChatTemplateTest, NamesTheVariablesThatItReads) {
  const auto chat = ChatTemplate::make(
      "{% set a = b %}{{ a }}{{ c }}{% for d in e %}{{ d }}{% endfor %}"
      "{{ range(2) }}");
  ASSERT_TRUE(chat.has_value());
  EXPECT_EQ(chat->variables(), (std::vector<std::string>{"b", "c", "e"}));
}

}  // namespace
}  // namespace ingot
