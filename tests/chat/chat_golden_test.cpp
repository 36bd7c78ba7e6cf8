// SPDX-License-Identifier: MIT
// Real templates and one-line cases, against what Jinja2 makes of them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <ingot/chat.hpp>
#include <ingot/chat_profile.hpp>
#include <iterator>
#include <string>

#include "support/shared_files.hpp"
#include "text/chat_json.hpp"

namespace ingot {
namespace {

ChatValue read_json(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  auto value = cli::parse_chat_json(text);
  EXPECT_TRUE(value.has_value()) << path << ": " << (value ? "" : value.error());
  return value ? *std::move(value) : ChatValue();
}

std::string text_of(const ChatValue& object, std::string_view name) {
  const ChatValue* member = object.find(name);
  return member != nullptr && member->string() != nullptr ? *member->string() : std::string();
}

ChatOptions golden_options() {
  ChatOptions options;
  options.now = ChatTime{2025, 7, 4, 5, 6, 7};
  return options;
}

Result<ChatText> render_golden(const std::string& source, const ChatValue& variables) {
  const auto compiled = ChatTemplate::make(source);
  if (!compiled) return tl::make_unexpected(compiled.error());
  return compiled->render_variables(variables, golden_options());
}

std::string kind_of(Errc code) {
  switch (code) {
    case Errc::chat_syntax:
      return "syntax";
    case Errc::chat_raised:
      return "raised";
    case Errc::chat_undefined:
      return "undefined";
    case Errc::chat_security:
      return "security";
    default:
      return "runtime";
  }
}

/// Empty if a result is the expected one, else what differs.
std::string difference(const Result<ChatText>& result, const ChatValue& expected) {
  if (expected.string() != nullptr) {
    if (!result) return "fails: " + chat_error_text(result.error());
    return result->text == *expected.string() ? "" : "text differs:\n" + result->text;
  }
  if (result) return "gives text: " + result->text;
  const std::string kind = text_of(expected, "error");
  if (kind_of(result.error().code) != kind)
    return "not " + kind + ": " + chat_error_text(result.error());
  if (kind == "raised" && result.error().detail != text_of(expected, "message")) {
    return "other words: " + result.error().detail;
  }
  const ChatValue* line = expected.find("line");
  if (line != nullptr && line->integer() != nullptr && result.error().line != *line->integer()) {
    return "other line: " + chat_error_text(result.error());
  }
  return "";
}

/// Renders one-line templates over one context; returns how many.
std::size_t expect_cases(const ChatValue& golden) {
  const ChatValue& context = *golden.find("context");
  std::size_t count = 0;
  for (const ChatValue& test_case : *golden.find("cases")->elements()) {
    const std::string source = text_of(test_case, "template");
    EXPECT_EQ(difference(render_golden(source, context), *test_case.find("result")), "") << source;
    ++count;
  }
  return count;
}

/// Renders templates over the conversations that their results name; returns how many.
std::size_t expect_templates(const ChatValue& golden) {
  std::size_t count = 0;
  for (const ChatValue& row : *golden.find("templates")->elements()) {
    const std::string source = text_of(row, "template");
    EXPECT_FALSE(profile_chat(*ChatTemplate::make(source)).reached_limit) << text_of(row, "name");
    for (const ChatValue::Member& result : *row.find("results")->members()) {
      const ChatValue* context = result.name == "own" ? row.find("own_context")
                                                      : golden.find("contexts")->find(result.name);
      if (context == nullptr) {
        ADD_FAILURE() << "there is no conversation " << result.name;
        continue;
      }
      EXPECT_EQ(difference(render_golden(source, *context), result.value), "")
          << text_of(row, "name") << ", " << result.name;
      ++count;
    }
  }
  return count;
}

/// tests/chat/make_chat_cases.py
TEST(ChatOwnCases, AreWhatJinja2MakesOfThem) {
  const ChatValue golden =
      read_json(std::filesystem::path(INGOT_SOURCE_DIR) / "tests" / "golden" / "chat_cases.json");
  EXPECT_GT(expect_cases(golden), 50u);
  EXPECT_EQ(expect_templates(golden), 14u);
}

class ChatGolden : public test::SharedFilesTest {
 protected:
  static std::filesystem::path folder() { return test::shared_folder() / "golden" / "text"; }
};

TEST_F(ChatGolden, OneLineCases) {
  require_files(folder() / "jinja.json");
  if (IsSkipped()) return;
  EXPECT_GT(expect_cases(read_json(folder() / "jinja.json")), 200u);
}

TEST_F(ChatGolden, RealTemplates) {
  require_files(folder() / "templates.json");
  if (IsSkipped()) return;
  EXPECT_GT(expect_templates(read_json(folder() / "templates.json")), 1500u);
}

}  // namespace
}  // namespace ingot
