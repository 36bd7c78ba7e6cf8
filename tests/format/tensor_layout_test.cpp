// SPDX-License-Identifier: MIT
// Where tensor data lies: within the file, without overlap, in any order.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/expect_error.hpp"
#include "support/parse_bytes.hpp"

namespace ingot::test {
namespace {

constexpr auto unknown = static_cast<TensorType>(99);

struct Part {
  std::uint64_t data_offset;
  std::uint64_t elements;  ///< of one byte
  TensorType type = TensorType::i8;
};

/// A file of tensors named "0", "1" and so on, and `data_bytes` bytes of data from `data_at` on.
GgufBuilder file_of(const std::vector<Part>& parts, std::size_t data_bytes) {
  GgufBuilder file;
  file.pair("general.alignment", std::uint32_t{8});
  for (std::size_t i = 0; i < parts.size(); ++i) {
    file.tensor(std::to_string(i), {parts[i].elements}, parts[i].type, parts[i].data_offset);
  }
  file.pad_to(8).data(data_bytes);
  return file;
}
std::uint64_t data_at(std::size_t tensor_count) {
  const std::uint64_t header_bytes = 24 + 8 + 17 + 4 + 4 + tensor_count * (8 + 1 + 4 + 8 + 4 + 8);
  return (header_bytes + 7) / 8 * 8;
}

std::vector<std::uint64_t> lenient_sizes(const std::vector<Part>& parts, std::size_t data_bytes) {
  const Bytes bytes = file_of(parts, data_bytes).bytes();
  const auto structure = parse_whole(bytes, leniently);
  std::vector<std::uint64_t> sizes;
  if (!structure) return sizes;
  for (const TensorInfo& tensor : structure->tensors) sizes.push_back(tensor.size_bytes);
  return sizes;
}

TEST(TensorLayout, DataMayEndWithTheFileButNotAfterIt) {
  EXPECT_THAT(refusal_of(file_of({{0, 8}, {8, 5}}, 13)), Succeeds());
  const auto refused = refusal_of(file_of({{0, 8}, {8, 5}}, 12));
  ASSERT_THAT(refused, FailsWith(Errc::tensor_outside_file, data_at(2) + 8, "1"));
  EXPECT_EQ(refused.error().detail, "it ends at byte " + std::to_string(data_at(2) + 13) +
                                        " of a file of " + std::to_string(data_at(2) + 12));
}

TEST(TensorLayout, PaddingBytesThatAreMissingBeforeDataAreNoticed) {
  // The header alone, not even padded, with a tensor that has bytes.
  GgufBuilder file;
  file.tensor("t", {1}, TensorType::i8, 0);
  EXPECT_THAT(refusal_of(file), FailsWith(Errc::tensor_outside_file, 64, "t"));
}

TEST(TensorLayout, AnEmptyTensorMayLieAtTheEndButNotAfterIt) {
  EXPECT_THAT(refusal_of(file_of({{16, 0}}, 16)), Succeeds());
  EXPECT_THAT(refusal_of(file_of({{16, 0}}, 15)),
              FailsWith(Errc::tensor_outside_file, data_at(1) + 16, "0"));
}

TEST(TensorLayout, OffsetsThatWrapAreOutside) {
  const std::uint64_t last = ~std::uint64_t{0} - 7;
  const auto refused = refusal_of(file_of({{last, 8}}, 64));
  ASSERT_THAT(refused, FailsWith(Errc::tensor_outside_file));
  EXPECT_EQ(refused.error().file_offset, Error::no_offset);
  // Its end is no number, but its beginning is.
  const std::uint64_t begin = ~std::uint64_t{0} - 7 - data_at(1);
  EXPECT_THAT(refusal_of(file_of({{begin - begin % 8, 0}}, 64)),
              FailsWith(Errc::tensor_outside_file));
  const std::uint64_t two_to_63 = std::uint64_t{1} << 63;
  EXPECT_THAT(refusal_of(file_of({{two_to_63, two_to_63 - 1}}, 64)),
              FailsWith(Errc::tensor_outside_file));
}

TEST(TensorLayout, OverlapIsRefusedWhereverItIs) {
  const auto overlap_at = [](std::uint64_t data_offset, const char* name) {
    return FailsWith(Errc::tensor_overlap, data_at(2) + data_offset, name);
  };
  EXPECT_THAT(refusal_of(file_of({{0, 8}, {8, 8}}, 64)), Succeeds());
  EXPECT_THAT(refusal_of(file_of({{0, 9}, {8, 8}}, 64), leniently), overlap_at(8, "1"));
  EXPECT_THAT(refusal_of(file_of({{8, 8}, {0, 9}}, 64)), overlap_at(8, "0"));
  EXPECT_THAT(refusal_of(file_of({{0, 8}, {0, 8}}, 64)), overlap_at(0, "1"));
  EXPECT_THAT(refusal_of(file_of({{0, 64}, {16, 1}}, 64)), overlap_at(16, "1"));
  const auto refused = refusal_of(file_of({{16, 1}, {0, 64}}, 64));
  ASSERT_THAT(refused, overlap_at(16, "0"));
  EXPECT_EQ(refused.error().detail, "the other is \"1\"");
}

TEST(TensorLayout, OverlapIsFoundBehindOthers) {
  // The first reaches over all that come between.
  EXPECT_THAT(refusal_of(file_of({{0, 25}, {40, 8}, {32, 8}, {24, 8}}, 64)),
              FailsWith(Errc::tensor_overlap, data_at(4) + 24, "3"));
}

TEST(TensorLayout, AnyOrderAndGapsOpen) {
  EXPECT_THAT(refusal_of(file_of({{16, 8}, {0, 8}, {8, 8}}, 64)), Succeeds());
  EXPECT_THAT(refusal_of(file_of({{8, 8}, {48, 8}}, 64)), Succeeds());
}

TEST(TensorLayout, EmptyTensorsShareTheirPlaceWithAnybody) {
  EXPECT_THAT(refusal_of(file_of({{0, 16}, {8, 0}, {0, 0}, {16, 8}}, 64)), Succeeds());
  EXPECT_THAT(refusal_of(file_of({{8, 0}, {8, 0}, {0, 16}}, 64)), Succeeds());
}

TEST(TensorLayout, UnknownTypesReachToTheNextOffsetOrTheEnd) {
  using testing::ElementsAre;
  EXPECT_THAT(lenient_sizes({{0, 1, unknown}}, 20), ElementsAre(20));
  EXPECT_THAT(lenient_sizes({{0, 1, unknown}, {16, 4}}, 20), ElementsAre(16, 4));
  EXPECT_THAT(lenient_sizes({{8, 3}, {16, 1, unknown}, {0, 1, unknown}}, 20), ElementsAre(3, 4, 8));
  // The next larger offset counts, not the next in the table.
  EXPECT_THAT(lenient_sizes({{0, 1, unknown}, {40, 1}, {24, 8}}, 41), ElementsAre(24, 1, 8));
  EXPECT_THAT(lenient_sizes({{16, 1, unknown}}, 16), ElementsAre(0));
}

TEST(TensorLayout, UnknownTypesDoNotHideOverlapOrMissingData) {
  EXPECT_THAT(refusal_of(file_of({{0, 9}, {8, 1, unknown}}, 64), leniently),
              FailsWith(Errc::tensor_overlap));
  EXPECT_THAT(refusal_of(file_of({{8, 1, unknown}, {8, 1, unknown}}, 64), leniently),
              FailsWith(Errc::tensor_overlap));
  EXPECT_THAT(refusal_of(file_of({{24, 1, unknown}}, 20), leniently),
              FailsWith(Errc::tensor_outside_file));
}

}  // namespace
}  // namespace ingot::test
