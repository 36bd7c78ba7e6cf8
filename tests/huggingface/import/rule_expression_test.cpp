// SPDX-License-Identifier: MIT
// What the expressions of the rules make of a config.json.
#include "huggingface/rules/rule_expression.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/expect_error.hpp"

namespace ingot::test {
namespace {

using huggingface::Config;
using huggingface::Expression;

/// The value as JSON; the message of an error.
std::string value_of(const std::string& text) {
  const auto config = Config::parse(R"({"architectures": ["X"], "num_hidden_layers": 3, "n": 5,
      "kinds": ["conv", "attention"], "odd": [1, 2], "pattern": "M*"})",
                                    "config.json");
  EXPECT_THAT(config, Succeeds());
  const auto expression = Expression::parse(text);
  if (!expression) return expression.error().message();
  const Config longer = config->with_extra_layers(1);
  const std::array<huggingface::NamedShape, 3> tensors = {
      {{"mtp.layers.0.norm", {8}}, {"mtp.layers.11.norm", {8}}, {"dense", {16, 8}}}};
  const auto value = expression->evaluate({.config = longer, .tensors = tensors});
  return value ? value->dump() : value.error().message();
}

TEST(RuleExpression, ComputesLikePython) {
  EXPECT_EQ(value_of("-7 % 4"), "1");
  EXPECT_EQ(value_of("-7 // 4"), "-2");
  EXPECT_EQ(value_of("2 * 4 ** 0.5"), "4.0");
  EXPECT_EQ(value_of("n < 6 and 'yes'"), "\"yes\"");
  EXPECT_EQ(value_of("n < 5 or \"it's\""), "\"it's\"");
  EXPECT_EQ(value_of("n in [4, 5]"), "true");
  EXPECT_EQ(value_of("6 in [4, 5]"), "false");
  EXPECT_EQ(value_of("[1.0] * 2 + [n]"), "[1.0,1.0,5]");
  EXPECT_THAT(value_of("n % 0"), testing::HasSubstr("needs numbers in range"));
  EXPECT_THAT(value_of("[1] * 1000000"), testing::HasSubstr("needs numbers in range"));
}

TEST(RuleExpression, HasAValueForEachLayer) {
  EXPECT_EQ(value_of("block_count()"), "4");
  EXPECT_EQ(value_of("extra_layers()"), "1");
  EXPECT_EQ(value_of("each(layer() * 2)"), "[0,2,4,6]");
  EXPECT_EQ(value_of("each(n if at(kinds, layer()) == 'attention' else 0)"), "[0,5,0,0]");
  EXPECT_EQ(value_of("each(at(kinds, layer()))"), "null");
  EXPECT_THAT(value_of("layer()"), testing::HasSubstr("no layer is meant"));
}

TEST(RuleExpression, LooksIntoLists) {
  EXPECT_EQ(value_of("at(kinds, 2)"), "null");
  EXPECT_EQ(value_of("at(kinds, 0 - 1)"), "null");
  EXPECT_EQ(value_of("at(pattern, 1)"), "\"*\"");
  EXPECT_EQ(value_of("at(pattern, 2)"), "null");
  EXPECT_EQ(value_of("len(kinds)"), "2");
  EXPECT_EQ(value_of("only([2, 2])"), "2");
  EXPECT_EQ(value_of("only(odd)"), "null");
  EXPECT_EQ(value_of("only(n)"), "5");
  EXPECT_EQ(value_of("leading(odd, 1)"), "1");
  EXPECT_EQ(value_of("leading(absent?, 1)"), "null");
  EXPECT_EQ(value_of("flags(kinds, 'conv')"), "[true,false]");
}

TEST(RuleExpression, LooksAtTensors) {
  EXPECT_EQ(value_of("rows('dense')"), "16");
  EXPECT_EQ(value_of("rows('absent')"), "null");
  EXPECT_EQ(value_of("columns('dense')"), "8");
  EXPECT_EQ(value_of("count_numbered('mtp.layers.')"), "12");
  EXPECT_EQ(value_of("count_numbered('model.layers.')"), "0");
}

/// A folder with numbers in two tensors, and one whose rows are zeros from the seventh on.
class OwnLookup final : public huggingface::FolderLookup {
 public:
  [[nodiscard]] Result<std::optional<double>> first_number(const std::string& name) const override {
    return name == "l.1.a" || name == "l.0.a" ? std::optional(name[2] + 0.5) : std::nullopt;
  }
  [[nodiscard]] Result<std::vector<std::uint64_t>> zero_rows(const std::string& name,
                                                             std::uint64_t first) const override {
    return name == "table" ? std::vector<std::uint64_t>{first, first + 1}
                           : std::vector<std::uint64_t>();
  }
  [[nodiscard]] Result<std::optional<std::uint64_t>> listed_tokens() const override {
    return std::optional<std::uint64_t>(7);
  }
};

TEST(RuleExpression, ReadsNumbersOfTensorsAndOfTheTarget) {
  const auto config = Config::parse(R"({"architectures": ["X"], "num_hidden_layers": 2})", "x");
  const auto target = Config::parse(R"({"architectures": ["X"], "num_hidden_layers": 9})", "x");
  ASSERT_THAT(config, Succeeds());
  ASSERT_THAT(target, Succeeds());
  const OwnLookup lookup;
  const auto value = [&](const char* text) {
    const auto found = Expression::parse(text).value().evaluate(
        {.config = *config, .lookup = &lookup, .target = &*target});
    return found ? found->dump() : found.error().message();
  };
  EXPECT_EQ(value("each(number_in('l.{layer}.a'))"), "[48.5,49.5]");
  EXPECT_THAT(value("number_in('b')"), testing::HasSubstr("no such tensor of one axis"));
  EXPECT_EQ(value("[2, target:num_hidden_layers // 2]"), "[2,4]");
  EXPECT_EQ(value("target:absent?"), "null");
  EXPECT_EQ(value("zero_rows('table', listed_tokens())"), "[7,8]");
  EXPECT_EQ(value("zero_rows('table', absent?)"), "null");
  EXPECT_EQ(value("zero_rows('b', 0)"), "null");
}

TEST(RuleExpression, LooksIntoElementsAndTexts) {
  EXPECT_EQ(value_of("member(at([kinds], 0), 'a')"), "null");
  EXPECT_EQ(value_of("lowest_in('12, 3,40')"), "3");
  EXPECT_EQ(value_of("lowest_in(absent?)"), "null");
  EXPECT_THAT(value_of("lowest_in('a')"), testing::HasSubstr("needs numbers in range"));
  EXPECT_EQ(value_of("[round(2.5), round(3.5), max(1, 2.5)]"), "[2,4,2.5]");
}

TEST(RuleExpression, KnowsTheQuantilesThatModelsHave) {
  EXPECT_EQ(value_of("normal_quantile(0.5)"), "0.0");
  EXPECT_EQ(value_of("normal_quantile(0.95)"), "1.6448533535003662");
  EXPECT_THAT(value_of("normal_quantile(0.9)"), testing::HasSubstr("needs numbers in range"));
}

}  // namespace
}  // namespace ingot::test
