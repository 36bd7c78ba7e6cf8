// SPDX-License-Identifier: MIT
// Tensor infos: names, dimensions, types, sizes.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/expect_error.hpp"
#include "support/parse_bytes.hpp"

namespace ingot::test {
namespace {

using std::string_view_literals::operator""sv;
using Shape = std::vector<std::uint64_t>;

constexpr std::uint64_t info_at = 24;
constexpr std::uint64_t two_to_31 = std::uint64_t{1} << 31;
constexpr std::uint64_t two_to_32 = std::uint64_t{1} << 32;

/// Where the dimension count and the type of the first tensor stand.
constexpr std::uint64_t dimension_count_at(std::string_view name) {
  return info_at + 8 + name.size();
}
std::uint64_t type_at(std::string_view name, const Shape& shape) {
  return dimension_count_at(name) + 4 + 8 * shape.size();
}

/// A file of one tensor and `data_bytes` bytes of data.
GgufBuilder file_with(std::string_view name, const Shape& shape, std::uint32_t type,
                      std::size_t data_bytes = 64, Format format = v3) {
  GgufBuilder file(format);
  file.tensor(name, shape, static_cast<TensorType>(type), 0).pad_to(32).data(data_bytes);
  return file;
}
GgufBuilder named(std::string_view name, Format format = v3) {
  return file_with(name, {8}, 0, 64, format);
}
GgufBuilder shaped(const Shape& shape, TensorType type = TensorType::i8,
                   std::size_t data_bytes = 64) {
  return file_with("t", shape, static_cast<std::uint32_t>(type), data_bytes);
}

TEST(ParseTensors, GivesNameShapeTypeOffsetAndSize) {
  for (const Format format : all_formats) {
    const Bytes bytes = GgufBuilder(format)
                            .pair("key", "value")
                            .tensor("blk.0.weight", {32, 3}, TensorType::q4_0, 64)
                            .tensor("norm", {5}, TensorType::f32, 0)
                            .pad_to(32)
                            .data(64 + 54)
                            .bytes();
    const auto structure = parse_whole(bytes);
    ASSERT_THAT(structure, Succeeds());
    ASSERT_EQ(structure->tensors.size(), 2u);
    const TensorInfo& weight = structure->tensors[0];
    EXPECT_EQ(weight.name, "blk.0.weight");
    EXPECT_THAT(weight.shape, testing::ElementsAre(32, 3));
    EXPECT_EQ(weight.type, TensorType::q4_0);
    EXPECT_EQ(weight.data_offset, 64u);
    EXPECT_EQ(weight.element_count, 96u);
    EXPECT_EQ(weight.size_bytes, 54u);
    EXPECT_EQ(structure->tensors[1].size_bytes, 20u);
    EXPECT_EQ(structure->data_offset, (structure->header_bytes + 31) / 32 * 32);
    const auto name_at = [&](std::uint32_t at) { return structure->tensors[at].name; };
    EXPECT_EQ(structure->tensor_index.find("norm", name_at), 1u);
  }
}

// --- names

TEST(ParseTensors, NamesMayHave64Bytes) {
  EXPECT_THAT(refusal_of(named(std::string(64, 'n'))), Succeeds());
  const std::string long_name(65, 'n');
  EXPECT_THAT(refusal_of(named(long_name)),
              FailsWith(Errc::tensor_name_too_long, info_at, long_name));
  EXPECT_THAT(refusal_of(named(long_name), leniently), Succeeds());
}

TEST(ParseTensors, NamesMayHave65535BytesLeniently) {
  EXPECT_THAT(refusal_of(named(std::string(65535, 'n')), leniently), Succeeds());
  EXPECT_THAT(refusal_of(named(std::string(65536, 'n')), leniently),
              FailsWith(Errc::limit_exceeded, info_at, "tensor name"));
  EXPECT_THAT(refusal_of(named(std::string(65537, 'n')), leniently),
              FailsWith(Errc::limit_exceeded, info_at, "tensor name"));
}

TEST(ParseTensors, AnEmptyNameOpens) { EXPECT_THAT(refusal_of(named("")), Succeeds()); }

TEST(ParseTensors, NamesWithNulOrInvalidUtf8AreRefused) {
  for (const auto name :
       {"a\0b"sv, "a\0"sv, "\0"sv, "\xFF"sv, "\xE2\x82"sv, "\xF4\x90\x80\x80"sv}) {
    EXPECT_THAT(refusal_of(named(name), leniently),
                FailsWith(Errc::tensor_name_invalid, info_at, std::string(name)));
  }
  EXPECT_THAT(refusal_of(named("\xE2\x82\xAC \x1b[31m ../../etc/passwd %s")), Succeeds());
}

TEST(ParseTensors, NamesLoseOneTrailingNulInOldVersionsOnly) {
  const std::string with_nul = std::string(64, 'n') + '\0';
  for (const Format format : {v1, v2}) {
    const Bytes bytes = named(with_nul, format).bytes();
    const auto structure = parse_whole(bytes);
    ASSERT_THAT(structure, Succeeds());
    EXPECT_EQ(structure->tensors[0].name, std::string(64, 'n'));
    EXPECT_TRUE(structure->has_stripped_nul);
    EXPECT_THAT(refusal_of(named(with_nul + '\0', format)), FailsWith(Errc::tensor_name_invalid));
  }
  EXPECT_THAT(refusal_of(named("n\0"sv, v3_big)), FailsWith(Errc::tensor_name_invalid));
}

TEST(ParseTensors, DuplicateNamesAreRefused) {
  GgufBuilder file;
  file.tensor("t", {8}, TensorType::f32, 0).tensor("u", {8}, TensorType::f32, 32);
  const std::uint64_t third = file.size();
  file.tensor("t", {8}, TensorType::f32, 64).pad_to(32).data(96);
  const auto refused = refusal_of(file, leniently);
  ASSERT_THAT(refused, FailsWith(Errc::tensor_duplicate, third, "t"));
  EXPECT_EQ(refused.error().detail, "it is tensor 0 and tensor 2");
}

// --- dimensions

TEST(ParseTensors, FourDimensionsAreTheRuleAndEightOpenLeniently) {
  for (std::size_t count = 0; count <= 4; ++count) {
    EXPECT_THAT(refusal_of(shaped(Shape(count, 2))), Succeeds()) << count;
  }
  for (std::size_t count = 5; count <= 8; ++count) {
    EXPECT_THAT(refusal_of(shaped(Shape(count, 1))),
                FailsWith(Errc::too_many_dimensions, dimension_count_at("t"), "t"))
        << count;
    EXPECT_THAT(refusal_of(shaped(Shape(count, 1)), leniently), Succeeds()) << count;
  }
  for (const std::uint32_t count : {9u, 10u, 0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFFu}) {
    const GgufBuilder file = GgufBuilder().set_counts(1, 0).text("t").u32(count).data(200);
    EXPECT_THAT(refusal_of(file, leniently),
                FailsWith(Errc::dimension_count_invalid, dimension_count_at("t"), "t"))
        << count;
  }
}

TEST(ParseTensors, NoDimensionIsOneElement) {
  const Bytes bytes = shaped({}, TensorType::f64, 8).bytes();
  const auto structure = parse_whole(bytes);
  ASSERT_THAT(structure, Succeeds());
  EXPECT_EQ(structure->tensors[0].element_count, 1u);
  EXPECT_EQ(structure->tensors[0].size_bytes, 8u);
  EXPECT_EQ(structure->tensors[0].row_elements(), 1u);
}

TEST(ParseTensors, AZeroDimensionMeansNoBytes) {
  for (const Shape& shape : {Shape{0}, Shape{0, 5}, Shape{32, 0, 3}, Shape{0, 0, 0, 0}}) {
    const Bytes bytes = shaped(shape, TensorType::q4_0, 0).bytes();
    const auto structure = parse_whole(bytes);
    ASSERT_THAT(structure, Succeeds());
    EXPECT_EQ(structure->tensors[0].element_count, 0u);
    EXPECT_EQ(structure->tensors[0].size_bytes, 0u);
  }
}

TEST(ParseTensors, NarrowDimensionsReachTheirMaximum) {
  // 2^32 - 1 elements without bytes behind them: read in full, and then missed.
  GgufBuilder file(v1);
  file.tensor("t", {0xFFFFFFFF}, TensorType::i8, 0).pad_to(32);
  EXPECT_THAT(refusal_of(file), FailsWith(Errc::tensor_outside_file, 64, "t"));
}

// --- sizes

TEST(ParseTensors, ElementsMustFit63Bits) {
  const auto refusal = [](const Shape& shape) {
    return std::pair(refusal_of(shaped(shape, TensorType::i8), leniently),
                     FailsWith(Errc::size_overflow, type_at("t", shape), "t"));
  };
  for (const Shape& shape : {Shape{two_to_32, two_to_31}, Shape{two_to_32, two_to_32},
                             Shape{two_to_32, two_to_32, 0}, Shape{0, two_to_32, two_to_32},
                             Shape{two_to_31, two_to_31, 2}, Shape{two_to_31 * two_to_32},
                             Shape{~std::uint64_t{0}, 1}, Shape{3, ~std::uint64_t{0} / 3 + 1}}) {
    const auto [refused, overflow] = refusal(shape);
    EXPECT_THAT(refused, overflow) << testing::PrintToString(shape);
  }
  // One less is a size, though none that this file has.
  for (const Shape& shape : {Shape{two_to_31 * two_to_32 - 1}, Shape{two_to_31, two_to_31}}) {
    EXPECT_THAT(refusal_of(shaped(shape)), FailsWith(Errc::tensor_outside_file))
        << testing::PrintToString(shape);
  }
  EXPECT_THAT(refusal_of(shaped({two_to_31, two_to_31, 0})), Succeeds());
}

TEST(ParseTensors, BytesMustFit63Bits) {
  const std::uint64_t most = (std::uint64_t{1} << 63) / 8 - 1;
  EXPECT_THAT(refusal_of(shaped({most}, TensorType::i64)), FailsWith(Errc::tensor_outside_file));
  EXPECT_THAT(refusal_of(shaped({most + 1}, TensorType::i64)),
              FailsWith(Errc::size_overflow, type_at("t", {1}), "t"));
  EXPECT_THAT(refusal_of(shaped({most + 1, 0}, TensorType::i64)), FailsWith(Errc::size_overflow));
  // Padding wraps as well: the last 31 bytes below 2^64.
  EXPECT_THAT(refusal_of(shaped({~std::uint64_t{0} - 30}, TensorType::i8)),
              FailsWith(Errc::size_overflow));
}

TEST(ParseTensors, RowsAreWholeBlocks) {
  for (const TensorTypeInfo& type : live_tensor_types) {
    const std::uint64_t row = type.block_elements;
    const std::size_t data_bytes = 2 * std::size_t{type.block_bytes};
    EXPECT_THAT(refusal_of(shaped({row, 2}, type.type, data_bytes)), Succeeds()) << type.name;
    EXPECT_THAT(refusal_of(shaped({row, 2}, type.type, data_bytes - 1)),
                FailsWith(Errc::tensor_outside_file))
        << type.name;
    if (row == 1) continue;
    for (const std::uint64_t wrong : {row - 1, row + 1, row / 2}) {
      // As many elements as blocks hold are not enough if rows do not.
      const auto refused = refusal_of(shaped({wrong, row}, type.type));
      EXPECT_THAT(refused, FailsWith(Errc::row_not_whole_blocks, type_at("t", {1, 1}), "t"))
          << type.name;
    }
    EXPECT_THAT(refusal_of(shaped({}, type.type)), FailsWith(Errc::row_not_whole_blocks));
  }
}

// --- types

TEST(ParseTensors, RemovedTypesOpenLeniently) {
  for (const std::uint32_t type : {4u, 5u, 31u, 32u, 33u, 36u, 37u, 38u}) {
    const GgufBuilder file = file_with("t", {7}, type);
    EXPECT_THAT(refusal_of(file), FailsWith(Errc::tensor_type_removed, type_at("t", {1}), "t"));
    EXPECT_THAT(refusal_of(file, leniently), Succeeds()) << type;
  }
  const auto refused = refusal_of(file_with("t", {32}, 4));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().detail, "found 4, once Q4_2");
}

TEST(ParseTensors, UnknownTypesOpenLeniently) {
  for (const std::uint32_t type : {43u, 255u, 256u, 0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFFu}) {
    const GgufBuilder file = file_with("t", {7}, type);
    EXPECT_THAT(refusal_of(file), FailsWith(Errc::tensor_type_unknown, type_at("t", {1}), "t"));
    const Bytes bytes = file.bytes();
    const auto structure = parse_whole(bytes, leniently);
    ASSERT_THAT(structure, Succeeds()) << type;
    EXPECT_EQ(static_cast<std::uint32_t>(structure->tensors[0].type), type);
    EXPECT_EQ(structure->tensors[0].element_count, 7u);
  }
  EXPECT_THAT(refusal_of(file_with("t", {two_to_32, two_to_32}, 43), leniently),
              FailsWith(Errc::size_overflow, type_at("t", {1, 1}), "t"));
}

}  // namespace
}  // namespace ingot::test
