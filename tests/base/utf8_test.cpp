// SPDX-License-Identifier: MIT
#include "base/utf8.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "ingot/text.hpp"

namespace ingot::test {
namespace {

/// UTF-8 by the table of RFC 3629, for any number below 2^21, well-formed or not.
std::string encode(char32_t code_point) {
  const auto byte = [](char32_t number) { return static_cast<char>(number); };
  const auto tail = [&](int shift) { return byte(0x80 | ((code_point >> shift) & 0x3F)); };
  if (code_point < 0x80) return {byte(code_point)};
  if (code_point < 0x800) return {byte(0xC0 | (code_point >> 6)), tail(0)};
  if (code_point < 0x10000) return {byte(0xE0 | (code_point >> 12)), tail(6), tail(0)};
  return {byte(0xF0 | (code_point >> 18)), tail(12), tail(6), tail(0)};
}

bool is_scalar(char32_t code_point) {
  return code_point <= 0x10FFFF && (code_point < 0xD800 || code_point > 0xDFFF);
}

TEST(Utf8, DecodesEveryCharacterAndNothingElse) {
  for (char32_t code_point = 0; code_point < 0x200000; ++code_point) {
    const std::string text = encode(code_point);
    const Utf8Character character = decode_utf8(text);
    ASSERT_EQ(character.size_bytes, is_scalar(code_point) ? text.size() : 0)
        << static_cast<std::uint32_t>(code_point);
    if (is_scalar(code_point)) {
      ASSERT_EQ(character.code_point, code_point);
    }
  }
}

TEST(Utf8, DecodesTheFirstOfSeveral) {
  const Utf8Character character = decode_utf8("\u20ACuro");
  EXPECT_EQ(character.code_point, 0x20ACu);
  EXPECT_EQ(character.size_bytes, 3u);
}

// Texts that are not UTF-8, each with the reason.
class NotUtf8 : public testing::TestWithParam<std::string_view> {};

TEST_P(NotUtf8, HasNoFirstCharacter) { EXPECT_EQ(decode_utf8(GetParam()).size_bytes, 0u); }

TEST_P(NotUtf8, IsFoundAtEveryPlace) {
  // Before, in and after the words of eight bytes in which plain text is skipped.
  for (std::size_t before = 0; before <= 17; ++before) {
    for (const std::size_t after : {0u, 1u, 8u, 20u}) {
      const std::string text =
          std::string(before, 'a') + std::string(GetParam()) + std::string(after, 'z');
      ASSERT_FALSE(is_utf8(text)) << before << ' ' << after;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Reasons, NotUtf8,
                         testing::Values("\x80", "\xBF",  // a continuation without a beginning
                                         "\xC0\x80", "\xC1\xBF",          // overlong, two bytes
                                         "\xE0\x80\x80", "\xE0\x9F\xBF",  // overlong, three
                                         "\xF0\x80\x80\x80", "\xF0\x8F\xBF\xBF",  // overlong, four
                                         "\xED\xA0\x80", "\xED\xBF\xBF",          // surrogates
                                         "\xF4\x90\x80\x80", "\xF5\x80\x80\x80",  // above U+10FFFF
                                         "\xF8\x88\x80\x80\x80", "\xFE",
                                         "\xFF",  // never begin a character
                                         "\xC3", "\xE2\x82", "\xF0\x9F\x98",  // cut
                                         "\xC3\xC3\xA9", "\xE2\x82\x28",
                                         "\xF0\x9F\x28\x80"));  // broken off

TEST(IsUtf8, AcceptsEverySize) {
  for (std::size_t size_bytes = 0; size_bytes < 40; ++size_bytes) {
    const std::string plain(size_bytes, 'a');
    ASSERT_TRUE(is_utf8(plain));
    ASSERT_TRUE(is_utf8(plain + "\u00E9" + plain + "\u20AC" + plain + "\U0001F600" + plain));
  }
}

TEST(IsUtf8, AcceptsNulAndControls) {
  EXPECT_TRUE(is_utf8(std::string_view("\0\x01\x7F", 3)));
  EXPECT_TRUE(is_utf8("\u0080\uFFFE\U0010FFFF"));
}

}  // namespace
}  // namespace ingot::test
