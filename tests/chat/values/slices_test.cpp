// SPDX-License-Identifier: MIT
#include <limits>

#include "support/value_test.hpp"

namespace ingot::chat {
namespace {

class SlicesTest : public ValueTest {
 protected:
  std::string sliced(const Value& object, ChatValue start, ChatValue stop, ChatValue step = {}) {
    const Value bounds[3] = {in(std::move(start)), in(std::move(stop)), in(std::move(step))};
    return shown(slice(heap(), object, bounds));
  }
};

TEST_F(SlicesTest, CountFromBothEnds) {
  const Value list = in(ChatValue::list({0, 1, 2, 3, 4}));
  EXPECT_EQ(sliced(list, 1, -1), "[1, 2, 3]");
  EXPECT_EQ(sliced(list, -100, 100), "[0, 1, 2, 3, 4]");
  EXPECT_EQ(sliced(list, {}, {}, -2), "[4, 2, 0]");
  EXPECT_EQ(sliced(list, 3, 1), "[]");
}

TEST_F(SlicesTest, CountCharactersNotBytes) {
  const Value text = in("a\xC3\xA9z");
  EXPECT_EQ(sliced(text, 1, 2), "'\xC3\xA9'");
  EXPECT_EQ(sliced(text, {}, {}, -1),
            "'z\xC3\xA9"
            "a'");
  EXPECT_EQ(shown(element_at(heap(), text, -1)), "'z'");
  EXPECT_FALSE(element_at(heap(), text, 3).is_given());
}

TEST_F(SlicesTest, OfRangesAreRanges) {
  const Value range = Value::of(heap().arena().make<Range>(0, 2, 5, 10));
  EXPECT_EQ(sliced(range, 1, {}, 2), "range(2, 10, 4)");
  EXPECT_EQ(shown(element_at(heap(), range, -1)), "8");
}

TEST_F(SlicesTest, OfRangesStayWithin64Bits) {
  constexpr std::int64_t half = std::numeric_limits<std::int64_t>::max() / 2;
  const Value range = Value::of(heap().arena().make<Range>(0, half, 3, half));
  EXPECT_EQ(sliced(range, {}, {}, 100), "a range beyond 64 bits");
}

TEST_F(SlicesTest, RefuseAStepOfZero) {
  EXPECT_EQ(sliced(in("abc"), {}, {}, 0), "slice step cannot be zero");
}

TEST_F(SlicesTest, RefuseBoundsThatAreNoIntegers) {
  EXPECT_EQ(sliced(in("abc"), "a", {}), "slice indices must be integers or none");
}

}  // namespace
}  // namespace ingot::chat
