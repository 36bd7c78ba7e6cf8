// SPDX-License-Identifier: MIT
// Memory estimates from C.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "capi/core/sample_bytes.hpp"
#include "support/header_sketch.hpp"

namespace ingot::test {
namespace {

/// A small llama, whose data is there: 2 layers, width 64, 10 tokens.
class CapiEstimate : public testing::Test {
 protected:
  void SetUp() override {
    HeaderSketch sketch("llama");
    set_attention(sketch, {.layers = 2,
                           .embedding = 64,
                           .heads = 2,
                           .kv_heads = 1,
                           .head_width = 32,
                           .feed_forward = 128,
                           .vocabulary = 10,
                           .context = 4096});
    sketch.tensor("token_embd.weight", {64, 10}).tensor("output.weight", {64, 10});
    sketch.tensor("blk.0.ffn_up.weight", {64, 128}).tensor("blk.1.ffn_up.weight", {64, 128});
    bytes_ = sketch.bytes();
    bytes_.resize(bytes_.size() + 2 * 1280 + 2 * 16384);
    ASSERT_EQ(ingot_open_memory(bytes_.data(), bytes_.size(), nullptr, &model_, nullptr), INGOT_OK);
  }
  void TearDown() override { ingot_close(model_); }

  [[nodiscard]] ingot_memory_use place(const ingot_run_options& options, std::uint64_t at) const {
    ingot_memory_use use = {};
    use.struct_size = sizeof use;
    expect_code(INGOT_OK, [&](ingot_error* e) {
      return ingot_estimate_place(model_, &options, at, &use, e);
    });
    return use;
  }

  Bytes bytes_;
  ingot_model* model_ = nullptr;
};

TEST_F(CapiEstimate, DefaultsAreThoseOfTheEngine) {
  ingot_memory_estimate estimate = {};
  estimate.struct_size = sizeof estimate;
  expect_code(INGOT_OK,
              [&](ingot_error* e) { return ingot_estimate(model_, nullptr, &estimate, e); });
  EXPECT_EQ(estimate.context, 4096U);
  EXPECT_EQ(estimate.weights_bytes, 2U * 1280 + 2 * 16384);
  EXPECT_EQ(estimate.cache_bytes, 2U * 4096 * (32 + 32) * 2);
  EXPECT_EQ(estimate.output_bytes, 40U);
  EXPECT_EQ(estimate.gpu_layers, 0U);
  EXPECT_EQ(estimate.verdict, INGOT_FITS_UNKNOWN);
}

TEST_F(CapiEstimate, OptionsCount) {
  const std::uint64_t devices[] = {1U << 30, 1U << 20};
  ingot_run_options options = {};
  options.struct_size = sizeof options;
  options.context = 2048;
  options.sequences = 2;
  options.key_type = "q8_0";
  options.device_bytes = devices;
  options.device_count = 1;
  const ingot_memory_use device = place(options, 0);
  EXPECT_EQ(device.layer_count, 2U);
  EXPECT_EQ(device.weights_bytes, 1280U + 2 * 16384);
  EXPECT_EQ(device.cache_bytes, 2U * 2048 * (34 + 64));
  EXPECT_EQ(device.verdict, INGOT_FITS);
  EXPECT_EQ(place(options, INGOT_HOST).weights_bytes, 1280U);
  options.limits_gpu_layers = 1;
  EXPECT_EQ(place(options, 0).layer_count, 0U);
  options.gpu_layers = 2;
  EXPECT_EQ(place(options, 0).layer_count, 1U);
  options.limits_gpu_layers = 0;
  options.host_bytes = 1000;
  EXPECT_EQ(place(options, INGOT_HOST).verdict, INGOT_DOES_NOT_FIT);
}

TEST_F(CapiEstimate, RefusesWhatMakesNoSense) {
  ingot_run_options options = {};
  options.struct_size = sizeof options;
  ingot_memory_use use = {};
  use.struct_size = sizeof use;
  const auto refused = [&](ingot_code code, std::uint64_t at = INGOT_HOST) {
    expect_code(
        code, [&](ingot_error* e) { return ingot_estimate_place(model_, &options, at, &use, e); });
  };
  refused(INGOT_ERROR_INDEX_OUT_OF_RANGE, 0);
  options.key_type = "no type";
  refused(INGOT_ERROR_INVALID_ARGUMENT);
  options.key_type = "q4_k";
  refused(INGOT_ERROR_RUN_REFUSED);
  options.key_type = nullptr;
  options.value_type = "q8_0";
  options.is_without_flash_attention = 1;
  refused(INGOT_ERROR_RUN_REFUSED);
  options.value_type = nullptr;
  options.device_count = 1;
  refused(INGOT_ERROR_INVALID_ARGUMENT);
  options.device_count = 0;
  options.struct_size = 8;
  refused(INGOT_ERROR_INVALID_ARGUMENT);
  expect_code(INGOT_ERROR_INVALID_ARGUMENT,
              [&](ingot_error* e) { return ingot_estimate(model_, nullptr, nullptr, e); });
  expect_code(INGOT_ERROR_INVALID_ARGUMENT,
              [&](ingot_error* e) { return ingot_estimate_place(nullptr, nullptr, 0, &use, e); });
}

}  // namespace
}  // namespace ingot::test
