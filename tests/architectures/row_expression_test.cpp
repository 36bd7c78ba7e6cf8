// SPDX-License-Identifier: MIT
#include "architectures/row_expression.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <string>

namespace ingot::architectures {
namespace {

/// Numbers by key; layers have 10, 20 and 30 of "each".
struct FewKeys : ArchitectureHeader {
  std::optional<std::int64_t> number(std::string_view key,
                                     std::optional<std::uint64_t> element) const override {
    if (key == "a.each") {
      if (!element || *element > 2) return {};
      return static_cast<std::int64_t>(*element + 1) * 10;
    }
    if (key == "a.width") return 64;
    if (key == "a.none") return 0;
    if (key == "a.most") return std::numeric_limits<std::int64_t>::max();
    return {};
  }
  std::optional<std::string_view> text(std::string_view key) const override {
    return key == "a.kind" ? std::optional<std::string_view>("yarn") : std::nullopt;
  }
  std::optional<std::uint64_t> array_size(std::string_view key) const override {
    return key == "a.each" ? std::optional<std::uint64_t>(3) : std::nullopt;
  }
  bool has_key(std::string_view key) const override { return key == "a.width"; }
  bool has_tensor(std::string_view name) const override {
    return name == "blk.1.attn_qkv.weight" || name == "output.weight" || name == "blk.1.ssm_a";
  }
  std::optional<std::int64_t> vocabulary() const override { return 1000; }
};

struct Names : Scope {
  Names() {
    for (const auto& [name, text] :
         {std::pair{"double", "2 * width"}, std::pair{"itself", "itself + 1"}}) {
      std::string_view rest = text;
      lets[name] = *take_expression(rest);
    }
  }
  const Expression* meaning_of(std::string_view name) const override {
    const auto found = lets.find(name);
    return found == lets.end() ? nullptr : &found->second;
  }
  std::string key_name(std::string_view key) const override { return "a." + std::string(key); }
  std::map<std::string, Expression, std::less<>> lets;
};

std::optional<std::int64_t> value_of(std::string_view text,
                                     std::optional<std::uint64_t> layer = {}) {
  const auto expression = take_expression(text);
  if (!expression || !text.empty()) {
    ADD_FAILURE() << (expression ? std::string(text) : expression.error());
    return {};
  }
  return evaluate(*expression, Names(), FewKeys(), layer);
}

TEST(Expression, Computes) {
  EXPECT_EQ(value_of("1 + 2 * 3"), 7);
  EXPECT_EQ(value_of("(1 + 2) * 3"), 9);
  EXPECT_EQ(value_of("10 - 2 - 3"), 5);
  EXPECT_EQ(value_of("17 / 4 % 3"), 1);
  EXPECT_EQ(value_of("min(3, 4) + max(3, 4)"), 7);
  EXPECT_EQ(value_of("width / 2 + double"), 160);
  EXPECT_EQ(value_of("vocab"), 1000);
}

TEST(Expression, Decides) {
  EXPECT_EQ(value_of("width > 3 and not none"), 1);
  EXPECT_EQ(value_of("width < 3 or none == 0"), 1);
  EXPECT_EQ(value_of("width != 64 or width <= 63 or width >= 65"), 0);
  EXPECT_EQ(value_of("kind == \"yarn\""), 1);
  EXPECT_EQ(value_of("kind == \"linear\""), 0);
  EXPECT_EQ(value_of("given(width) and not given(height)"), 1);
  EXPECT_EQ(value_of("array(each) and length(each) == 3"), 1);
}

TEST(Expression, AsksForLayers) {
  EXPECT_EQ(value_of("each", 1), 20);
  EXPECT_EQ(value_of("each"), std::nullopt);
  EXPECT_EQ(value_of("each[2]"), 30);
  EXPECT_EQ(value_of("each", 7), std::nullopt);
  EXPECT_EQ(value_of("i % 2 == 1", 5), 1);
  EXPECT_EQ(value_of("i"), std::nullopt);
  EXPECT_EQ(value_of("has(attn_qkv)", 1), 1);
  EXPECT_EQ(value_of("has(attn_qkv)", 0), 0);
  EXPECT_EQ(value_of("has(ssm_a.)", 1), 1);
  EXPECT_EQ(value_of("has(whole output)", 1), 1);
}

TEST(Expression, KnowsWhatItDoesNotKnow) {
  EXPECT_EQ(value_of("height"), std::nullopt);
  EXPECT_EQ(value_of("height ?? width / 4"), 16);
  EXPECT_EQ(value_of("height ?? 0 > 0"), 0);
  EXPECT_EQ(value_of("width / none"), std::nullopt);
  EXPECT_EQ(value_of("width % none"), std::nullopt);
  EXPECT_EQ(value_of("most + 1"), std::nullopt);
  EXPECT_EQ(value_of("most * 2"), std::nullopt);
  EXPECT_EQ(value_of("0 - most - 2"), std::nullopt);
  EXPECT_EQ(value_of("height == 1 and none"), 0);
  EXPECT_EQ(value_of("height == 1 and width"), std::nullopt);
  EXPECT_EQ(value_of("height == 1 or width"), 1);
  EXPECT_EQ(value_of("not height"), std::nullopt);
  EXPECT_EQ(value_of("itself"), std::nullopt);
}

TEST(Expression, StopsAtWhatIsNoOperator) {
  std::string_view text = "width + 1 optional if x";
  ASSERT_TRUE(take_expression(text));
  EXPECT_EQ(text, "optional if x");
}

TEST(Expression, RefusesTypos) {
  for (const std::string_view wrong :
       {"", "1 +", "(1", "min(1)", "min(1, 2", "each[1", "12x", "99999999999999999999", "\"text\"",
        "1 == \"text\"", "width == \"text", "unknown(1)", "has()", "has(a b)", "* 2"}) {
    std::string_view text = wrong;
    EXPECT_FALSE(take_expression(text)) << wrong;
  }
  const std::string deep(1000, '(');
  std::string_view text = deep;
  EXPECT_FALSE(take_expression(text));
}

TEST(Expression, NamesTensors) {
  EXPECT_EQ(tensor_name("attn_q", true, 3), "blk.3.attn_q.weight");
  EXPECT_EQ(tensor_name("attn_q.bias", true, 3), "blk.3.attn_q.bias");
  EXPECT_EQ(tensor_name("ssm_a.", true, {}), "blk.{i}.ssm_a");
  EXPECT_EQ(tensor_name("dec.blk.{i}.attn_q", true, 0), "dec.blk.0.attn_q.weight");
  EXPECT_EQ(tensor_name("output", false, {}), "output.weight");
}

}  // namespace
}  // namespace ingot::architectures
