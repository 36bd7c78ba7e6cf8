// SPDX-License-Identifier: MIT
#include <cmath>

#include "support/value_test.hpp"

namespace ingot::chat {
namespace {

class OrderingTest : public ValueTest {
 protected:
  std::optional<int> ordered(ChatValue left, ChatValue right) {
    return order(heap(), in(std::move(left)), in(std::move(right)), "<");
  }
};

TEST_F(OrderingTest, ComparesIntegersAndRealsExactly) {
  constexpr std::int64_t large = (std::int64_t{1} << 53) + 1;
  EXPECT_EQ(ordered(large, 9007199254740992.0), 1);
  EXPECT_EQ(ordered(true, 1.0), 0);
  EXPECT_EQ(ordered(-1, 0.5), -1);
}

TEST_F(OrderingTest, ComparesIntegersBeyond64Bits) {
  const ChatValue large = ChatValue::Digits{"99999999999999999999"};
  const ChatValue negative = ChatValue::Digits{"-99999999999999999999"};
  EXPECT_EQ(ordered(large, 5), 1);
  EXPECT_EQ(ordered(negative, 5), -1);
  EXPECT_EQ(ordered(negative, large), -1);
}

TEST_F(OrderingTest, ComparesListsByTheirFirstDifference) {
  EXPECT_EQ(ordered(ChatValue::list({1, 2}), ChatValue::list({1, 3, 0})), -1);
  EXPECT_EQ(ordered(ChatValue::list({1, 2, 0}), ChatValue::list({1, 2})), 1);
}

TEST_F(OrderingTest, GivesNanNoPlace) {
  const Value nan = Value::of(std::nan(""));
  EXPECT_FALSE(equal(heap(), nan, nan));
  EXPECT_EQ(order(heap(), nan, Value::of(1.0), "<"), 2);
  EXPECT_FALSE(is_true(compare(heap(), Comparison::ge, nan, nan)));
}

TEST_F(OrderingTest, RefusesWhatHasNoOrder) {
  EXPECT_EQ(ordered("a", 1), std::nullopt);
  EXPECT_EQ(reason(), "'<' not supported between instances of 'str' and 'int'");
}

TEST_F(OrderingTest, ComparesObjectsWithoutRegardToOrder) {
  EXPECT_TRUE(equal(heap(), in(ChatValue::object({{"a", 1}, {"b", 2}})),
                    in(ChatValue::object({{"b", 2.0}, {"a", true}}))));
}

TEST_F(OrderingTest, PaysForEveryPairOfSharedValues) {
  options_.limits.max_steps = 10'000;
  const auto shared = [&] {
    Value value = Value::none();
    for (int i = 0; i < 60; ++i) {
      const Value both[] = {value, value};
      value = heap().new_list(both);
    }
    return value;
  };
  const Value left = shared();
  const Value right = shared();
  EXPECT_FALSE(equal(heap(), left, right));
  EXPECT_EQ(reason(), "more than max_steps = 10000");
}

TEST_F(OrderingTest, FindsPartsKeysAndElements) {
  EXPECT_TRUE(is_true(contains(heap(), in("abc"), in("bc"))));
  EXPECT_TRUE(is_true(contains(heap(), in(ChatValue::object({{"k", 1}})), in("k"))));
  EXPECT_FALSE(is_true(contains(heap(), in(ChatValue::list({1, 2})), in(3))));
  EXPECT_EQ(shown(contains(heap(), in(3), in(3))), "'int' object is not iterable");
}

TEST_F(OrderingTest, HashesTuplesOfWhatHasAHash) {
  const Value items[] = {Value::of(std::int64_t{1}), in("a")};
  const Value tuple = heap().new_list(items, Kind::tuple);
  const Value lists[] = {tuple, heap().new_list(items)};
  EXPECT_TRUE(has_hash(heap(), tuple));
  EXPECT_FALSE(has_hash(heap(), heap().new_list(lists, Kind::tuple)));
  EXPECT_EQ(reason(), "no failure");
}

}  // namespace
}  // namespace ingot::chat
