// SPDX-License-Identifier: MIT
#include "ingot/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "codec/statistics/group_sums.hpp"
#include "codec/statistics/lane_sums.hpp"
#include "ingot/quantize.hpp"
#include "support/codec_cases.hpp"
#include "support/random.hpp"

namespace ingot::test {
namespace {

constexpr float infinite_float = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> random_floats(std::size_t count, float center) {
  std::vector<float> floats(count);
  Random random;
  for (float& value : floats) {
    value = center + (static_cast<float>(random.below(200001)) / 100000.0f - 1.0f) * 0.01f;
  }
  return floats;
}

/// Computes the expected values by the definitions, in long double.
void expect_right(const std::vector<float>& numbers) {
  long double sum = 0;
  long double squares = 0;
  float least = infinite_float;
  float most = -infinite_float;
  std::uint64_t zeros = 0;
  for (const float number : numbers) {
    sum += number;
    least = std::min(least, number);
    most = std::max(most, number);
    if (number == 0.0f) ++zeros;
  }
  const long double mean = sum / static_cast<long double>(numbers.size());
  for (const float number : numbers) squares += (number - mean) * (number - mean);
  const double deviation =
      static_cast<double>(std::sqrt(squares / static_cast<long double>(numbers.size())));

  const Statistics found = compute_statistics(numbers);
  EXPECT_EQ(found.count, numbers.size());
  EXPECT_EQ(found.min, least);
  EXPECT_EQ(found.max, most);
  EXPECT_EQ(found.zeros, zeros);
  EXPECT_NEAR(found.mean, static_cast<double>(mean), 1e-6 * (deviation + std::abs(found.mean)));
  EXPECT_NEAR(found.deviation(), deviation, 1e-5 * deviation);
}

TEST(Statistics, AreRight) {
  for (const std::size_t count : {1u, 31u, 32u, 33u, 4095u, 4096u, 4097u, 100000u}) {
    expect_right(random_floats(count, 0.0f));
    // Where the mean is a hundred times the deviation, squares around zero would lose it.
    expect_right(random_floats(count, 1.0f));
  }
  expect_right({0.0f, -0.0f, 1.0f, 0.0f});
}

TEST(Statistics, SurviveAnOddBeginning) {
  std::vector<float> numbers = random_floats(4096, 0.0f);
  numbers[3] = 1e6f;
  expect_right(numbers);
  std::fill(numbers.begin(), numbers.begin() + 64, 1e4f);
  expect_right(numbers);
}

TEST(Statistics, LeaveOutWhatIsNoNumber) {
  std::vector<float> numbers = random_floats(5000, 0.0f);
  const Statistics without = compute_statistics(numbers);
  numbers.insert(numbers.begin() + 100, {nan, infinite_float, -infinite_float, -nan});
  const Statistics with = compute_statistics(numbers);
  EXPECT_EQ(with.count, without.count);
  EXPECT_EQ(with.nans, 2u);
  EXPECT_EQ(with.infinities, 2u);
  EXPECT_EQ(with.min, without.min);
  EXPECT_EQ(with.max, without.max);
  EXPECT_NEAR(with.mean, without.mean, 1e-9);
  EXPECT_NEAR(with.deviation(), without.deviation(), 1e-8);
}

TEST(Statistics, OfNothingAndOfNoNumbers) {
  EXPECT_EQ(compute_statistics({}).count, 0u);
  EXPECT_EQ(compute_statistics({}).deviation(), 0.0);
  const std::vector<float> odd(40, nan);
  EXPECT_EQ(compute_statistics(odd).count, 0u);
  EXPECT_EQ(compute_statistics(odd).nans, 40u);
  EXPECT_EQ(compute_statistics(odd).mean, 0.0);
}

TEST(Statistics, DoNotVanish) {
  std::vector<float> tiny = random_floats(4096, 0.0f);
  for (float& number : tiny) number *= 1e-30f;
  expect_right(tiny);
}

TEST(Statistics, DoNotOverflow) {
  const std::vector<float> huge(4096, std::numeric_limits<float>::max());
  const Statistics found = compute_statistics(huge);
  EXPECT_EQ(found.count, 4096u);
  EXPECT_DOUBLE_EQ(found.mean, std::numeric_limits<float>::max());
  EXPECT_EQ(found.deviation(), 0.0);
}

TEST(Statistics, OfPartsAddUp) {
  constexpr std::size_t piece = statistics_piece;
  const std::vector<float> numbers = random_floats(5 * piece, 0.5f);
  const std::span all(numbers);
  Statistics parts = compute_statistics(all.first(2 * piece));
  parts.add(compute_statistics(all.subspan(2 * piece, piece)));
  parts.add(compute_statistics(all.subspan(3 * piece)));
  const Statistics whole = compute_statistics(all);
  EXPECT_EQ(parts.count, whole.count);
  EXPECT_DOUBLE_EQ(parts.mean, whole.mean);
  EXPECT_NEAR(parts.squares, whole.squares, 1e-9 * whole.squares);
}

class LaneSums : public testing::TestWithParam<std::int64_t> {};

TEST_P(LaneSums, KernelsEqualTheReference) {
  const ForcedTarget forced(GetParam());
  std::vector<float> numbers = random_floats(4096, 0.0f);
  for (std::size_t i = 0; i < numbers.size(); i += 7) numbers[i] = i % 2 == 0 ? 0.0f : -0.0f;
  for (const std::size_t count : {0u, 32u, 96u, 4096u}) {
    codec::LaneSums expected;
    codec::LaneSums actual;
    codec::sum_lanes_ref(numbers.data(), count, expected);
    codec::sum_lanes(numbers.data(), count, actual);
    EXPECT_TRUE(same_floats(expected.sums, actual.sums));
    EXPECT_TRUE(same_floats(expected.squares, actual.squares));
    EXPECT_TRUE(same_floats(expected.minima, actual.minima));
    EXPECT_TRUE(same_floats(expected.maxima, actual.maxima));
    EXPECT_EQ(expected.zeros, actual.zeros);
  }
}

void expect_same(const Statistics& expected, const Statistics& actual) {
  EXPECT_EQ(expected.count, actual.count);
  EXPECT_EQ(expected.zeros, actual.zeros);
  EXPECT_EQ(expected.nans, actual.nans);
  EXPECT_EQ(expected.infinities, actual.infinities);
  EXPECT_EQ(expected.min, actual.min);
  EXPECT_EQ(expected.max, actual.max);
  EXPECT_EQ(expected.mean, actual.mean);
  EXPECT_EQ(expected.squares, actual.squares);
}

/// Types below 4 bits are summed by groups in double; their floats, in lanes, less exactly where
/// one of them is much greater than all others.
void expect_same_as_floats(const TensorTypeInfo& info, const Statistics& floats,
                           const Statistics& actual) {
  if (codec::find_group_sums(info.type) == nullptr) return expect_same(floats, actual);
  EXPECT_NEAR(floats.mean, actual.mean, 1e-5 * (floats.deviation() + std::abs(floats.mean)));
  EXPECT_NEAR(floats.squares, actual.squares, 1e-4 * floats.squares);
  Statistics rest = actual;
  rest.mean = floats.mean;
  rest.squares = floats.squares;
  expect_same(floats, rest);
}

std::vector<float> decoded(const TensorTypeInfo& info, std::span<const std::byte> blocks) {
  std::vector<float> floats(blocks.size() / info.block_bytes * info.block_elements);
  EXPECT_TRUE(dequantize(info.type, blocks, floats));
  return floats;
}

class BlockStatistics : public testing::TestWithParam<TypeAndTarget> {};

/// Blocks of a type, made of `numbers` where it can be encoded, else of random bytes.
std::vector<std::byte> blocks_of(const TensorTypeInfo& info, std::span<const float> numbers) {
  std::vector<std::byte> blocks(numbers.size() / info.block_elements * info.block_bytes);
  const std::vector<float> weights(numbers.size(), 1.0f);
  if (!quantize(info.type, numbers, numbers.size(), blocks, {.importance = weights})) {
    Random random;
    for (std::byte& byte : blocks) byte = std::byte{static_cast<unsigned char>(random.below(256))};
  }
  return blocks;
}

TEST_P(BlockStatistics, AreThoseOfTheirFloats) {
  const auto& [info, target] = GetParam();
  const ForcedTarget forced(target);
  for (const float center : {0.0f, 5.0f}) {
    for (const std::size_t count : {0u, 256u, 4096u, 16384u + 4096u + 768u}) {
      const std::vector<std::byte> blocks = blocks_of(info, random_floats(count, center));
      const auto found = compute_statistics(info.type, blocks);
      ASSERT_TRUE(found);
      expect_same_as_floats(info, compute_statistics(decoded(info, blocks)), *found);
    }
  }
}

TEST_P(BlockStatistics, AreRightForAnyBytes) {
  const auto& [info, target] = GetParam();
  const ForcedTarget forced(target);
  Random random;
  std::vector<std::byte> blocks(4096 / info.block_elements * info.block_bytes);
  for (int round = 0; round < 20; ++round) {
    for (std::byte& byte : blocks) byte = std::byte{static_cast<unsigned char>(random.below(256))};
    const auto found = compute_statistics(info.type, blocks);
    ASSERT_TRUE(found);
    expect_same_as_floats(info, compute_statistics(decoded(info, blocks)), *found);
  }
}

TEST_P(BlockStatistics, OfPiecesAfterAnyBytes) {
  const auto& [info, target] = GetParam();
  const ForcedTarget forced(target);
  Random random;
  std::vector<std::byte> blocks = blocks_of(info, random_floats(3 * statistics_piece, 0.0f));
  for (int round = 0; round < 20; ++round) {
    for (std::byte& byte : std::span(blocks).first(4 * info.block_bytes)) {
      byte = std::byte{static_cast<unsigned char>(random.below(256))};
    }
    const auto found = compute_statistics(info.type, blocks);
    ASSERT_TRUE(found);
    expect_same_as_floats(info, compute_statistics(decoded(info, blocks)), *found);
  }
}

/// Lanes of sums that are not finite are compared no further.
void expect_same_lanes(std::span<const double> expected, std::span<const double> actual) {
  for (std::size_t lane = 0; lane < expected.size(); ++lane) {
    if (std::isfinite(expected[lane])) {
      EXPECT_EQ(expected[lane], actual[lane]);
    } else {
      EXPECT_FALSE(std::isfinite(actual[lane]));
    }
  }
}

TEST_P(BlockStatistics, GroupKernelsEqualTheReference) {
  const auto& [info, target] = GetParam();
  const ForcedTarget forced(target);
  const codec::SumGroups sum_groups = codec::find_group_sums(info.type);
  if (sum_groups == nullptr) return;  // summed as floats
  constexpr std::size_t run_count = 64;
  Random random;
  std::vector<std::byte> blocks = blocks_of(info, random_floats(run_count * 256, 0.0f));
  for (int round = 0; round < 10; ++round) {
    codec::GroupSums expected;
    codec::GroupSums actual;
    codec::sum_groups_ref(info.type, blocks.data(), run_count, expected);
    sum_groups(blocks.data(), run_count, {}, actual);
    expect_same_lanes(expected.sums, actual.sums);
    expect_same_lanes(expected.squares, actual.squares);
    for (std::byte& byte : blocks) byte = std::byte{static_cast<unsigned char>(random.below(256))};
  }
}

TEST_P(BlockStatistics, AreTheSameOnEveryCpu) {
  const auto& [info, target] = GetParam();
  const std::vector<std::byte> blocks = blocks_of(info, random_floats(8192, 0.0f));
  const auto expected = compute_statistics(info.type, blocks);
  ASSERT_TRUE(expected);
  const ForcedTarget forced(target);
  expect_same(*expected, *compute_statistics(info.type, blocks));
}

TEST_P(BlockStatistics, AreTheSameInTheOtherByteOrder) {
  const auto& [info, target] = GetParam();
  const ForcedTarget forced(target);
  const std::vector<std::byte> blocks = blocks_of(info, random_floats(4096, 0.0f));
  std::vector<std::byte> swapped = blocks;
  ASSERT_TRUE(swap_byte_order(info.type, swapped));
  expect_same(*compute_statistics(info.type, blocks),
              *compute_statistics(info.type, swapped, Endian::big));
}

TEST(Statistics, HaveNoNegativeZero) {
  const std::vector<float> zeros(33, -0.0f);
  EXPECT_FALSE(std::signbit(compute_statistics(zeros).min));
  EXPECT_FALSE(std::signbit(compute_statistics(zeros).max));
}

INSTANTIATE_TEST_SUITE_P(, BlockStatistics, every_type_and_target(), case_name);

TEST(Statistics, OfBlocksInTheOtherByteOrder) {
  const std::vector<std::byte> little = {std::byte{0}, std::byte{0x3C}, std::byte{0},
                                         std::byte{0x40}};
  const std::vector<std::byte> big = {std::byte{0x3C}, std::byte{0}, std::byte{0x40}, std::byte{0}};
  expect_same(*compute_statistics(TensorType::f16, little),
              *compute_statistics(TensorType::f16, big, Endian::big));
  EXPECT_EQ(compute_statistics(TensorType::f16, big, Endian::big)->mean, 1.5);
}

TEST(Statistics, OfWhatAreNoBlocks) {
  const std::vector<std::byte> bytes(17);
  EXPECT_EQ(compute_statistics(TensorType::q4_0, bytes).error().code, Errc::size_mismatch);
  EXPECT_EQ(compute_statistics(static_cast<TensorType>(4), bytes).error().code,
            Errc::unsupported_type);
}

INSTANTIATE_TEST_SUITE_P(, LaneSums, testing::ValuesIn(cpu_targets()),
                         [](const auto& test) { return target_name(test.param); });

}  // namespace
}  // namespace ingot::test
