// SPDX-License-Identifier: MIT
#include <limits>

#include "support/value_test.hpp"

namespace ingot::chat {
namespace {

class ArithmeticTest : public ValueTest {
 protected:
  std::string result(Operator sign, ChatValue left, ChatValue right) {
    return shown(arithmetic(heap(), sign, in(std::move(left)), in(std::move(right))));
  }
};

constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

TEST_F(ArithmeticTest, RoundsQuotientsDown) {
  EXPECT_EQ(result(Operator::floor_divide, -7, 2), "-4");
  EXPECT_EQ(result(Operator::floor_divide, 7, -2), "-4");
  EXPECT_EQ(result(Operator::modulo, -7, 2), "1");
  EXPECT_EQ(result(Operator::modulo, 7.5, -2.0), "-0.5");
  EXPECT_EQ(result(Operator::divide, 6, 3), "2.0");
}

TEST_F(ArithmeticTest, TakesBooleansForNumbers) {
  EXPECT_EQ(result(Operator::add, true, true), "2");
  EXPECT_EQ(result(Operator::power, 2, false), "1");
}

TEST_F(ArithmeticTest, MakesRealsOfNegativePowers) {
  EXPECT_EQ(result(Operator::power, 2, -1), "0.5");
  EXPECT_EQ(result(Operator::power, 2, 62), "4611686018427387904");
}

TEST_F(ArithmeticTest, RefusesIntegersBeyond64Bits) {
  EXPECT_EQ(result(Operator::add, most, 1), "the result is an integer beyond 64 bits");
}

TEST_F(ArithmeticTest, RefusesTheQuotientOfTheSmallestInteger) {
  EXPECT_EQ(result(Operator::modulo, least, -1), "0");
  EXPECT_EQ(result(Operator::floor_divide, least, -1), "the result is an integer beyond 64 bits");
}

TEST_F(ArithmeticTest, RefusesToNegateTheSmallestInteger) {
  EXPECT_EQ(shown(negate(heap(), Value::of(most))), std::to_string(-most));
  EXPECT_EQ(shown(negate(heap(), Value::of(least))), "the result is an integer beyond 64 bits");
}

TEST_F(ArithmeticTest, RefusesToDivideByZero) {
  EXPECT_EQ(result(Operator::divide, 1, 0.0), "division by zero");
}

TEST_F(ArithmeticTest, RepeatsAndJoins) {
  EXPECT_EQ(result(Operator::multiply, "ab", 3), "'ababab'");
  EXPECT_EQ(result(Operator::multiply, -1, ChatValue::list({1})), "[]");
  EXPECT_EQ(result(Operator::add, ChatValue::list({1}), ChatValue::list({2})), "[1, 2]");
}

TEST_F(ArithmeticTest, LeavesAListAsItIsWhenAnotherGrowsFromIt) {
  const Value one = in(ChatValue::list({1}));
  const Value two = arithmetic(heap(), Operator::add, one, one);
  const Value left = arithmetic(heap(), Operator::add, two, in(ChatValue::list({"left"})));
  const Value right = arithmetic(heap(), Operator::add, two, in(ChatValue::list({"right"})));
  EXPECT_EQ(shown(two), "[1, 1]");
  EXPECT_EQ(shown(left), "[1, 1, 'left']");
  EXPECT_EQ(shown(right), "[1, 1, 'right']");
}

TEST_F(ArithmeticTest, RefusesARepetitionBeforeItIsMade) {
  options_.limits.max_string_bytes = 100;
  EXPECT_EQ(result(Operator::multiply, "abc", most), "more than max_string_bytes = 100");
}

TEST_F(ArithmeticTest, NamesTheTypesThatDoNotFit) {
  EXPECT_EQ(result(Operator::subtract, "a", ChatValue()),
            "unsupported operand type(s) for -: 'str' and 'NoneType'");
}

}  // namespace
}  // namespace ingot::chat
