// SPDX-License-Identifier: MIT
// Decoding and encoding through the C interface.
#include <gmock/gmock.h>

#include <vector>

#include "capi/core/sample_bytes.hpp"
#include "ingot/quantize.hpp"

namespace ingot::test {
namespace {

class CapiCodec : public SampleTest {};

TEST_F(CapiCodec, TypesSayWhetherTheyWantWeights) {
  EXPECT_EQ(ingot_type_weights(INGOT_TYPE_Q8_0), INGOT_WEIGHTS_UNUSED);
  EXPECT_EQ(ingot_type_weights(INGOT_TYPE_Q4_K), INGOT_WEIGHTS_OPTIONAL);
  EXPECT_EQ(ingot_type_weights(INGOT_TYPE_IQ2_S), INGOT_WEIGHTS_RECOMMENDED);
  EXPECT_EQ(ingot_type_weights(INGOT_TYPE_IQ2_XXS), INGOT_WEIGHTS_REQUIRED);
  EXPECT_EQ(ingot_type_weights(4), -1);
}

TEST_F(CapiCodec, EncodesAndDecodesInBothByteOrders) {
  std::vector<float> floats(64);
  for (std::size_t i = 0; i < floats.size(); ++i) floats[i] = static_cast<float>(i) - 127.0f;
  std::vector<unsigned char> blocks(68);
  std::vector<float> decoded(64);
  std::vector<std::uint16_t> halves(64);
  for (const std::uint32_t is_big_endian : {0u, 1u}) {
    expect_code(INGOT_OK, [&](ingot_error* e) {
      return ingot_quantize(INGOT_TYPE_Q8_0, floats.data(), 64, 32, nullptr, blocks.data(),
                            blocks.size(), is_big_endian, e);
    });
    // The first block's largest magnitude is 127, so its scale is 1: 0x3C00.
    EXPECT_EQ(blocks[is_big_endian != 0 ? 0 : 1], 0x3C);
    expect_code(INGOT_OK, [&](ingot_error* e) {
      return ingot_dequantize(INGOT_TYPE_Q8_0, blocks.data(), blocks.size(), decoded.data(), 64,
                              is_big_endian, e);
    });
    EXPECT_EQ(decoded[0], -127.0f);
    EXPECT_EQ(decoded[31], -96.0f);
    expect_code(INGOT_OK, [&](ingot_error* e) {
      return ingot_dequantize_to_f16(INGOT_TYPE_Q8_0, blocks.data(), blocks.size(), halves.data(),
                                     64, is_big_endian, e);
    });
    EXPECT_EQ(halves[31], 0xD600);  // -96
    expect_code(INGOT_OK, [&](ingot_error* e) {
      return ingot_dequantize_to_bf16(INGOT_TYPE_Q8_0, blocks.data(), blocks.size(), halves.data(),
                                      64, is_big_endian, e);
    });
    EXPECT_EQ(halves[31], 0xC2C0);
  }
  // Once: twice would change nothing.
  EXPECT_EQ(ingot_swap_byte_order(INGOT_TYPE_Q8_0, blocks.data(), blocks.size(), nullptr),
            INGOT_OK);
  EXPECT_EQ(blocks[1], 0x3C);
}

TEST_F(CapiCodec, EncodesWithMoreEffort) {
  std::vector<float> floats(64);
  for (std::size_t i = 0; i < floats.size(); ++i) floats[i] = static_cast<float>(i * 37 % 61) - 30;
  const std::vector<float> weights(32, 2.0f);
  std::vector<std::byte> expected(36);
  ASSERT_TRUE(quantize(TensorType::q4_0, floats, 32, expected,
                       {.importance = weights, .byte_order = Endian::big, .effort = Effort::best}));
  std::vector<std::byte> blocks(36);
  ingot_quantize_options options = {.struct_size = sizeof options,
                                    .weights = weights.data(),
                                    .effort = INGOT_EFFORT_BEST,
                                    .is_big_endian = 1};
  const auto encode = [&](ingot_error* e) {
    return ingot_quantize_with(INGOT_TYPE_Q4_0, floats.data(), 64, 32, blocks.data(), 36, &options,
                               e);
  };
  expect_code(INGOT_OK, encode);
  EXPECT_EQ(blocks, expected);
  options.effort = 3;
  expect_code(INGOT_ERROR_INVALID_ARGUMENT, encode);
  options = {.struct_size = 8, .weights = nullptr, .effort = 0, .is_big_endian = 0};
  expect_code(INGOT_ERROR_INVALID_ARGUMENT, encode);
  ASSERT_TRUE(quantize(TensorType::q4_0, floats, 32, expected));
  expect_code(INGOT_OK, [&](ingot_error* e) {
    return ingot_quantize_with(INGOT_TYPE_Q4_0, floats.data(), 64, 32, blocks.data(), 36, nullptr,
                               e);
  });
  EXPECT_EQ(blocks, expected);
}

TEST_F(CapiCodec, DecodesRowsOfTensors) {
  // The sample's data are the bytes 1, 2, 3, ...
  std::vector<float> floats(4);
  expect_code(INGOT_OK, [&](ingot_error* e) {
    return ingot_dequantize_rows(model(), 0, 1, 1, floats.data(), floats.size(), e);
  });
  const std::uint32_t bits = 0x14131211;
  EXPECT_EQ(std::memcmp(&floats[0], &bits, sizeof bits), 0);
  expect_code(INGOT_ERROR_INDEX_OUT_OF_RANGE, [&](ingot_error* e) {
    return ingot_dequantize_rows(model(), 0, 2, 1, floats.data(), floats.size(), e);
  });
  expect_code(INGOT_ERROR_INDEX_OUT_OF_RANGE, [&](ingot_error* e) {
    return ingot_dequantize_rows(model(), sample_tensor_count, 0, 1, floats.data(), 4, e);
  });
  expect_code(INGOT_ERROR_INVALID_ARGUMENT, [&](ingot_error* e) {
    return ingot_dequantize_rows(nullptr, 0, 0, 1, floats.data(), 4, e);
  });
}

TEST_F(CapiCodec, RefusesWhatMakesNoSense) {
  std::vector<float> floats(256);
  std::vector<unsigned char> blocks(66);
  expect_code(INGOT_ERROR_WEIGHTS_REQUIRED, [&](ingot_error* e) {
    return ingot_quantize(INGOT_TYPE_IQ2_XXS, floats.data(), 256, 256, nullptr, blocks.data(), 66,
                          0, e);
  });
  expect_code(INGOT_ERROR_UNSUPPORTED_TYPE, [&](ingot_error* e) {
    return ingot_dequantize(4, blocks.data(), 66, floats.data(), 256, 0, e);
  });
  expect_code(INGOT_ERROR_SIZE_MISMATCH, [&](ingot_error* e) {
    return ingot_dequantize(INGOT_TYPE_IQ2_XXS, blocks.data(), 65, floats.data(), 256, 0, e);
  });
  expect_code(INGOT_ERROR_INVALID_ARGUMENT, [&](ingot_error* e) {
    return ingot_dequantize(INGOT_TYPE_IQ2_XXS, nullptr, 66, floats.data(), 256, 0, e);
  });
  expect_code(INGOT_ERROR_INVALID_ARGUMENT, [&](ingot_error* e) {
    return ingot_quantize(INGOT_TYPE_F32, nullptr, 256, 256, nullptr, blocks.data(), 66, 0, e);
  });
  expect_code(INGOT_OK, [&](ingot_error* e) {
    return ingot_dequantize(INGOT_TYPE_F32, nullptr, 0, nullptr, 0, 0, e);
  });
}

}  // namespace
}  // namespace ingot::test
