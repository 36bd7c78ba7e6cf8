// SPDX-License-Identifier: MIT
// Values: their types, bools, strings, arrays, nesting, and the limits on them.

#include <gtest/gtest.h>

#include <string>

#include "support/expect_error.hpp"
#include "support/parse_bytes.hpp"

namespace ingot::test {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::uint64_t max = ~std::uint64_t{0};

/// Where the type of the value of the only key "k" stands.
constexpr std::uint64_t value_type_at = 24 + 8 + 1;
constexpr std::uint64_t value_at = value_type_at + 4;
/// In an array, where its element type, its count and its first element stand.
constexpr std::uint64_t element_type_at = value_at;
constexpr std::uint64_t element_count_at = value_at + 4;
constexpr std::uint64_t elements_at = value_at + 12;

GgufBuilder key_of_type(std::uint32_t type) {
  GgufBuilder file;
  file.set_counts(0, 1).text("k").u32(type);
  return file;
}

GgufBuilder array_of(ValueType element_type, std::uint64_t count) {
  GgufBuilder file;
  file.array_key("k", element_type, count);
  return file;
}

/// An array in `depth` levels, each of one element, the last of one uint8.
GgufBuilder nested(std::uint32_t depth) {
  GgufBuilder file = array_of(depth == 1 ? ValueType::uint8 : ValueType::array, 1);
  for (std::uint32_t level = 2; level < depth; ++level) file.array(ValueType::array, 1);
  if (depth > 1) file.array(ValueType::uint8, 1);
  return file.u8(7);
}

TEST(ParseValues, UnknownTypesAreRefused) {
  for (const std::uint32_t type : {13u, 14u, 255u, 256u, 0x80000000u, 0xFFFFFFFFu}) {
    const auto refused = refusal_of(key_of_type(type).data(64), leniently);
    ASSERT_THAT(refused, FailsWith(Errc::value_type_unknown, value_type_at, "k"));
    EXPECT_EQ(refused.error().detail, "found " + std::to_string(type));
    EXPECT_THAT(refusal_of(key_of_type(9).u32(type).count(0).data(64)),
                FailsWith(Errc::value_type_unknown, element_type_at, "k"));
    EXPECT_THAT(refusal_of(array_of(ValueType::array, 1).u32(type).count(0)),
                FailsWith(Errc::value_type_unknown, elements_at, "k"));
  }
}

TEST(ParseValues, EveryScalarTypeHasItsSize) {
  for (std::uint32_t type = 0; type < value_type_count; ++type) {
    const std::uint32_t size_bytes = size_bytes_of(static_cast<ValueType>(type));
    if (size_bytes == 0) continue;
    GgufBuilder whole = key_of_type(type).raw(std::string(size_bytes, '\1'));
    EXPECT_THAT(refusal_of(whole), Succeeds()) << type;
    EXPECT_THAT(refusal_of(whole.pair("next", "value").set_counts(0, 2)), Succeeds()) << type;
    const GgufBuilder cut = key_of_type(type).raw(std::string(size_bytes - 1, '\1'));
    EXPECT_FALSE(refusal_of(cut).has_value()) << type;
  }
}

TEST(ParseValues, BoolsAreZeroOrOne) {
  const GgufBuilder two = key_of_type(7).u8(2);
  EXPECT_THAT(refusal_of(two), FailsWith(Errc::bool_invalid, value_at, "k"));
  const Bytes bytes = two.bytes();
  const auto structure = parse_whole(bytes, leniently);
  ASSERT_THAT(structure, Succeeds());
  EXPECT_EQ(structure->metadata[0].value.get<bool>(), true);
}

TEST(ParseValues, BoolsInArraysAreZeroOrOne) {
  const GgufBuilder file = array_of(ValueType::boolean, 3).u8(1).u8(0).u8(0x80);
  const auto refused = refusal_of(file);
  ASSERT_THAT(refused, FailsWith(Errc::bool_invalid, elements_at + 2, "k"));
  EXPECT_EQ(refused.error().detail, "found 128");
  const Bytes bytes = file.bytes();
  const auto structure = parse_whole(bytes, leniently);
  ASSERT_THAT(structure, Succeeds());
  EXPECT_EQ(structure->metadata[0].value.as_array().get<bool>(2), true);
}

TEST(ParseValues, BoolsInNestedArraysAreZeroOrOne) {
  const GgufBuilder file = array_of(ValueType::array, 1).array(ValueType::boolean, 1).u8(2);
  EXPECT_THAT(refusal_of(file), FailsWith(Errc::bool_invalid, elements_at + 12, "k"));
  EXPECT_THAT(refusal_of(file, leniently), Succeeds());
}

TEST(ParseValues, StringsMayHoldAnything) {
  for (const auto text : {""sv, "\0"sv, "a\0b"sv, "\xFF\xFE"sv, "\x1b]8;;\a"sv}) {
    const Bytes bytes = GgufBuilder().pair("k", text).bytes();
    const auto structure = parse_whole(bytes);
    ASSERT_THAT(structure, Succeeds());
    EXPECT_EQ(structure->metadata[0].value.get<std::string_view>(), text);
    EXPECT_FALSE(structure->has_stripped_nul);
  }
}

TEST(ParseValues, StringsLoseOneTrailingNulInOldVersionsOnly) {
  for (const Format format : all_formats) {
    const Bytes bytes = GgufBuilder(format)
                            .pair("k", "text\0"sv)
                            .array_pair<std::string_view>("list", {"a\0"sv, "b\0\0"sv, "\0"sv})
                            .bytes();
    const auto structure = parse_whole(bytes);
    ASSERT_THAT(structure, Succeeds());
    const bool is_old = format.version < 3;
    EXPECT_EQ(structure->metadata[0].value.get<std::string_view>(), is_old ? "text"sv : "text\0"sv);
    EXPECT_EQ(structure->has_stripped_nul, is_old);
    const Array list = structure->metadata[1].value.as_array();
    EXPECT_EQ(list.get<std::string_view>(0), is_old ? "a"sv : "a\0"sv);
    EXPECT_EQ(list.get<std::string_view>(1), is_old ? "b\0"sv : "b\0\0"sv);
    EXPECT_EQ(list.get<std::string_view>(2), is_old ? ""sv : "\0"sv);
  }
}

TEST(ParseValues, AStringThatReachesBeyondTheEndIsTruncated) {
  for (const std::uint64_t length : {std::uint64_t{6}, std::uint64_t{1} << 31, max - 8, max}) {
    EXPECT_THAT(refusal_of(key_of_type(8).u64(length).raw("12345")),
                FailsWith(Errc::truncated, value_at + 8, "k"))
        << length;
  }
  EXPECT_THAT(refusal_of(key_of_type(8).u64(5).raw("12345")), Succeeds());
}

TEST(ParseValues, TheLimitOnStringsHoldsExactly) {
  const Limits limits{.max_string_bytes = 5};
  EXPECT_THAT(refusal_of(GgufBuilder().pair("k", "12345"), false, limits), Succeeds());
  EXPECT_THAT(refusal_of(GgufBuilder().pair("k", "123456"), false, limits),
              FailsWith(Errc::limit_exceeded, value_at, "k"));
  const auto list = [](std::string_view second) {
    return GgufBuilder().array_pair<std::string_view>("k", {"", second, ""});
  };
  EXPECT_THAT(refusal_of(list("12345"), false, limits), Succeeds());
  EXPECT_THAT(refusal_of(list("123456"), false, limits),
              FailsWith(Errc::limit_exceeded, elements_at + 8, "k"));
}

TEST(ParseValues, AStringInAnArrayThatReachesBeyondTheEndIsTruncated) {
  for (const std::uint64_t length : {std::uint64_t{3}, std::uint64_t{1} << 40, max}) {
    const GgufBuilder file = array_of(ValueType::string, 2).text("one").u64(length).raw("tw");
    EXPECT_THAT(refusal_of(file), FailsWith(Errc::truncated, elements_at + 11 + 8, "k")) << length;
  }
}

TEST(ParseValues, ACountBeyondTheFileIsRefusedForEveryElementType) {
  for (std::uint32_t id = 0; id < value_type_count; ++id) {
    const auto type = static_cast<ValueType>(id);
    const std::uint64_t size_bytes = type == ValueType::string  ? 8
                                     : type == ValueType::array ? 12
                                                                : size_bytes_of(type);
    // Zero is a valid element of every type: 0, false, "", an array of nothing.
    const std::string two(2 * size_bytes, '\0');
    EXPECT_THAT(refusal_of(array_of(type, 2).raw(two)), Succeeds()) << id;
    // Counts whose product with the size wraps to little, and others.
    for (const std::uint64_t count :
         {std::uint64_t{3}, max / size_bytes, (max - 1) / size_bytes + 1, max - 1, max}) {
      EXPECT_THAT(refusal_of(array_of(type, count).raw(two)),
                  FailsWith(Errc::count_exceeds_file, element_count_at, "k"))
          << id << " " << count;
    }
  }
}

TEST(ParseValues, TheLimitOnElementsHoldsExactly) {
  const Limits limits{.max_array_elements = 3};
  EXPECT_THAT(refusal_of(array_of(ValueType::int16, 3).data(6), false, limits), Succeeds());
  EXPECT_THAT(refusal_of(array_of(ValueType::int16, 4).data(8), false, limits),
              FailsWith(Errc::limit_exceeded, element_count_at, "k"));
}

TEST(ParseValues, EmptyArraysOfEveryTypeOpen) {
  for (std::uint32_t id = 0; id < value_type_count; ++id) {
    EXPECT_THAT(refusal_of(array_of(static_cast<ValueType>(id), 0)), Succeeds()) << id;
  }
}

TEST(ParseValues, ArraysNestTo64Levels) {
  EXPECT_THAT(refusal_of(nested(1)), Succeeds());
  EXPECT_THAT(refusal_of(nested(64)), Succeeds());
  EXPECT_THAT(refusal_of(nested(65)),
              FailsWith(Errc::nesting_too_deep, elements_at + 64 * 12, "k"));
  // More is not to be had, whatever the caller wishes.
  EXPECT_THAT(refusal_of(nested(65), leniently, {.max_depth = 1000}),
              FailsWith(Errc::nesting_too_deep));
  EXPECT_THAT(refusal_of(nested(100'000)), FailsWith(Errc::nesting_too_deep));
}

TEST(ParseValues, TheLimitOnDepthHoldsExactly) {
  EXPECT_THAT(refusal_of(nested(2), false, {.max_depth = 2}), Succeeds());
  EXPECT_THAT(refusal_of(nested(3), false, {.max_depth = 2}),
              FailsWith(Errc::nesting_too_deep, elements_at + 2 * 12, "k"));
  EXPECT_THAT(refusal_of(nested(1), false, {.max_depth = 0}), FailsWith(Errc::nesting_too_deep));
  EXPECT_THAT(refusal_of(GgufBuilder().pair("k", "no array"), false, {.max_depth = 0}), Succeeds());
}

TEST(ParseValues, SiblingsDoNotCountAsDepth) {
  GgufBuilder file = array_of(ValueType::array, 200);
  for (int i = 0; i < 200; ++i) file.array(ValueType::uint8, 1).u8(1);
  file.pair("after", "it");
  EXPECT_THAT(refusal_of(file, false, {.max_depth = 2}), Succeeds());
}

TEST(ParseValues, WhatIsInNestedArraysIsChecked) {
  EXPECT_THAT(refusal_of(array_of(ValueType::array, 1).array(ValueType::uint64, 2).u64(1)),
              FailsWith(Errc::count_exceeds_file, elements_at + 4, "k"));
  EXPECT_THAT(refusal_of(array_of(ValueType::array, 2).array(ValueType::uint64, 2).u64(1).u64(2)),
              FailsWith(Errc::truncated, elements_at + 12 + 16, "k"));
}

}  // namespace
}  // namespace ingot::test
