// SPDX-License-Identifier: MIT
#include "chat/values/number_layout.hpp"
#include "support/value_test.hpp"

namespace ingot::chat {
namespace {

class PercentFormatTest : public ValueTest {
 protected:
  std::string formatted(std::string_view format, ChatValue argument) {
    return shown(percent_format(heap(), in(format), in(std::move(argument))));
  }
};

TEST_F(PercentFormatTest, LaysNumbersOut) {
  EXPECT_EQ(formatted("%05d", -42), "'-0042'");
  EXPECT_EQ(formatted("%+.2f", 2.675), "'+2.67'");
  EXPECT_EQ(formatted("%#x", 255), "'0xff'");
  EXPECT_EQ(formatted("%e", 0), "'0.000000e+00'");
}

TEST_F(PercentFormatTest, TakesKeysOfAnObject) {
  EXPECT_EQ(formatted("%(a)s %(b)r", ChatValue::object({{"a", "x"}, {"b", "y"}})), "\"x 'y'\"");
}

TEST_F(PercentFormatTest, WantsEveryArgumentOnce) {
  EXPECT_EQ(formatted("%s %s", "one"), "not enough arguments for format string");
}

TEST_F(PercentFormatTest, RefusesArgumentsThatAreLeft) {
  EXPECT_EQ(formatted("none", "one"), "not all arguments converted during string formatting");
}

TEST_F(PercentFormatTest, RefusesAWidthBeforeItIsFilled) {
  options_.limits.max_string_bytes = 1000;
  EXPECT_EQ(formatted("%99999999999999999999d", 1), "more than max_string_bytes = 1000");
}

TEST_F(PercentFormatTest, CutsTextsByCharacters) {
  FieldLayout layout;
  layout.precision = 1;
  layout.width = 3;
  const Value text = heap().text_from([&] { return append_text(heap(), in("\xC3\xA9z"), layout); });
  EXPECT_EQ(shown(text), "'\xC3\xA9  '");
}

}  // namespace
}  // namespace ingot::chat
