// SPDX-License-Identifier: MIT
#include "support/value_test.hpp"

namespace ingot::chat {
namespace {

using CollectionsTest = ValueTest;

TEST_F(CollectionsTest, FindEveryKeyOfALargeObject) {
  Object* object = heap().new_object(0);
  for (std::int64_t i = 0; i < 1000; ++i) {
    ASSERT_TRUE(insert(heap(), *object, Value::of(i), Value::of(-i)));
  }
  for (std::int64_t i = 0; i < 1000; ++i) {
    const Value* found = find(heap(), *object, Value::of(static_cast<double>(i)));
    ASSERT_NE(found, nullptr) << i;
    EXPECT_EQ(found->integer, -i);
  }
  EXPECT_EQ(find(heap(), *object, Value::of(0.5)), nullptr);
}

TEST_F(CollectionsTest, KeepTheFirstOfEqualKeysAndTheLastValue) {
  Object* object = heap().new_object(0);
  EXPECT_TRUE(insert(heap(), *object, Value::of(std::int64_t{1}), in("first")));
  EXPECT_TRUE(insert(heap(), *object, Value::of(true), in("last")));
  EXPECT_EQ(shown(Value::of(object)), "{1: 'last'}");
}

TEST_F(CollectionsTest, RefuseKeysWithoutAHash) {
  Object* object = heap().new_object(0);
  EXPECT_FALSE(insert(heap(), *object, in(ChatValue::list()), Value::none()));
  EXPECT_EQ(reason(), "unhashable type: 'list'");
}

TEST_F(CollectionsTest, WalkOverCharacters) {
  const auto items = collect(heap(), in("a\xC3\xA9\xFF"));
  ASSERT_TRUE(items.has_value());
  EXPECT_EQ(shown(heap().new_list(*items)), "['a', '\xC3\xA9', '\\xff']");
}

TEST_F(CollectionsTest, CountElementsThatAreThereAlready) {
  options_.limits.max_elements = 3;
  const Value two = in(ChatValue::list({1, 2}));
  EXPECT_EQ(collect(heap(), two, {Value::none()})->size(), 3u);
  EXPECT_FALSE(collect(heap(), two, {Value::none(), Value::none()}).has_value());
  EXPECT_EQ(reason(), "more than max_elements = 3");
}

TEST_F(CollectionsTest, RefuseToWalkOverANumber) {
  EXPECT_FALSE(iterate(heap(), in(1)).has_value());
  EXPECT_EQ(reason(), "'int' object is not iterable");
}

}  // namespace
}  // namespace ingot::chat
