// SPDX-License-Identifier: MIT
#include "ingot/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "codec/blocks/block_fields.hpp"
#include "codec/blocks/iq4.hpp"
#include "codec/blocks/k2.hpp"
#include "codec/blocks/k4.hpp"
#include "codec/blocks/k5.hpp"
#include "codec/blocks/k6.hpp"
#include "codec/blocks/legacy4.hpp"
#include "codec/blocks/legacy5.hpp"
#include "codec/codec.hpp"
#include "codec/statistics/lane_sums.hpp"
#include "codec/statistics/runs.hpp"
#include "ingot/quantize.hpp"
#include "support/codec_cases.hpp"
#include "support/random.hpp"

namespace ingot::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> random_floats(std::size_t count, float center) {
  std::vector<float> floats(count);
  Random random;
  for (float& value : floats) {
    value = center + (static_cast<float>(random.below(200001)) / 100000.0f - 1.0f) * 0.01f;
  }
  return floats;
}

/// By the definitions, in long double.
void expect_right(const std::vector<float>& numbers) {
  long double sum = 0;
  long double squares = 0;
  float least = infinity;
  float most = -infinity;
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
  for (const std::size_t count : {1u, 15u, 16u, 17u, 4095u, 4096u, 4097u, 100000u}) {
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
  numbers.insert(numbers.begin() + 100, {nan, infinity, -infinity, -nan});
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
  for (const std::size_t count : {0u, 16u, 48u, 4096u}) {
    codec::LaneSums expected;
    codec::LaneSums actual;
    codec::sum_lanes_ref(numbers.data(), count, 0.25f, expected);
    codec::sum_lanes(numbers.data(), count, 0.25f, actual);
    EXPECT_TRUE(same_floats(expected.distances, actual.distances));
    EXPECT_TRUE(same_floats(expected.squares, actual.squares));
    EXPECT_TRUE(same_floats(expected.minima, actual.minima));
    EXPECT_TRUE(same_floats(expected.maxima, actual.maxima));
    EXPECT_EQ(expected.zeros, actual.zeros);
  }
}

/// All but the sums.
void expect_same_counts(const Statistics& expected, const Statistics& actual) {
  EXPECT_EQ(expected.count, actual.count);
  EXPECT_EQ(expected.zeros, actual.zeros);
  EXPECT_EQ(expected.nans, actual.nans);
  EXPECT_EQ(expected.infinities, actual.infinities);
  EXPECT_EQ(expected.min, actual.min);
  EXPECT_EQ(expected.max, actual.max);
}

void expect_same(const Statistics& expected, const Statistics& actual) {
  expect_same_counts(expected, actual);
  EXPECT_EQ(expected.mean, actual.mean);
  EXPECT_EQ(expected.squares, actual.squares);
}

void expect_near(const Statistics& expected, const Statistics& actual) {
  expect_same_counts(expected, actual);
  const double deviation = expected.deviation();
  EXPECT_NEAR(expected.mean, actual.mean, 1e-6 * (deviation + std::abs(expected.mean)));
  EXPECT_NEAR(deviation, actual.deviation(), 1e-5 * deviation + 1e-7 * std::abs(expected.mean));
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
  if (!quantize(info.type, numbers, numbers.size(), blocks, {.weights = weights})) {
    Random random;
    for (std::byte& byte : blocks) byte = std::byte{static_cast<unsigned char>(random.below(256))};
  }
  return blocks;
}

/// Random bytes, with such scales as models have.
std::vector<std::byte> random_blocks(const TensorTypeInfo& info, std::size_t count) {
  std::vector<std::byte> blocks = blocks_of(info, random_floats(count, 0.0f));
  Random random;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::byte kept = blocks[i];
    blocks[i] = std::byte{static_cast<unsigned char>(random.below(256))};
    const std::size_t block = i / info.block_bytes * info.block_bytes;
    const auto floats = decoded(info, std::span(blocks).subspan(block, info.block_bytes));
    const bool is_usual = std::all_of(floats.begin(), floats.end(),
                                      [](float value) { return std::abs(value) < 10.0f; });
    if (!is_usual) blocks[i] = kept;
  }
  return blocks;
}

TEST_P(BlockStatistics, AreThoseOfTheirFloats) {
  const auto& [info, target] = GetParam();
  const ForcedTarget forced(target);
  const bool has_runs = codec::run_shape_of(info.type).elements != 0;
  for (const float center : {0.0f, 5.0f}) {
    for (const std::size_t count : {0u, 256u, 4096u, 16384u + 768u}) {
      const std::vector<std::byte> blocks = blocks_of(info, random_floats(count, center));
      const Statistics expected = compute_statistics(decoded(info, blocks));
      const auto found = compute_statistics(info.type, blocks);
      ASSERT_TRUE(found);
      if (has_runs) {
        expect_near(expected, *found);
      } else {
        expect_same(expected, *found);
      }
    }
  }
}

TEST_P(BlockStatistics, AreRightForAnyCodes) {
  const auto& [info, target] = GetParam();
  const ForcedTarget forced(target);
  const std::vector<std::byte> blocks = random_blocks(info, 4096);
  const auto found = compute_statistics(info.type, blocks);
  ASSERT_TRUE(found);
  expect_near(compute_statistics(decoded(info, blocks)), *found);
}

TEST_P(BlockStatistics, CountZerosWhereScalesAreZero) {
  const auto& [info, target] = GetParam();
  const ForcedTarget forced(target);
  std::vector<std::byte> blocks = blocks_of(info, random_floats(4096, 0.0f));
  std::fill_n(blocks.begin(), 5 * info.block_bytes, std::byte{0});
  const Statistics expected = compute_statistics(decoded(info, blocks));
  const auto found = compute_statistics(info.type, blocks);
  ASSERT_TRUE(found);
  expect_near(expected, *found);
}

TEST_P(BlockStatistics, KernelsEqualTheReference) {
  const auto& [info, target] = GetParam();
  const ForcedTarget forced(target);
  const codec::Codec& codec = *codec::find_codec(info.type);
  for (const std::size_t count : {256u, 768u, 4096u}) {
    for (const bool is_random : {false, true}) {
      const std::vector<std::byte> blocks =
          is_random ? random_blocks(info, count) : blocks_of(info, random_floats(count, 0.0f));
      const std::size_t block_count = blocks.size() / info.block_bytes;
      codec::NumberSums expected;
      codec::NumberSums actual;
      codec::sum_blocks_ref(info, codec.dequantize_ref, blocks.data(), block_count, expected);
      codec.sum(blocks.data(), block_count, actual);
      EXPECT_EQ(expected.sum, actual.sum);
      EXPECT_EQ(expected.squares, actual.squares);
      EXPECT_EQ(expected.min, actual.min);
      EXPECT_EQ(expected.max, actual.max);
      EXPECT_EQ(expected.zeros, actual.zeros);
    }
  }
}

TEST_P(BlockStatistics, FindWhatIsNoNumber) {
  const auto& [info, target] = GetParam();
  const ForcedTarget forced(target);
  Random random;
  std::vector<std::byte> blocks(4096 / info.block_elements * info.block_bytes);
  for (int round = 0; round < 20; ++round) {
    for (std::byte& byte : blocks) byte = std::byte{static_cast<unsigned char>(random.below(256))};
    const Statistics expected = compute_statistics(decoded(info, blocks));
    const auto found = compute_statistics(info.type, blocks);
    ASSERT_TRUE(found);
    expect_same_counts(expected, *found);
  }
}

TEST_P(BlockStatistics, AreTheSameInTheOtherByteOrder) {
  const auto& [info, target] = GetParam();
  const ForcedTarget forced(target);
  const std::vector<std::byte> blocks = blocks_of(info, random_floats(4096, 0.0f));
  std::vector<std::byte> swapped = blocks;
  codec::swap_fields(codec::swapped_fields(info.type), info.block_bytes, swapped);
  expect_same(*compute_statistics(info.type, blocks),
              *compute_statistics(info.type, swapped, Endian::big));
}

class Runs : public testing::TestWithParam<std::int64_t> {};

codec::NumberSums sums_of(TensorType type, std::span<const std::byte> blocks) {
  codec::NumberSums sums;
  const std::size_t block_count = blocks.size() / find_type(type)->block_bytes;
  codec::find_codec(type)->sum(blocks.data(), block_count, sums);
  return sums;
}

// The largest sums of squares that runs can have: a whole super-block would be too long a run.
TEST_P(Runs, OfLargestMultiplesDoNotOverflow) {
  const ForcedTarget forced(GetParam());
  codec::BlockQ6_K block{};
  block.groups.fill(0x80);                // -128
  codec::put_f16(block.scale.data(), 1);  // codes of 0 are levels of -32
  const codec::NumberSums sums = sums_of(TensorType::q6_k, std::as_bytes(std::span(&block, 1)));
  EXPECT_EQ(sums.sum, 256.0 * 4096.0);
  EXPECT_EQ(sums.squares, 256.0 * 4096.0 * 4096.0);
  EXPECT_EQ(sums.min, 4096.0f);
  EXPECT_EQ(sums.zeros, 0u);

  codec::BlockIQ4_XS other{};  // group scales of -32, levels of -127
  codec::put_f16(other.scale.data(), 1);
  const codec::NumberSums other_sums =
      sums_of(TensorType::iq4_xs, std::as_bytes(std::span(&other, 1)));
  EXPECT_EQ(other_sums.sum, 256.0 * 4064.0);
  EXPECT_EQ(other_sums.squares, 256.0 * 4064.0 * 4064.0);
}

/// The zeros of 12 blocks that are filled alike. The first four have larger scales, so that the
/// others need not be looked at for extremes.
template <class Block, class Fill>
std::uint64_t zeros_of(TensorType type, const Fill& fill) {
  std::vector<Block> blocks(12);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    fill(blocks[b]);
    if (b < 4) {
      // Of both signs.
      const float larger = b % 2 == 0 ? 64.0f : -64.0f;
      codec::put_f16(blocks[b].scale.data(), larger);
      if constexpr (requires { blocks[b].minimum; }) {
        codec::put_f16(blocks[b].minimum.data(), 0.125f);
      }
    } else {
      codec::put_f16(blocks[b].scale.data(), 0.75f);
    }
  }
  const std::span all(blocks);
  return sums_of(type, std::as_bytes(all)).zeros - sums_of(type, std::as_bytes(all.first(4))).zeros;
}

TEST_P(Runs, CountZerosThatMinimumsMake) {
  const ForcedTarget forced(GetParam());
  for (unsigned code = 0; code < 16; ++code) {
    const float distance = 0.75f * static_cast<float>(code);
    const auto fill = [&](auto& block) {
      block.codes.fill(static_cast<std::uint8_t>(code | code << 4));
      codec::put_f16(block.minimum.data(), -distance);
    };
    EXPECT_EQ(zeros_of<codec::BlockQ4_1>(TensorType::q4_1, fill), 32u * 8) << code;
    EXPECT_EQ(zeros_of<codec::BlockQ5_1>(TensorType::q5_1, fill), 32u * 8) << code;
    const auto fill_groups = [&](auto& block) {
      fill(block);
      codec::put_f16(block.minimum.data(), distance);
      // The scales and minimums of the first four groups are 1; of the others, 1 and 2.
      block.groups = {1, 1, 1, 1, 1, 1, 1, 1, 0x21, 0x21, 0x21, 0x21};
    };
    const std::size_t zeros = (code == 0 ? 256 : 128) * 8;
    EXPECT_EQ(zeros_of<codec::BlockQ4_K>(TensorType::q4_k, fill_groups), zeros) << code;
    EXPECT_EQ(zeros_of<codec::BlockQ5_K>(TensorType::q5_k, fill_groups), zeros) << code;
  }
  for (unsigned code = 0; code < 4; ++code) {
    const auto fill = [&](codec::BlockQ2_K& block) {
      block.codes.fill(static_cast<std::uint8_t>(code * 0x55));
      block.groups.fill(0x11);
      codec::put_f16(block.minimum.data(), 0.75f * static_cast<float>(code));
    };
    EXPECT_EQ(zeros_of<codec::BlockQ2_K>(TensorType::q2_k, fill), 256u * 8) << code;
  }
}

TEST_P(Runs, CountZerosOfGroupsWithoutScale) {
  const ForcedTarget forced(GetParam());
  const auto fill = [](codec::BlockQ6_K& block) {
    block.groups.fill(1);
    block.groups[5] = 0;
  };
  EXPECT_EQ(zeros_of<codec::BlockQ6_K>(TensorType::q6_k, fill), 16u * 8);
}

INSTANTIATE_TEST_SUITE_P(, Runs, testing::ValuesIn(cpu_targets()),
                         [](const auto& test) { return target_name(test.param); });

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
