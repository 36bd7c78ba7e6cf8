// SPDX-License-Identifier: MIT
#include "ingot/text.hpp"

#include <gtest/gtest.h>

#include <clocale>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <locale>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/messages.hpp"

namespace ingot::test {
namespace {

struct EscapeCase {
  std::string_view reason;
  std::string_view text;
  std::string_view expected;
};

void PrintTo(const EscapeCase& row, std::ostream* stream) { *stream << row.expected; }

class Escape : public testing::TestWithParam<EscapeCase> {};

TEST_P(Escape, MakesItVisible) { EXPECT_EQ(escape(GetParam().text), GetParam().expected); }

TEST_P(Escape, MakesItVisibleInsideOtherText) {
  const std::string text = "before" + std::string(GetParam().text) + "\u00E9";
  EXPECT_EQ(escape(text), "before" + std::string(GetParam().expected) + "\u00E9");
}

using namespace std::string_view_literals;
INSTANTIATE_TEST_SUITE_P(
    Classes, Escape,
    testing::Values(
        EscapeCase{"backslash", "\\", "\\\\"}, EscapeCase{"newline", "\n", "\\n"},
        EscapeCase{"tab", "\t", "\\t"}, EscapeCase{"return", "\r", "\\r"},
        EscapeCase{"nul", "\0"sv, "\\x00"}, EscapeCase{"bell", "\a", "\\x07"},
        EscapeCase{"escape", "\x1B[31m", "\\x1b[31m"}, EscapeCase{"last_c0", "\x1F", "\\x1f"},
        EscapeCase{"delete", "\x7F", "\\x7f"}, EscapeCase{"first_c1", "\xC2\x80", "\\u{80}"},
        EscapeCase{"next_line", "\xC2\x85", "\\u{85}"},
        EscapeCase{"control_sequence", "\xC2\x9B", "\\u{9b}"},
        EscapeCase{"last_c1", "\xC2\x9F", "\\u{9f}"},
        EscapeCase{"soft_hyphen", "\u00AD", "\\u{ad}"},
        EscapeCase{"grapheme_joiner", "\u034F", "\\u{34f}"},
        EscapeCase{"arabic_letter_mark", "\u061C", "\\u{61c}"},
        EscapeCase{"hangul_fillers", "\u115F\u1160\u3164\uFFA0",
                   "\\u{115f}\\u{1160}\\u{3164}\\u{ffa0}"},
        EscapeCase{"mongolian_selectors", "\u180B\u180E\u180F", "\\u{180b}\\u{180e}\\u{180f}"},
        EscapeCase{"zero_width", "\u200B\u200C\u200D", "\\u{200b}\\u{200c}\\u{200d}"},
        EscapeCase{"direction_marks", "\u200E\u200F", "\\u{200e}\\u{200f}"},
        EscapeCase{"separators", "\u2028\u2029", "\\u{2028}\\u{2029}"},
        EscapeCase{"embeddings_and_overrides", "\u202A\u202B\u202C\u202D\u202E",
                   "\\u{202a}\\u{202b}\\u{202c}\\u{202d}\\u{202e}"},
        EscapeCase{"word_joiner", "\u2060", "\\u{2060}"},
        EscapeCase{"invisible_operators", "\u2061\u2064", "\\u{2061}\\u{2064}"},
        EscapeCase{"isolates", "\u2066\u2067\u2068\u2069", "\\u{2066}\\u{2067}\\u{2068}\\u{2069}"},
        EscapeCase{"deprecated_formats", "\u206A\u206F", "\\u{206a}\\u{206f}"},
        EscapeCase{"variation_selectors", "\uFE00\uFE0F\U000E0100", "\\u{fe00}\\u{fe0f}\\u{e0100}"},
        EscapeCase{"byte_order_mark", "\uFEFF", "\\u{feff}"},
        EscapeCase{"annotations", "\uFFF9\uFFFB", "\\u{fff9}\\u{fffb}"},
        EscapeCase{"noncharacters", "\uFFFE\uFFFF", "\\u{fffe}\\u{ffff}"},
        EscapeCase{"shorthand_formats", "\U0001BCA0\U0001BCA3", "\\u{1bca0}\\u{1bca3}"},
        EscapeCase{"musical_formats", "\U0001D173\U0001D17A", "\\u{1d173}\\u{1d17a}"},
        EscapeCase{"tags", "\U000E0001\U000E0020\U000E007F", "\\u{e0001}\\u{e0020}\\u{e007f}"},
        EscapeCase{"private_use", "\uE000\U000F0000\U0010FFFD", "\\u{e000}\\u{f0000}\\u{10fffd}"},
        EscapeCase{"lone_continuation", "\x80", "\\x80"},
        EscapeCase{"lone_c1_byte", "\x9B", "\\x9b"},
        EscapeCase{"overlong_slash", "\xC0\xAF", "\\xc0\\xaf"},
        EscapeCase{"overlong_nul", "\xE0\x80\x80", "\\xe0\\x80\\x80"},
        EscapeCase{"surrogate", "\xED\xA0\x80", "\\xed\\xa0\\x80"},
        EscapeCase{"above_10ffff", "\xF4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
        EscapeCase{"never_in_utf8", "\xFE\xFF", "\\xfe\\xff"},
        EscapeCase{"broken_off_sequence", "\xE2\x82(", "\\xe2\\x82("}),
    [](const auto& row) { return std::string(row.param.reason); });

TEST(EscapeText, SequenceCutAtTheEndBecomesBytes) {
  EXPECT_EQ(escape("a\xC3"), "a\\xc3");
  EXPECT_EQ(escape("a\xF0\x9F\x98"), "a\\xf0\\x9f\\x98");
}

TEST(EscapeText, EveryAsciiControlIsEscaped) {
  for (int code = 0; code < 0x80; ++code) {
    const std::string text(1, static_cast<char>(code));
    const bool is_plain = code >= 0x20 && code < 0x7F && code != '\\';
    EXPECT_EQ(escape(text) == text, is_plain) << code;
  }
}

TEST(EscapeText, PrintableTextStays) {
  // Latin, Greek, Cyrillic, Arabic, Devanagari, Chinese, emoji, replacement character, and the
  // letters that byte-level tokenizers use for blank and newline.
  for (const std::string_view text :
       {"", "blk.0.attn_q.weight", " !\"#$%&'()*+,-./:;<=>?@[]^_`{|}~", "na\u00EFve", "\u03A9",
        "\u0416", "\u0639\u0631\u0628\u064A", "\u0939\u093F", "\u4E2D\u6587", "\U0001F600",
        "\uFFFD", "\u0120the\u010A", "e\u0301", "\u00A0"}) {
    EXPECT_EQ(escape(text), text);
  }
}

TEST(EscapeText, TwoDifferentTextsNeverLookTheSame) {
  EXPECT_NE(escape("\\n"), escape("\n"));
  EXPECT_NE(escape("\\x1b"), escape("\x1B"));
  EXPECT_NE(escape("\xC2\x80"), escape("\x80"));
}

TEST(EscapeShortened, LeavesWhatFits) {
  EXPECT_EQ(escape_shortened("", 0), "");
  EXPECT_EQ(escape_shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(escape_shortened("abcdef", std::numeric_limits<std::size_t>::max()), "abcdef");
  EXPECT_EQ(escape_shortened("a\nb", 4), "a\\nb");
}

TEST(EscapeShortened, CutsWithAnEllipsis) {
  EXPECT_EQ(escape_shortened("abcdefg", 6), "abc...");
  EXPECT_EQ(escape_shortened("abcdefg", 3), "...");
}

TEST(EscapeShortened, TinyWidthsHoldWhatTheyCan) {
  EXPECT_EQ(escape_shortened("abcdefg", 2), "..");
  EXPECT_EQ(escape_shortened("abcdefg", 0), "");
}

TEST(EscapeShortened, CountsWideCharactersTwice) {
  EXPECT_EQ(escape_shortened("\u4E2D\u6587\u5B57", 6), "\u4E2D\u6587\u5B57");
  EXPECT_EQ(escape_shortened("\u4E2D\u6587\u5B57", 5), "\u4E2D...");
  EXPECT_EQ(escape_shortened("\u4E2D\u6587\u5B57", 4), "...");  // one column is left over
}

TEST(EscapeShortened, KeepsMarksWithTheirLetter) {
  EXPECT_EQ(escape_shortened("ae\u0301bcd", 5), "ae\u0301bcd");
  EXPECT_EQ(escape_shortened("e\u0301bcde", 4), "e\u0301...");
}

// Else a name of 64 KiB could make a line of 64 KiB that claims to have one column.
TEST(EscapeShortened, BoundsBytesTooAsMarksTakeNoColumns) {
  std::string text = "e";
  for (int i = 0; i < 10000; ++i) text += "\u0301";
  EXPECT_LE(escape_shortened(text, 10).size(), 200u);
}

/// Whether `text` consists of whole escapes and other characters.
bool has_whole_escapes(std::string_view text) {
  while (!text.empty()) {
    std::size_t size = 1;
    if (text.starts_with("\\x"))
      size = 4;
    else if (text.starts_with("\\u{"))
      size = text.find('}') + 1;  // 0 if there is none
    else if (text.starts_with("\\"))
      size = 2;
    if (size == 0 || size > text.size()) return false;
    text.remove_prefix(size);
  }
  return true;
}

TEST(EscapeShortened, NeverCutsAnEscapeOrACharacterAndNeverIsTooWide) {
  const std::vector<std::string_view> texts = {"\n\n\n\n\n\n\n\n",
                                               "\x01\x02\x03\x04\x05",
                                               "\u202E\u202E\u202E\u202E",
                                               "a\U000E0041"
                                               "b\U000E0041"
                                               "c\U000E0041",
                                               "\xFF\xFE\xFD\xFC",
                                               "\\\\\\\\\\\\\\\\",
                                               "\u4E2D\n\u6587\x01\u5B57\u202E\U0001F680x",
                                               "\u00E9\u00E9\u00E9\u00E9\u00E9\u00E9"};
  for (const std::string_view text : texts) {
    const std::string whole = escape(text);
    for (std::size_t width = 0; width <= display_columns(whole) + 1; ++width) {
      const std::string shortened = escape_shortened(text, width);
      ASSERT_LE(display_columns(shortened), width) << shortened;
      ASSERT_TRUE(is_utf8(shortened)) << width;
      ASSERT_TRUE(has_whole_escapes(shortened)) << shortened;
      ASSERT_EQ(shortened == whole, display_columns(whole) <= width) << shortened;
      ASSERT_TRUE(shortened == whole || width < 3 || shortened.ends_with("..."));
    }
  }
}

TEST(DisplayColumns, CountsWhatATerminalShows) {
  EXPECT_EQ(display_columns(""), 0u);
  EXPECT_EQ(display_columns("plain"), 5u);
  EXPECT_EQ(display_columns("na\u00EFve"), 5u);
  EXPECT_EQ(display_columns("e\u0301"), 1u);       // a combining accent
  EXPECT_EQ(display_columns("\u4E2D\u6587"), 4u);  // Chinese
  EXPECT_EQ(display_columns("\u3042\u30A2"), 4u);  // Japanese
  EXPECT_EQ(display_columns("\uD55C"), 2u);        // Korean
  EXPECT_EQ(display_columns("\uFF21\uFF71"), 3u);  // a fullwidth and a halfwidth form
  EXPECT_EQ(display_columns("\U0001F600"), 2u);    // emoji: faces,
  EXPECT_EQ(display_columns("\U0001F680"), 2u);    // transport,
  EXPECT_EQ(display_columns("\U0001F9E0"), 2u);    // supplement,
  EXPECT_EQ(display_columns("\U0001FA84"), 2u);    // the newest
  EXPECT_EQ(display_columns("\U00020000"), 2u);    // rare Chinese
}

TEST(FormatBytes, HasThreeDigitsAndABinaryUnit) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(626), "626 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.00 KiB");
  EXPECT_EQ(format_bytes(1536), "1.50 KiB");
  EXPECT_EQ(format_bytes(10240), "10.0 KiB");
  EXPECT_EQ(format_bytes(102400), "100 KiB");
  EXPECT_EQ(format_bytes(4920733024), "4.58 GiB");
  EXPECT_EQ(format_bytes(std::numeric_limits<std::uint64_t>::max()), "16.0 EiB");
}

TEST(FormatBytes, RoundsUpIntoTheNextUnit) {
  EXPECT_EQ(format_bytes(1024 * 1024 - 1), "1.00 MiB");
  EXPECT_EQ(format_bytes(10230), "9.99 KiB");
  EXPECT_EQ(format_bytes(10239), "10.0 KiB");
  EXPECT_EQ(format_bytes(102399), "100 KiB");
}

TEST(FormatCount, HasThreeDigitsAndADecimalUnit) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(512), "512");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1.00 K");
  EXPECT_EQ(format_count(124439808), "124 M");
  EXPECT_EQ(format_count(8030261312), "8.03 B");
  EXPECT_EQ(format_count(1000000000000), "1.00 T");
}

TEST(FormatCount, RoundsUpIntoTheNextUnit) {
  EXPECT_EQ(format_count(9994), "9.99 K");
  EXPECT_EQ(format_count(9996), "10.0 K");
  EXPECT_EQ(format_count(999499), "999 K");
  EXPECT_EQ(format_count(999500), "1.00 M");
}

TEST(FormatDigits, GroupsByThree) {
  EXPECT_EQ(format_digits(0), "0");
  EXPECT_EQ(format_digits(999), "999");
  EXPECT_EQ(format_digits(1000), "1,000");
  EXPECT_EQ(format_digits(123456), "123,456");
  EXPECT_EQ(format_digits(4294967296), "4,294,967,296");
  EXPECT_EQ(format_digits(std::numeric_limits<std::uint64_t>::max()), "18,446,744,073,709,551,615");
}

TEST(FormatFloat, IsTheShortestThatReadsBack) {
  EXPECT_EQ(format_float(1e-5f), "1e-05");
  EXPECT_EQ(format_float(0.1f), "0.1");
  EXPECT_EQ(format_float(0.1), "0.1");
  EXPECT_EQ(format_float(1.0f), "1");
  EXPECT_EQ(format_float(500000.0f), "5e+05");
  EXPECT_EQ(format_float(-0.0f), "-0");
  for (const float value : {0.3f, 1.17549435e-38f, 3.40282347e+38f, 1e-45f, 16777217.0f}) {
    EXPECT_EQ(std::strtof(format_float(value).c_str(), nullptr), value);
  }
  for (const double value : {0.1 + 0.2, 5e-324, 1.7976931348623157e308}) {
    EXPECT_EQ(std::strtod(format_float(value).c_str(), nullptr), value);
  }
}

TEST(FormatFloat, NamesWhatIsNoNumber) {
  EXPECT_EQ(format_float(std::numeric_limits<float>::quiet_NaN()), "NaN");
  EXPECT_EQ(format_float(-std::numeric_limits<double>::quiet_NaN()), "NaN");
  EXPECT_EQ(format_float(std::numeric_limits<float>::infinity()), "Infinity");
  EXPECT_EQ(format_float(-std::numeric_limits<double>::infinity()), "-Infinity");
}

/// Digits as somewhere else: commas for points, and points between thousands.
class OtherDigits : public std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(FormatNumbers, AreTheSameInEveryLocale) {
  const std::locale before = std::locale::global(std::locale(std::locale(), new OtherDigits));
  const std::string c_before = std::setlocale(LC_ALL, nullptr);
  // Not every system has one of these; the C++ locale above is there in any case.
  for (const char* const name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"}) {
    if (std::setlocale(LC_ALL, name) != nullptr) break;
  }
  const std::string text = format_float(1234.5) + " " + format_float(0.1F) + " " +
                           format_bytes(4'918'000'000) + " " + format_count(8'030'000'000) + " " +
                           format_digits(1'234'567);
  std::setlocale(LC_ALL, c_before.c_str());
  std::locale::global(before);
  EXPECT_EQ(text, "1234.5 0.1 4.58 GiB 8.03 B 1,234,567");
}

TEST(Counted, HasOneOrMany) {
  EXPECT_EQ(plural(0, "byte"), "0 bytes");
  EXPECT_EQ(plural(1, "byte"), "1 byte");
  EXPECT_EQ(plural(1024, "tensor"), "1,024 tensors");
}

}  // namespace
}  // namespace ingot::test
