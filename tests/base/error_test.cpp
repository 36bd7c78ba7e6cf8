// SPDX-License-Identifier: MIT
#include "ingot/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/messages.hpp"
#include "ingot/text.hpp"

namespace ingot::test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct Row {
  int number;
  Errc code;
  std::string_view name;
  std::string_view constant;
  std::string_view sentence;
};

const std::vector<Row> rows = {
#define INGOT_ERROR(number, name, constant, category, sentence) \
  Row{number, Errc::name, #name, #constant, sentence},
#include "ingot/errors.def"
};

std::string to_upper(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return upper;
}

TEST(ErrorTable, NumbersAscendSoEachIsUnique) {
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_LT(rows[i - 1].number, rows[i].number) << rows[i].name;
  }
}

TEST(ErrorTable, NumbersArePositiveAsZeroMeansSuccess) { EXPECT_GT(rows.front().number, 0); }

TEST(ErrorTable, NamesAndSentencesAreUnique) {
  std::set<std::string_view> names, sentences;
  for (const Row& row : rows) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(sentences.insert(row.sentence).second) << row.sentence;
  }
}

TEST(ErrorTable, ConstantsAreTheNamesInUpperCase) {
  for (const Row& row : rows) EXPECT_EQ(row.constant, to_upper(row.name));
}

TEST(ErrorTable, SentencesGoWellWithWhatPrecedesAndFollows) {
  for (const Row& row : rows) {
    EXPECT_FALSE(row.sentence.empty()) << row.name;
    EXPECT_EQ(escape(row.sentence), row.sentence) << row.name;
    EXPECT_FALSE(std::isupper(static_cast<unsigned char>(row.sentence.front()))) << row.sentence;
    EXPECT_THAT(std::string(row.sentence), Not(EndsWith("."))) << row.name;
  }
}

TEST(ErrorTable, LookUpsAnswerForEveryCode) {
  for (const Row& row : rows) {
    EXPECT_EQ(static_cast<int>(row.code), row.number);
    EXPECT_EQ(name_of(row.code), row.name);
    EXPECT_EQ(sentence_of(row.code), row.sentence);
  }
}

TEST(ErrorTable, ANumberThatIsNoCodeIsOurBug) {
  const auto code = static_cast<Errc>(std::numeric_limits<std::uint16_t>::max());
  EXPECT_EQ(name_of(code), "internal");
  EXPECT_EQ(category_of(code), ErrorCategory::system);
}

// Pinned: they are in the C ABI, in scripts and in JSON that people keep.
TEST(ErrorTable, NumbersNeverChange) {
  const std::map<std::string, int> pinned = {
      {"internal", 1},
      {"out_of_memory", 2},
      {"io_error", 3},
      {"interrupted", 4},
      {"truncated", 10},
      {"not_gguf", 11},
      {"unsupported_version", 12},
      {"count_exceeds_file", 13},
      {"limit_exceeded", 14},
      {"key_empty", 15},
      {"key_too_long", 16},
      {"key_invalid", 17},
      {"key_duplicate", 18},
      {"value_type_unknown", 19},
      {"nesting_too_deep", 20},
      {"bool_invalid", 21},
      {"alignment_wrong_type", 22},
      {"alignment_invalid", 23},
      {"alignment_too_small", 24},
      {"tensor_name_too_long", 25},
      {"tensor_name_invalid", 26},
      {"tensor_duplicate", 27},
      {"too_many_dimensions", 28},
      {"dimension_count_invalid", 29},
      {"tensor_type_removed", 30},
      {"tensor_type_unknown", 31},
      {"row_not_whole_blocks", 32},
      {"size_overflow", 33},
      {"offset_unaligned", 34},
      {"tensor_outside_file", 35},
      {"tensor_overlap", 36},
      {"shard_mismatch", 37},
      {"not_a_regular_file", 38},
      {"key_not_found", 50},
      {"tensor_not_found", 51},
      {"wrong_type", 52},
      {"value_out_of_range", 53},
      {"index_out_of_range", 54},
      {"not_mapped", 55},
      {"size_mismatch", 56},
      {"invalid_argument", 57},
      {"version_cannot_hold", 58},
      {"already_exists", 59},
      {"trailing_nul_stripped", 70},
      {"shard_missing", 71},
      {"shard_keys_wrong", 72},
  };
  std::map<std::string, int> numbers;
  for (const Row& row : rows) numbers[std::string(row.name)] = row.number;
  for (const auto& [name, number] : pinned) EXPECT_EQ(numbers[name], number) << name;
}

// What opening leniently accepts, point by point.
TEST(ErrorTable, ExactlyWhatOpeningLenientlyAcceptsIsLenient) {
  std::set<std::string_view> lenient;
  for (const Row& row : rows) {
    if (category_of(row.code) == ErrorCategory::lenient) lenient.insert(row.name);
  }
  const std::set<std::string_view> expected = {
      "bool_invalid",        "alignment_too_small", "tensor_name_too_long", "too_many_dimensions",
      "tensor_type_removed", "tensor_type_unknown", "checksum_mismatch"};
  EXPECT_EQ(lenient, expected);
}

TEST(ErrorMessage, HasSubjectPlaceSentenceAndFinding) {
  const Error error{Errc::size_overflow, 1234, "blk.0.attn_q.weight", "found 2^64 elements"};
  EXPECT_EQ(error.message(),
            "\"blk.0.attn_q.weight\" at byte 1234: the shape is too large; elements and bytes must "
            "each fit 63 bits (found 2^64 elements)");
}

TEST(ErrorMessage, LeavesOutWhatIsNotThere) {
  EXPECT_EQ((Error{Errc::wrong_type, Error::no_offset, "", ""}).message(),
            "the value has another type");
  EXPECT_EQ((Error{Errc::wrong_type, Error::no_offset, "a.key", ""}).message(),
            "\"a.key\": the value has another type");
  EXPECT_EQ(
      (Error{.code = Errc::wrong_type, .subject = "a.key", .detail = {}, .context = {"b", "c\n"}})
          .message(),
      "\"a.key\" in \"b\" in \"c\\n\": " + std::string(sentence_of(Errc::wrong_type)));
  EXPECT_EQ((Error{Errc::wrong_type, 0, "", ""}).message(),
            "at byte 0: the value has another type");
  EXPECT_EQ((Error{Errc::wrong_type, Error::no_offset, "", "it is a string"}).message(),
            "the value has another type (it is a string)");
}

TEST(ErrorMessage, SaysWhetherOpeningLenientlyHelps) {
  for (const Row& row : rows) {
    const std::string message = Error{row.code, 7, "subject", "detail"}.message();
    if (category_of(row.code) == ErrorCategory::lenient) {
      EXPECT_THAT(message, HasSubstr("leniently (--lenient)"));
      // Something that would be written is not opened.
      EXPECT_THAT((Error{row.code, Error::no_offset, "subject", "detail"}).message(),
                  Not(HasSubstr("lenient")));
    } else {
      EXPECT_THAT(message, Not(HasSubstr("lenient"))) << row.name;
    }
  }
}

TEST(ErrorMessage, IsOneLineThatIsSafeToPrint) {
  const std::string evil = "a\nb\x1B[2J\u202E\xFF";
  const std::string message = Error{Errc::key_invalid, 24, evil, evil}.message();
  EXPECT_THAT(message, StartsWith("\"a\\nb\\x1b[2J\\u{202e}\\xff\" at byte 24: "));
  EXPECT_THAT(message, HasSubstr("(a\\nb\\x1b[2J\\u{202e}\\xff)"));
}

TEST(ErrorMessage, NamesTheLineBeforeTheFinding) {
  const std::string sentence(sentence_of(Errc::chat_failed));
  EXPECT_EQ(
      (Error{.code = Errc::chat_failed, .subject = {}, .detail = "no", .line = 3, .column = 7})
          .message(),
      sentence + " (line 3, column 7: no)");
  EXPECT_EQ((Error{.code = Errc::chat_failed, .subject = "a", .detail = "no", .line = 3}).message(),
            "\"a\": " + sentence + " (line 3: no)");
  EXPECT_EQ((Error{.code = Errc::chat_failed, .subject = {}, .detail = {}, .line = 3}).message(),
            sentence + " (line 3)");
}

// What is rare lies behind a pointer, so that a Result of anything small is returned cheaply.
TEST(ErrorMessage, AnErrorIsSmall) {
  EXPECT_LE(sizeof(Error), 2 * sizeof(std::string) + sizeof(std::vector<std::string>) + 48);
}

TEST(RemedyTable, NamesAreUnique) {
  const std::vector<Remedy> remedies = {
#define INGOT_REMEDY(name, meaning) Remedy::name,
#include "ingot/remedies.def"
  };
  std::set<std::string_view> names;
  for (const Remedy remedy : remedies) EXPECT_TRUE(names.insert(name_of(remedy)).second);
  EXPECT_EQ(name_of(Remedy::none), "none");
  EXPECT_EQ(name_of(Remedy::give_context), "give_context");
  EXPECT_EQ(name_of(static_cast<Remedy>(200)), "");
}

TEST(ErrorMessage, OfTheSystemIsTheSystemsOwn) {
  EXPECT_EQ((Error{Errc::io_error, Error::no_offset, {}, "cannot open it: No such file"}).message(),
            "cannot open it: No such file");
}

TEST(ErrorMessage, QuotesOfTheSubjectDoNotEndIt) {
  EXPECT_EQ((Error{Errc::wrong_type, Error::no_offset, "a\": \"b", {}}).message(),
            "\"a\\\": \\\"b\": the value has another type");
}

TEST(ErrorMessage, IsShortWhateverTheFileSays) {
  for (const std::string_view piece : {"x", "\x01", "\u4E2D", "\u0301"}) {
    std::string subject;
    while (subject.size() < 65535) subject += piece;
    const Error error{Errc::key_duplicate, 24, subject, subject};
    EXPECT_LT(error.message().size(), 16384u) << escape(piece);
  }
}

TEST(Fail, MakesTheFailingSideOfAResult) {
  const Result<int> result = fail(Errc::truncated, 12, "field", "found 3 bytes");
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, Errc::truncated);
  EXPECT_EQ(result.error().file_offset, 12u);
  EXPECT_EQ(result.error().subject, "field");
  EXPECT_EQ(result.error().detail, "found 3 bytes");
  const Result<int> without_place = fail(Errc::wrong_type, "field");
  EXPECT_EQ(without_place.error().file_offset, Error::no_offset);
}

TEST(Fail, TakesBracesForAnEmptySubject) {
  const Error error = fail(Errc::wrong_type, {}, "detail").value();
  EXPECT_EQ(error.file_offset, Error::no_offset);
  EXPECT_EQ(error.subject, "");
  EXPECT_EQ(error.detail, "detail");
  EXPECT_EQ(fail(Errc::truncated, 0, "subject").value().file_offset, 0u);
}

Result<int> half_of(int number) {
  if (number % 2 != 0) return fail(Errc::invalid_argument, "number");
  return number / 2;
}

Result<int> quarter_of(int number) {
  INGOT_TRY(const int half, half_of(number));
  INGOT_TRY(const int quarter, half_of(half));
  return quarter;
}

Result<void> expect_even(int number) {
  INGOT_TRY_VOID(half_of(number));
  return {};
}

TEST(WithSubject, NamesWhatIsNotNamedYetAndWhatItIsIn) {
  const auto fail_with = [](std::string subject) -> Result<int> {
    return fail(Errc::wrong_type, std::move(subject));
  };
  const std::string sentence(sentence_of(Errc::wrong_type));
  EXPECT_EQ(with_subject("a.gguf", fail_with("")).error().message(), "\"a.gguf\": " + sentence);
  EXPECT_EQ(with_subject("a.gguf", fail_with("a.gguf")).error().context.size(), 0u);
  const Result<int> twice = with_subject("a.gguf", with_subject("a.gguf", fail_with("a tensor")));
  EXPECT_EQ(twice.error().message(), "\"a tensor\" in \"a.gguf\": " + sentence);
  EXPECT_EQ(with_subject("a.gguf", Result<int>(3)), 3);
}

TEST(Try, TakesTheValueOrReturnsTheError) {
  EXPECT_EQ(quarter_of(8).value_or(-1), 2);
  EXPECT_EQ(quarter_of(6).error().code, Errc::invalid_argument);
  EXPECT_EQ(quarter_of(3).error().subject, "number");
}

TEST(Try, VoidReturnsTheErrorOnly) {
  EXPECT_TRUE(expect_even(2).has_value());
  EXPECT_EQ(expect_even(3).error().code, Errc::invalid_argument);
}

}  // namespace
}  // namespace ingot::test
