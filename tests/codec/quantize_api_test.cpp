// SPDX-License-Identifier: MIT
// dequantize, quantize and swap_byte_order as users call them.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <vector>

#include "ingot/half.hpp"
#include "ingot/quantize.hpp"
#include "support/codec_cases.hpp"
#include "support/expect_error.hpp"
#include "support/random.hpp"

namespace ingot::test {
namespace {

constexpr std::size_t api_row_elements = 512;  // whole blocks of every type
constexpr std::size_t api_row_count = 3;

std::vector<float> some_floats() {
  std::vector<float> floats(api_row_elements * api_row_count);
  Random random;
  for (float& value : floats) value = static_cast<float>(random.below(2001)) / 1000.0f - 1.0f;
  return floats;
}

class EveryType : public testing::TestWithParam<TensorTypeInfo> {
 protected:
  /// Rows of random floats, encoded.
  [[nodiscard]] std::vector<std::byte> encode(Endian byte_order = Endian::little) const {
    std::vector<std::byte> blocks(block_count_ * info_.block_bytes);
    EXPECT_THAT(quantize(info_.type, floats_, api_row_elements, blocks,
                         {.importance = weights_, .byte_order = byte_order}),
                Succeeds());
    return blocks;
  }
  [[nodiscard]] std::vector<float> decode(std::span<const std::byte> blocks,
                                          const DequantizeOptions& options = {}) const {
    std::vector<float> floats(floats_.size());
    EXPECT_THAT(dequantize(info_.type, blocks, floats, options), Succeeds());
    return floats;
  }

  const TensorTypeInfo info_ = GetParam();
  const std::size_t block_count_ = api_row_elements * api_row_count / info_.block_elements;
  const std::vector<float> floats_ = some_floats();
  const std::vector<float> weights_ = std::vector<float>(api_row_elements, 1.0f);
};

TEST_P(EveryType, BigEndianBlocksAreTheSameNumbers) {
  const auto little = encode();
  auto swapped = little;
  ASSERT_THAT(swap_byte_order(info_.type, swapped), Succeeds());
  EXPECT_TRUE(same_blocks(swapped, encode(Endian::big), info_.block_bytes));
  EXPECT_TRUE(same_floats(decode(little), decode(swapped, {.byte_order = Endian::big})));
  ASSERT_THAT(swap_byte_order(info_.type, swapped), Succeeds());
  EXPECT_TRUE(same_blocks(little, swapped, info_.block_bytes));
}

TEST_P(EveryType, StreamedStoresWriteTheSame) {
  const auto blocks = encode();
  EXPECT_TRUE(same_floats(decode(blocks), decode(blocks, {.stores = OutputStores::streamed})));
}

TEST_P(EveryType, HalvesAreTheRoundedFloats) {
  const auto blocks = encode();
  const auto floats = decode(blocks);
  std::vector<std::uint16_t> halves(floats.size());
  ASSERT_THAT(dequantize_to_f16(info_.type, blocks, halves), Succeeds());
  for (std::size_t i = 0; i < floats.size(); ++i) ASSERT_EQ(halves[i], f16_from_f32(floats[i]));
  ASSERT_THAT(dequantize_to_bf16(info_.type, blocks, halves), Succeeds());
  for (std::size_t i = 0; i < floats.size(); ++i) ASSERT_EQ(halves[i], bf16_from_f32(floats[i]));
}

TEST_P(EveryType, RowsAreIndependent) {
  const auto together = encode();
  std::vector<std::byte> row(together.size() / api_row_count);
  for (std::size_t i = 0; i < api_row_count; ++i) {
    ASSERT_THAT(
        quantize(info_.type, std::span(floats_).subspan(i * api_row_elements, api_row_elements),
                 api_row_elements, row, {.importance = weights_}),
        Succeeds());
    EXPECT_TRUE(same_blocks(std::span(together).subspan(i * row.size(), row.size()), row,
                            info_.block_bytes));
  }
}

TEST_P(EveryType, SizesMustFit) {
  const auto blocks = encode();
  std::vector<float> floats(floats_.size() - 1);
  EXPECT_THAT(dequantize(info_.type, blocks, floats), FailsWith(Errc::size_mismatch));
  floats.resize(floats_.size());
  EXPECT_THAT(dequantize(info_.type, std::span(blocks).first(blocks.size() - 1), floats),
              FailsWith(Errc::size_mismatch));
  std::vector<std::byte> short_blocks(blocks.size() - 1);
  EXPECT_THAT(
      quantize(info_.type, floats_, api_row_elements, short_blocks, {.importance = weights_}),
      FailsWith(Errc::size_mismatch));
  std::vector<std::byte> same_size(blocks.size());
  EXPECT_THAT(quantize(info_.type, floats_, api_row_elements * 2, same_size),
              FailsWith(Errc::size_mismatch));
  EXPECT_THAT(dequantize(info_.type, {}, {}), Succeeds());
  EXPECT_THAT(quantize(info_.type, {}, 0, {}), Succeeds());
}

INSTANTIATE_TEST_SUITE_P(, EveryType, testing::ValuesIn(live_tensor_types),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(Quantize, RefusesTypesThatNobodyKnows) {
  for (const std::uint32_t id : {4u, 31u, 43u, 0xFFFFFFFFu}) {
    const auto type = static_cast<TensorType>(id);
    EXPECT_THAT(dequantize(type, {}, {}), FailsWith(Errc::unsupported_type));
    EXPECT_THAT(quantize(type, {}, 0, {}), FailsWith(Errc::unsupported_type));
    EXPECT_THAT(swap_byte_order(type, {}), FailsWith(Errc::unsupported_type));
  }
}

TEST(Quantize, RowsAreWholeBlocks) {
  const std::vector<float> floats(64);
  std::vector<std::byte> blocks(36);
  EXPECT_THAT(quantize(TensorType::q4_0, floats, 16, blocks),
              FailsWith(Errc::row_not_whole_blocks));
  EXPECT_THAT(quantize(TensorType::q4_0, floats, 32, blocks), Succeeds());
}

TEST(Quantize, WeightsAreCheckedFirst) {
  const std::vector<float> floats(256);
  std::vector<std::byte> blocks(66, std::byte{0xAA});
  const auto before = blocks;
  EXPECT_THAT(quantize(TensorType::iq2_xxs, floats, 256, blocks),
              FailsWith(Errc::weights_required));
  std::vector<float> weights(255, 1.0f);
  EXPECT_THAT(quantize(TensorType::iq2_xxs, floats, 256, blocks, {.importance = weights}),
              FailsWith(Errc::size_mismatch));
  weights.push_back(std::numeric_limits<float>::infinity());
  EXPECT_THAT(quantize(TensorType::iq2_xxs, floats, 256, blocks, {.importance = weights}),
              FailsWith(Errc::invalid_argument));
  EXPECT_EQ(blocks, before);
}

}  // namespace
}  // namespace ingot::test
