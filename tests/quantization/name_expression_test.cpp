// SPDX-License-Identifier: MIT
#include "quantization/name_expression.hpp"

#include <gmock/gmock.h>

#include <ctime>
#include <regex>
#include <string>

#include "support/expect_error.hpp"
#include "support/random.hpp"

namespace ingot::quantization {
namespace {

bool finds(const std::string& expression, std::string_view name) {
  const auto compiled = NameExpression::compile(expression);
  EXPECT_THAT(compiled, test::Succeeds()) << expression;
  return compiled && compiled->is_found_in(name);
}

TEST(NameExpression, FindsWhatItSays) {
  EXPECT_TRUE(finds("attn_v", "blk.0.attn_v.weight"));
  EXPECT_TRUE(finds("blk\\.([0-9]|1[0-5])\\.", "blk.12.ffn_up.weight"));
  EXPECT_FALSE(finds("blk\\.([0-9]|1[0-5])\\.", "blk.16.ffn_up.weight"));
  EXPECT_TRUE(finds("^(?!.*attn).*weight$", "blk.0.ffn_up.weight"));
  EXPECT_FALSE(finds("^(?!.*attn).*weight$", "blk.0.attn_q.weight"));
  EXPECT_TRUE(finds("ffn_(?:up|gate)\\b", "blk.0.ffn_gate.weight"));
  EXPECT_TRUE(finds("\\d{2,3}\\D\\x61[^\\s[:upper:]-]+?$", "x 12.att"));
  EXPECT_TRUE(finds("", "x") && finds("a|", "x") && finds("()*", "x") && finds("(a*)*$", "b"));
  EXPECT_FALSE(finds("a.b", "a\nb") || finds("[]", "x") || finds("a{0}b", "a"));
}

TEST(NameExpression, RefusesWhatItIsNot) {
  for (const char* expression :
       {"(", ")", "[a", "a**", "*", "{1}", "a{2,1}", "a{x}", "(?<n>a)", "(a)\\1", "\\", "[z-a]",
        "[[:no:]]", "\\y", "\\xg0", "\\u0100", "((((a{99}){99}){99}){99})"}) {
    EXPECT_THAT(NameExpression::compile(expression), test::FailsWith(Errc::invalid_argument))
        << expression;
  }
  EXPECT_THAT(NameExpression::compile(std::string(100'000, '(')),
              test::FailsWith(Errc::invalid_argument));
}

/// Random expressions of a few letters, against the standard library's.
TEST(NameExpression, FindsWhatTheStandardLibraryFinds) {
  constexpr std::string_view parts[] = {"a",   "b",   "ab",  ".",     "[ab]", "[^a]", "(", ")",
                                        "|",   "*",   "+",   "?",     "{2}",  "^",    "$", "\\b",
                                        "(?:", "(?=", "(?!", "{1,2}", "\\w",  "c",    "_"};
  test::Random random;
  const auto pick = [&](std::size_t count) {
    return static_cast<std::size_t>(random.below(count));
  };
  int compared = 0;
  for (int i = 0; i < 4'000; ++i) {
    std::string expression;
    // libstdc++ takes the place where it looks ahead for the beginning of the text.
    bool looks_ahead = false;
    for (std::size_t left = 1 + pick(8); left > 0; --left) {
      const std::string_view part = parts[pick(std::size(parts))];
      if (looks_ahead && (part == "^" || part == "\\b")) continue;
      looks_ahead |= part == "(?=" || part == "(?!";
      expression += part;
    }
    const auto ours = NameExpression::compile(expression);
    if (!ours) continue;
    std::regex theirs;
    try {
      theirs.assign(expression);
    } catch (const std::regex_error&) {
      continue;
    }
    std::string name;
    for (std::size_t left = pick(6); left > 0; --left) name += "abc_."[pick(5)];
    EXPECT_EQ(ours->is_found_in(name), std::regex_search(name, theirs))
        << expression << " in " << name;
    ++compared;
  }
  EXPECT_GT(compared, 200);
}

TEST(NameExpression, TakesNoTimeThatGrowsWithTheWaysThroughIt) {
  const std::string name = std::string(64, 'a') + '!';
  std::string looks;
  for (int i = 0; i < 30; ++i) looks = "(?=.*" + looks + ")";
  const std::clock_t start = std::clock();
  EXPECT_FALSE(finds("(a*)*b", name) || finds("(a|a)*(a|a)*(a|a)*b", name) ||
               finds(looks + "b", name));
  EXPECT_FALSE(finds("(a?){60}a{60}b", name) || finds(".*.*.*.*.*.*.*.*x", name));
  EXPECT_LT(std::clock() - start, 5 * CLOCKS_PER_SEC);
}

}  // namespace
}  // namespace ingot::quantization
