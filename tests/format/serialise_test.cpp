// SPDX-License-Identifier: MIT
// Structure back to bytes: the same bytes, or the same content in another version or byte order.

#include "format/serialise.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "support/expect_error.hpp"
#include "support/parse_bytes.hpp"
#include "support/sample_files.hpp"

namespace ingot::test {
namespace {

using std::string_view_literals::operator""sv;

Result<Bytes> write(const format::Structure& structure, Format format) {
  return format::serialise({.version = format.version,
                            .byte_order = format.byte_order,
                            .alignment = structure.alignment,
                            .metadata = structure.metadata,
                            .tensor_count = structure.tensors.size(),
                            .tensor_at = format::at(structure.tensors)});
}

Format format_of(const format::Structure& structure) {
  return {structure.version, structure.byte_order};
}

/// The file up to its data.
Bytes header_of(const Bytes& file, const format::Structure& structure) {
  const std::uint64_t end =
      structure.tensors.empty() ? structure.header_bytes : structure.data_offset;
  return {file.begin(), file.begin() + static_cast<std::ptrdiff_t>(end)};
}

/// Converts a file of one format to another.
Result<Bytes> convert(const GgufBuilder& file, Format format) {
  const Bytes bytes = file.bytes();
  INGOT_TRY(const format::Structure structure, parse_whole(bytes));
  return write(structure, format);
}

TEST(Serialise, GivesTheSameBytes) {
  for (const Format format : all_formats) {
    for (const Bytes& file : {file_of_everything(format), file_of_600_bytes(format)}) {
      const auto structure = parse_whole(file);
      ASSERT_THAT(structure, Succeeds());
      EXPECT_EQ(write(*structure, format), header_of(file, *structure));
    }
  }
}

TEST(Serialise, WithoutTensorsThereIsNoPadding) {
  const GgufBuilder file = GgufBuilder().pair("k", true);
  EXPECT_EQ(convert(file, v3), file.bytes());
}

TEST(Serialise, ConvertsToEveryFormatThatHoldsTheContentAndBack) {
  for (const Format from : all_formats) {
    // All versions can hold the values of version 1.
    GgufBuilder source(from);
    add_all_values(source, v1);
    source.tensor("t", {32, 3}, TensorType::q4_0, 0).pad_to(32).data(54);
    const Bytes file = source.bytes();
    const auto structure = parse_whole(file);
    ASSERT_THAT(structure, Succeeds());
    for (const Format to : all_formats) {
      GgufBuilder expected(to);
      add_all_values(expected, v1);
      expected.tensor("t", {32, 3}, TensorType::q4_0, 0).pad_to(32);
      const auto converted = write(*structure, to);
      ASSERT_THAT(converted, Succeeds());
      EXPECT_EQ(*converted, expected.bytes());
      Bytes there = *converted;
      there.resize(there.size() + 54);
      const auto again = parse_whole(there);
      ASSERT_THAT(again, Succeeds());
      EXPECT_EQ(write(*again, from), header_of(file, *structure));
    }
  }
}

TEST(Serialise, SwapsElementsOfEveryWidth) {
  const auto numbers = [](Format format) {
    GgufBuilder file(format);
    file.array_pair("16", {std::uint16_t{0x0102}, std::uint16_t{3}});
    file.array_pair("32", {1.5F, 0.1F});
    file.array_pair("64", {0.1, 1e300});
    file.pair("one", std::int64_t{-2});
    return file;
  };
  EXPECT_EQ(convert(numbers(v3), v3_big), numbers(v3_big).bytes());
  EXPECT_EQ(convert(numbers(v3_big), v2), numbers(v2).bytes());
}

TEST(Serialise, Version1RefusesWhatItCannotHold) {
  const auto refusal = [](const GgufBuilder& file) { return convert(file, v1); };
  const auto cannot_hold = FailsWith(Errc::version_cannot_hold, Error::no_offset, "key");
  EXPECT_THAT(refusal(GgufBuilder().pair("key", std::uint64_t{1})), cannot_hold);
  EXPECT_THAT(refusal(GgufBuilder().pair("key", std::int64_t{1})), cannot_hold);
  EXPECT_THAT(refusal(GgufBuilder().pair("key", 1.0)), cannot_hold);
  EXPECT_THAT(refusal(GgufBuilder().array_pair("key", {1.0})), cannot_hold);
  EXPECT_THAT(refusal(GgufBuilder().array_key("key", ValueType::int64, 0)), cannot_hold);
  EXPECT_THAT(
      refusal(GgufBuilder().array_key("key", ValueType::array, 1).array(ValueType::uint64, 0)),
      cannot_hold);
  const auto wide =
      refusal(GgufBuilder().tensor("t", {0, std::uint64_t{1} << 32}, TensorType::i8, 0));
  ASSERT_THAT(wide, FailsWith(Errc::version_cannot_hold, Error::no_offset, "t"));
  EXPECT_EQ(wide.error().detail, "it is a count of 4294967296");
  EXPECT_THAT(refusal(GgufBuilder().tensor("t", {0, 0xFFFFFFFF}, TensorType::i8, 0)), Succeeds());
}

TEST(Serialise, BigEndianIsVersion3) {
  for (const std::uint32_t version : {1u, 2u}) {
    EXPECT_THAT(convert(GgufBuilder(), {version, Endian::big}),
                FailsWith(Errc::version_cannot_hold));
  }
  for (const std::uint32_t version : {0u, 4u}) {
    EXPECT_THAT(convert(GgufBuilder(), {version, Endian::little}),
                FailsWith(Errc::unsupported_version));
  }
}

TEST(Serialise, RepairsQuirks) {
  GgufBuilder old_magic(v3_big, "FUGG");
  EXPECT_EQ(convert(old_magic.pair("k", "v"), v3_big), GgufBuilder(v3_big).pair("k", "v").bytes());

  for (const Format format : {v1, v2}) {
    const GgufBuilder with_nul = GgufBuilder(format)
                                     .pair("key\0"sv, "value\0"sv)
                                     .array_pair<std::string_view>("list", {"a\0"sv, "b"})
                                     .tensor("name\0"sv, {0}, TensorType::f32, 0);
    const GgufBuilder repaired = GgufBuilder(format)
                                     .pair("key", "value")
                                     .array_pair<std::string_view>("list", {"a", "b"})
                                     .tensor("name", {0}, TensorType::f32, 0)
                                     .pad_to(32);
    EXPECT_EQ(convert(with_nul, format), repaired.bytes());
  }

  const auto padded = [](char padding) {
    GgufBuilder file;
    file.tensor("t", {8}, TensorType::i8, 0);
    while (file.size() % 32 != 0) file.raw(std::string_view(&padding, 1));
    return file;
  };
  EXPECT_EQ(convert(padded('x').data(8), v3), padded('\0').bytes());
}

TEST(Serialise, TextThatEndsInANulSurvivesVersionsThatStripOne) {
  const auto texts = [](Format format, std::string_view text) {
    return GgufBuilder(format).pair("text", text).array_pair<std::string_view>("texts", {text, ""});
  };
  for (const Format format : {v1, v2}) {
    const auto there = convert(texts(v3, "a\0"sv), format);
    ASSERT_THAT(there, Succeeds());
    EXPECT_EQ(*there, texts(format, "a\0\0"sv).bytes());
    const auto structure = parse_whole(*there);
    ASSERT_THAT(structure, Succeeds());
    EXPECT_EQ(write(*structure, v3), texts(v3, "a\0"sv).bytes());
    EXPECT_EQ(write(*structure, format_of(*structure)), *there);
  }
}

TEST(Serialise, KeepsBoolsAsTheyAreStored) {
  const Bytes bytes = GgufBuilder().key("k", ValueType::boolean).u8(2).bytes();
  const auto structure = parse_whole(bytes, leniently);
  ASSERT_THAT(structure, Succeeds());
  EXPECT_EQ(write(*structure, v3), bytes);
}

}  // namespace
}  // namespace ingot::test
