// SPDX-License-Identifier: MIT
#include "chat/values/text_functions.hpp"

#include "support/value_test.hpp"

namespace ingot::chat {
namespace {

using TextFunctionsTest = ValueTest;

TEST_F(TextFunctionsTest, SplitFromBothSides) {
  const Value text = in("a,b,c");
  const Value comma = in(",");
  EXPECT_EQ(shown(split(heap(), text, comma, 1, false)), "['a', 'b,c']");
  EXPECT_EQ(shown(split(heap(), text, comma, 1, true)), "['a,b', 'c']");
  EXPECT_EQ(shown(split(heap(), in(" a  b "), Value::none(), -1, false)), "['a', 'b']");
  EXPECT_EQ(shown(split(heap(), text, in(""), -1, false)), "empty separator");
}

TEST_F(TextFunctionsTest, SplitLinesAsPythonDoes) {
  const auto lines = split_lines(heap(),
                                 in("a\r\nb\x0C"
                                    "c\n"),
                                 true);
  ASSERT_TRUE(lines.has_value());
  EXPECT_EQ(shown(heap().new_list(*lines)), "['a\\r\\n', 'b\\x0c', 'c\\n']");
}

TEST_F(TextFunctionsTest, ReplaceUpToACount) {
  EXPECT_EQ(shown(replace(heap(), in("aaa"), in("a"), in("bb"), 2)), "'bbbba'");
  EXPECT_EQ(shown(replace(heap(), in("ab"), in(""), in("-"), -1)), "'-a-b-'");
}

TEST_F(TextFunctionsTest, RefuseALongResultBeforeItIsMade) {
  options_.limits.max_string_bytes = 1000;
  const Value text = in(std::string(100, 'a'));
  EXPECT_EQ(shown(replace(heap(), text, in("a"), text, -1)), "more than max_string_bytes = 1000");
}

TEST_F(TextFunctionsTest, StripASetOfCharacters) {
  EXPECT_EQ(shown(strip(heap(), in("xyaxy"), Side::left, in("yx"))), "'axy'");
  EXPECT_EQ(shown(strip(heap(), in("\xC2\xA0 a\n"), Side::both, {})), "'a'");
}

TEST_F(TextFunctionsTest, PadToAWidthInCharacters) {
  EXPECT_EQ(shown(pad(heap(), in("\xC3\xA9"), 4, Side::both, {})), "' \xC3\xA9  '");
  EXPECT_EQ(shown(pad(heap(), in("a"), 3, Side::left, in("ab"))), "the fill must be one character");
}

TEST_F(TextFunctionsTest, ChangeTheCaseOfASigmaByItsNeighbours) {
  EXPECT_EQ(shown(change_case(heap(), in("\xCE\xA3\xCE\xA3"), Case::lower)), "'\xCF\x83\xCF\x82'");
}

TEST_F(TextFunctionsTest, JoinWithTheOriginOfEachPart) {
  const Value joined = join(heap(), heap().new_string("-"), {in("a"), in("b")});
  EXPECT_EQ(shown(joined), "'a-b'");
  EXPECT_EQ(heap().part_of(joined, 0, 1).origin(), from_input);
  EXPECT_EQ(heap().part_of(joined, 1, 2).origin(), from_template);
}

TEST_F(TextFunctionsTest, GrowATextInPlaceOnlyForItsOwner) {
  const Value stem = concatenate(heap(), in(std::string(70, 'a')), in("b"));
  const Value left = concatenate(heap(), stem, in("left"));
  const Value right = concatenate(heap(), stem, in("right"));
  EXPECT_EQ(left.text().substr(70), "bleft");
  EXPECT_EQ(right.text().substr(70), "bright");
}

TEST_F(TextFunctionsTest, EscapeOnce) {
  const Value safe = escaped(heap(), in("<&>"));
  EXPECT_EQ(safe.text(), "&lt;&amp;&gt;");
  EXPECT_EQ(escaped(heap(), safe).text(), safe.text());
}

}  // namespace
}  // namespace ingot::chat
