// SPDX-License-Identifier: MIT
#include "chat/values/heap.hpp"

#include "support/value_test.hpp"

namespace ingot::chat {
namespace {

using HeapTest = ValueTest;

TEST_F(HeapTest, StopsWhenTheStepsAreSpent) {
  options_.limits.max_steps = 10;
  EXPECT_TRUE(heap().spend(9));
  EXPECT_EQ(heap().steps_used(), 9u);
  EXPECT_FALSE(heap().spend(1));
  EXPECT_FALSE(heap().spend(0)) << "nothing is free once the steps are spent";
  EXPECT_EQ(heap().failure()->code, Errc::limit_exceeded);
  EXPECT_EQ(reason(), "more than max_steps = 10");
}

TEST_F(HeapTest, KeepsTheFirstFailureAndItsPlace) {
  heap().set_place(7);
  const Value failed = heap().fail("the first");
  heap().set_place(9);
  const bool is_done = heap().fail(Errc::chat_raised, "the second");
  EXPECT_TRUE(failed.failed());
  EXPECT_FALSE(is_done);
  EXPECT_EQ(heap().failure()->place, 7u);
  EXPECT_EQ(heap().failure()->code, Errc::chat_failed);
  EXPECT_EQ(reason(), "the first");
}

TEST_F(HeapTest, BoundsTextsAndLists) {
  options_.limits.max_string_bytes = 4;
  options_.limits.max_elements = 2;
  EXPECT_EQ(heap().new_string("four").text(), "four");
  const Value three[] = {Value::none(), Value::none(), Value::none()};
  EXPECT_FALSE(heap().new_list(std::span(three).first(2)).failed());
  EXPECT_TRUE(heap().new_list(three).failed());
  EXPECT_EQ(reason(), "more than max_elements = 2");
  EXPECT_TRUE(heap().new_string("fives").failed());
}

TEST_F(HeapTest, BoundsItsMemory) {
  options_.limits.max_memory_bytes = 1000;
  const std::string text(600, 'x');
  EXPECT_FALSE(heap().new_string(text).failed());
  EXPECT_FALSE(heap().new_string(text).failed()) << "what is there counts, not what comes";
  EXPECT_TRUE(heap().new_string(text).failed());
  EXPECT_EQ(reason(), "more than max_memory_bytes = 1000");
}

TEST_F(HeapTest, BoundsTheDepthOfInputs) {
  ChatValue deep;
  for (int i = 0; i < 600; ++i) deep = ChatValue::list({deep});
  EXPECT_TRUE(in(deep).failed());
  EXPECT_EQ(reason(), "more than the depth of an input value = 500");
}

TEST_F(HeapTest, BoundsTheDepthOfWhatIsPrinted) {
  Value deep = Value::none();
  for (int i = 0; i < 401; ++i) deep = heap().new_list({&deep, 1});
  EXPECT_EQ(shown(deep.list->items[0]).size(), 2 * 400 + 4u);
  EXPECT_EQ(shown(deep), "more than the depth of a value that is printed = 400");
}

TEST_F(HeapTest, GivesTextBackThatWasNotFinished) {
  const Value text = heap().text_from([&] {
    heap().output().append("half", from_template);
    return false;
  });
  EXPECT_TRUE(text.failed());
  EXPECT_EQ(heap().output().size_bytes(), 0u);
}

TEST_F(HeapTest, CutsTextsWithTheirOrigins) {
  const Value both = concatenate(heap(), heap().new_string("ours "), in("theirs"));
  EXPECT_TRUE(both.is_mixed());
  EXPECT_EQ(heap().part_of(both, 0, 5).origin(), from_template);
  EXPECT_EQ(heap().part_of(both, 5, 11).origin(), from_input);
  EXPECT_TRUE(heap().part_of(both, 4, 6).is_mixed());
}

}  // namespace
}  // namespace ingot::chat
