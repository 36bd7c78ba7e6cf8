// SPDX-License-Identifier: MIT
// The two counts of the header, and the limits on them.

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/parse_bytes.hpp"

namespace ingot::test {
namespace {

constexpr std::uint64_t huge = ~std::uint64_t{0};

/// A file of a header that promises entries, and `rest_bytes` bytes after it.
Result<void> promise(Format format, std::uint64_t tensors, std::uint64_t keys,
                     std::size_t rest_bytes, const Limits& limits = {}) {
  return refusal_of(GgufBuilder(format).set_counts(tensors, keys).data(rest_bytes), false, limits);
}

TEST(ParseCounts, AnEmptyModelIsAModel) {
  for (const Format format : all_formats) {
    const Bytes bytes = GgufBuilder(format).bytes();
    const auto structure = parse_whole(bytes);
    ASSERT_THAT(structure, Succeeds());
    EXPECT_EQ(structure->version, format.version);
    EXPECT_EQ(structure->byte_order, format.byte_order);
    EXPECT_EQ(structure->header_bytes, bytes.size());
    EXPECT_EQ(structure->alignment, 32u);
  }
}

TEST(ParseCounts, OneTensorMoreThanFitsIsRefusedBeforeAnythingIsReserved) {
  // The smallest tensor info has 24 bytes; in version 1, 20.
  EXPECT_THAT(promise(v3, 3, 0, 71), FailsWith(Errc::count_exceeds_file, 8, "tensor count"));
  EXPECT_THAT(promise(v1, 3, 0, 59), FailsWith(Errc::count_exceeds_file, 8, "tensor count"));
  EXPECT_THAT(promise(v3, huge, 0, 71), FailsWith(Errc::count_exceeds_file, 8, "tensor count"));
  EXPECT_THAT(promise(v3_big, huge, 0, 71), FailsWith(Errc::count_exceeds_file, 8, "tensor count"));
}

TEST(ParseCounts, OneKeyMoreThanFitsIsRefusedBeforeAnythingIsReserved) {
  // The smallest pair has 14 bytes; in version 1, 10.
  EXPECT_THAT(promise(v3, 0, 3, 41), FailsWith(Errc::count_exceeds_file, 16, "key count"));
  EXPECT_THAT(promise(v1, 0, 3, 29), FailsWith(Errc::count_exceeds_file, 12, "key count"));
  EXPECT_THAT(promise(v3, 0, huge, 41), FailsWith(Errc::count_exceeds_file, 16, "key count"));
}

TEST(ParseCounts, AsManyOfTheSmallestEntriesAsFitAreAccepted) {
  GgufBuilder file;
  file.pair("a", true).pair("b", false).pair("c", std::uint8_t{3});
  ASSERT_EQ(file.size(), 24u + 3 * 14);
  EXPECT_THAT(refusal_of(file), Succeeds());
  GgufBuilder narrow(v1);
  narrow.pair("a", true).pair("b", false).pair("c", std::uint8_t{3});
  ASSERT_EQ(narrow.size(), 16u + 3 * 10);
  EXPECT_THAT(refusal_of(narrow), Succeeds());

  GgufBuilder tensors;
  tensors.tensor("", {}, TensorType::i8, 0);
  ASSERT_EQ(tensors.size(), 24u + 24);
  // Here the data is what is missing, not the room for the info.
  EXPECT_THAT(refusal_of(tensors), FailsWith(Errc::tensor_outside_file, 64, ""));
  EXPECT_THAT(refusal_of(tensors.pad_to(32).data(1)), Succeeds());
}

TEST(ParseCounts, ATensorCountThatIsOneTooHighRunsIntoTheEnd) {
  GgufBuilder file;
  file.tensor("t", {8}, TensorType::f32, 0).set_counts(2, 0).pad_to(32).data(32);
  // The padding and the data there are read as an info, and are none.
  EXPECT_FALSE(refusal_of(file).has_value());
}

TEST(ParseCounts, LimitsHoldExactly) {
  GgufBuilder file;
  file.pair("a", true).pair("b", true);
  file.tensor("x", {0}, TensorType::f32, 0).tensor("y", {0}, TensorType::f32, 0);
  EXPECT_THAT(refusal_of(file.pad_to(32), false, {.max_keys = 2, .max_tensors = 2}), Succeeds());
  EXPECT_THAT(refusal_of(file, false, {.max_keys = 1, .max_tensors = 2}),
              FailsWith(Errc::limit_exceeded, 16, "key count"));
  EXPECT_THAT(refusal_of(file, false, {.max_keys = 2, .max_tensors = 1}),
              FailsWith(Errc::limit_exceeded, 8, "tensor count"));
}

TEST(ParseCounts, TheHeaderLimitHoldsExactly) {
  GgufBuilder file;
  file.pair("key", "value").tensor("t", {1}, TensorType::i8, 0);
  const std::uint64_t header_bytes = file.size();
  file.pad_to(32).data(1);
  EXPECT_THAT(refusal_of(file, false, {.max_header_bytes = header_bytes}), Succeeds());
  const auto refused = refusal_of(file, false, {.max_header_bytes = header_bytes - 1});
  ASSERT_THAT(refused, FailsWith(Errc::limit_exceeded));
  EXPECT_EQ(refused.error().detail,
            "the header is longer than " + std::to_string(header_bytes - 1) + " bytes");
}

}  // namespace
}  // namespace ingot::test
