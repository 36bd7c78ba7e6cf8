// SPDX-License-Identifier: MIT
// Names of keys: what is an identifier, how long it may be, and that it is unique.

#include <gtest/gtest.h>

#include <string>

#include "support/expect_error.hpp"
#include "support/parse_bytes.hpp"

namespace ingot::test {
namespace {

using std::string_view_literals::operator""sv;

/// A file whose second key is `name`; it begins at `second_key`.
GgufBuilder file_with_key(std::string_view name, Format format = v3) {
  GgufBuilder file(format);
  file.pair("first", true).pair(name, std::uint32_t{7});
  return file;
}
constexpr std::uint64_t second_key = 24 + 8 + 5 + 4 + 1;
constexpr std::uint64_t second_key_v1 = 16 + 4 + 5 + 4 + 1;

TEST(ParseKeys, FindsEachByItsName) {
  for (const Format format : all_formats) {
    const Bytes bytes = file_with_key("second", format).bytes();
    const auto structure = parse_whole(bytes);
    ASSERT_THAT(structure, Succeeds());
    ASSERT_EQ(structure->metadata.size(), 2u);
    EXPECT_EQ(structure->metadata[0].key, "first");
    EXPECT_EQ(structure->metadata[1].key, "second");
    EXPECT_EQ(structure->metadata[1].value.get<int>(), 7);
    EXPECT_EQ(structure->infos_offset, bytes.size());
    const auto name_at = [&](std::uint32_t at) { return structure->metadata[at].key; };
    EXPECT_EQ(structure->key_index.find("second", name_at), 1u);
    EXPECT_EQ(structure->key_index.find("third", name_at), std::nullopt);
  }
}

TEST(ParseKeys, AnEmptyOneIsRefused) {
  EXPECT_THAT(refusal_of(file_with_key("")), FailsWith(Errc::key_empty, second_key, "key"));
  EXPECT_THAT(refusal_of(file_with_key("", v1)), FailsWith(Errc::key_empty, second_key_v1, "key"));
}

TEST(ParseKeys, MayHave65535Bytes) {
  EXPECT_THAT(refusal_of(file_with_key(std::string(65535, 'k'))), Succeeds());
  for (const bool is_lenient : {false, true}) {
    EXPECT_THAT(refusal_of(file_with_key(std::string(65536, 'k')), is_lenient),
                FailsWith(Errc::key_too_long, second_key, "key"));
  }
}

TEST(ParseKeys, ThatAreNotSnakeCaseOrAsciiOpen) {
  for (const auto name : {"Not Snake-Case"sv, "\xC3\xA9"sv, " "sv, ".."sv, "\x1b[31m"sv}) {
    EXPECT_THAT(refusal_of(file_with_key(name)), Succeeds()) << name;
  }
}

TEST(ParseKeys, WithNulOrInvalidUtf8AreRefused) {
  for (const auto name : {"a\0b"sv, "general.alignment\0x"sv, "\0"sv, "a\0"sv, "\xFF"sv, "\xC3("sv,
                          "\xED\xA0\x80"sv, "\xC0\x80"sv, "abc\xE2\x82"sv}) {
    for (const bool is_lenient : {false, true}) {
      EXPECT_THAT(refusal_of(file_with_key(name), is_lenient),
                  FailsWith(Errc::key_invalid, second_key, std::string(name)));
    }
  }
}

TEST(ParseKeys, LoseOneTrailingNulInOldVersionsOnly) {
  for (const Format format : {v1, v2}) {
    const Bytes bytes = file_with_key("key\0"sv, format).bytes();
    const auto structure = parse_whole(bytes);
    ASSERT_THAT(structure, Succeeds());
    EXPECT_EQ(structure->metadata[1].key, "key");
    EXPECT_TRUE(structure->has_stripped_nul);
    EXPECT_THAT(refusal_of(file_with_key("key\0\0"sv, format)), FailsWith(Errc::key_invalid));
    EXPECT_THAT(refusal_of(file_with_key("\0"sv, format)), FailsWith(Errc::key_empty));
  }
  EXPECT_THAT(refusal_of(file_with_key("key\0"sv, v3)), FailsWith(Errc::key_invalid));
  EXPECT_THAT(refusal_of(file_with_key("key\0"sv, v3_big)), FailsWith(Errc::key_invalid));
}

TEST(ParseKeys, NothingStrippedIsNotNoticed) {
  const Bytes bytes = file_with_key("key", v2).bytes();
  EXPECT_FALSE(parse_whole(bytes)->has_stripped_nul);
}

TEST(ParseKeys, DuplicatesAreRefused) {
  const auto refused = refusal_of(file_with_key("first"));
  ASSERT_THAT(refused, FailsWith(Errc::key_duplicate, second_key, "first"));
  EXPECT_EQ(refused.error().detail, "it is entry 0 and entry 1");
  EXPECT_THAT(refusal_of(file_with_key("first\0"sv, v1)),
              FailsWith(Errc::key_duplicate, second_key_v1, "first"));
  EXPECT_THAT(refusal_of(file_with_key("First")), Succeeds());
}

TEST(ParseKeys, OneDuplicateAmongManyIsFound) {
  constexpr int key_count = 2000;
  GgufBuilder file;
  for (int i = 0; i < key_count; ++i) file.pair("key." + std::to_string(i), i);
  EXPECT_THAT(refusal_of(file), Succeeds());
  const std::uint64_t last = file.size();
  file.pair("key.1234", true);
  EXPECT_THAT(refusal_of(file), FailsWith(Errc::key_duplicate, last, "key.1234"));
}

}  // namespace
}  // namespace ingot::test
