// SPDX-License-Identifier: MIT
// general.alignment: which numbers it may be, and what follows from it.

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/parse_bytes.hpp"

namespace ingot::test {
namespace {

constexpr const char* key = "general.alignment";
constexpr std::uint64_t alignment_value_at = 24 + 8 + 17 + 4;

GgufBuilder aligned(std::uint32_t alignment) { return GgufBuilder().pair(key, alignment); }

TEST(ParseAlignment, MultiplesOf8AreTheRule) {
  for (const std::uint32_t alignment : {8u, 16u, 24u, 32u, 40u, 4096u, 0x80000000u, 0xFFFFFFF8u}) {
    const Bytes bytes = aligned(alignment).tensor("t", {0}, TensorType::f32, 0).bytes();
    const auto structure = parse_whole(bytes);
    ASSERT_THAT(structure, Succeeds()) << alignment;
    EXPECT_EQ(structure->alignment, alignment);
    EXPECT_EQ(structure->data_offset % alignment, 0u);
    EXPECT_GE(structure->data_offset, bytes.size());
    EXPECT_LT(structure->data_offset, std::uint64_t{alignment} + bytes.size());
  }
}

TEST(ParseAlignment, SmallPowersOfTwoOpenLeniently) {
  for (const std::uint32_t alignment : {1u, 2u, 4u}) {
    EXPECT_THAT(refusal_of(aligned(alignment)),
                FailsWith(Errc::alignment_too_small, alignment_value_at, key));
    const Bytes bytes = aligned(alignment).bytes();
    ASSERT_THAT(parse_whole(bytes, leniently), Succeeds());
    EXPECT_EQ(parse_whole(bytes, leniently)->alignment, alignment);
  }
}

TEST(ParseAlignment, OtherNumbersAreRefused) {
  for (const std::uint32_t alignment : {0u, 3u, 5u, 7u, 9u, 12u, 31u, 0xFFFFFFFFu}) {
    EXPECT_THAT(refusal_of(aligned(alignment), leniently),
                FailsWith(Errc::alignment_invalid, alignment_value_at, key))
        << alignment;
  }
}

TEST(ParseAlignment, OtherTypesAreRefused) {
  const auto refusal = [](auto value) { return refusal_of(GgufBuilder().pair(key, value), true); };
  const auto wrong_type = FailsWith(Errc::alignment_wrong_type, alignment_value_at, key);
  EXPECT_THAT(refusal(std::uint64_t{32}), wrong_type);
  EXPECT_THAT(refusal(std::int32_t{32}), wrong_type);
  EXPECT_THAT(refusal(std::uint16_t{32}), wrong_type);
  EXPECT_THAT(refusal(32.0F), wrong_type);
  EXPECT_THAT(refusal(true), wrong_type);
  EXPECT_THAT(refusal_of(GgufBuilder().pair(key, "32")),
              FailsWith(Errc::alignment_wrong_type, alignment_value_at + 8, key));
  EXPECT_THAT(refusal_of(GgufBuilder().array_pair(key, {std::uint32_t{32}})),
              FailsWith(Errc::alignment_wrong_type, alignment_value_at + 12, key));
}

TEST(ParseAlignment, IsReadWhereverTheKeyStandsAndInEitherByteOrder) {
  for (const Format format : all_formats) {
    const Bytes bytes = GgufBuilder(format)
                            .pair("before", true)
                            .pair(key, std::uint32_t{64})
                            .pair("after", true)
                            .tensor("t", {1}, TensorType::i8, 64)
                            .pad_to(64)
                            .data(65)
                            .bytes();
    const auto structure = parse_whole(bytes);
    ASSERT_THAT(structure, Succeeds());
    EXPECT_EQ(structure->alignment, 64u);
    EXPECT_EQ(structure->data_offset % 64, 0u);
  }
}

TEST(ParseAlignment, AnOffsetHasToBeAMultipleOfIt) {
  const auto with_offset = [](std::uint32_t alignment, std::uint64_t data_offset) {
    GgufBuilder file = aligned(alignment);
    file.dimensions("t", {1}).type(TensorType::i8);
    const std::uint64_t offset_at = file.size();
    file.u64(data_offset).pad_to(alignment).data(100);
    return std::pair(refusal_of(file), offset_at);
  };
  EXPECT_THAT(with_offset(24, 48).first, Succeeds());
  EXPECT_THAT(with_offset(8, 8).first, Succeeds());
  for (const auto& [alignment, data_offset] :
       {std::pair(24u, 32u), std::pair(32u, 16u), std::pair(16u, 8u), std::pair(8u, 1u)}) {
    const auto [refused, offset_at] = with_offset(alignment, data_offset);
    EXPECT_THAT(refused, FailsWith(Errc::offset_unaligned, offset_at, "t"));
  }
}

}  // namespace
}  // namespace ingot::test
