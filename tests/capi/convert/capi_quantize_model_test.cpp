// SPDX-License-Identifier: MIT
// Quantizing whole models through the C interface.
#include <gmock/gmock.h>

#include <vector>

#include "capi/core/sample_bytes.hpp"
#include "ingot/model_writer.hpp"
#include "ingot/quantize_model.h"
#include "ingot/quantize_model.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

class CapiQuantizeModel : public testing::Test {
 protected:
  CapiQuantizeModel() {
    std::vector<float> floats(256 * 8);
    for (std::size_t i = 0; i < floats.size(); ++i) {
      floats[i] = static_cast<float>(static_cast<int>(i * 7919 % 255) - 127);
    }
    ModelWriter writer;
    writer.set("general.architecture", "llama");
    EXPECT_THAT(writer.add_tensor("blk.0.ffn_up.weight", TensorType::f32, {256, 8},
                                  std::as_bytes(std::span(floats))),
                Succeeds());
    EXPECT_THAT(writer.write(path_), Succeeds());
    ingot_model* model = nullptr;
    EXPECT_EQ(ingot_open(path_.c_str(), nullptr, &model, nullptr), INGOT_OK);
    model_.reset(model);
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_.path("model.gguf");
  const std::string out_ = folder_.path("out.gguf");
  ModelPointer model_;
  ingot_quantize_model_options options_ = {sizeof options_, nullptr, 0, 1, 0, 0, 0,
                                           nullptr,         nullptr};
};

TEST_F(CapiQuantizeModel, WritesWhatTheLibraryWrites) {
  expect_code(INGOT_OK, [&](ingot_error* e) {
    options_.may_replace = 1;
    return ingot_quantize_model(model_.get(), "Q8_0", out_.c_str(), &options_, e);
  });
  const auto model = Model::open(path_);
  ASSERT_THAT(model, Succeeds());
  const QuantizeModelOptions options = {.recipe = find_recipe("Q8_0")};
  const auto plan = plan_quantization(*model, options);
  ASSERT_THAT(plan, Succeeds());
  const std::string other = folder_.path("other.gguf");
  ASSERT_THAT(quantize_model(*model, *plan, options, {.path = other}, false), Succeeds());
  EXPECT_EQ(read_whole(out_), read_whole(other));
}

TEST_F(CapiQuantizeModel, TakesBitsInsteadOfAMixture) {
  options_.bits_per_weight = 5;
  options_.effort = INGOT_EFFORT_BEST;
  ASSERT_EQ(ingot_quantize_model(model_.get(), nullptr, out_.c_str(), &options_, nullptr),
            INGOT_OK);
  EXPECT_LT(read_whole(out_).size(), 256 * 8 * 5 / 8 + 512);
}

TEST_F(CapiQuantizeModel, ProgressEndsTheWork) {
  options_.progress = [](void* user, std::uint64_t done, std::uint64_t all) {
    EXPECT_LE(done, all);
    return ++*static_cast<int*>(user);
  };
  int calls = 0;
  options_.user = &calls;
  EXPECT_EQ(ingot_quantize_model(model_.get(), "Q8_0", out_.c_str(), &options_, nullptr),
            INGOT_ERROR_INTERRUPTED);
  EXPECT_GT(calls, 0);
  EXPECT_EQ(folder_.names().size(), 1U);
}

TEST_F(CapiQuantizeModel, SaysWhatIsWrong) {
  const auto refused = [&](ingot_code code, const char* mixture) {
    expect_code(code, [&](ingot_error* e) {
      return ingot_quantize_model(model_.get(), mixture, out_.c_str(), &options_, e);
    });
  };
  refused(INGOT_ERROR_INVALID_ARGUMENT, "Q99");
  refused(INGOT_ERROR_INVALID_ARGUMENT, nullptr);
  refused(INGOT_ERROR_WEIGHTS_REQUIRED, "IQ2_XXS");
  options_.importance = "/nonexistent";
  refused(INGOT_ERROR_IO_ERROR, "Q8_0");
  options_.importance = nullptr;
  options_.effort = 9;
  refused(INGOT_ERROR_INVALID_ARGUMENT, "Q8_0");
  expect_code(INGOT_ERROR_INVALID_ARGUMENT, [&](ingot_error* e) {
    return ingot_quantize_model(nullptr, "Q8_0", out_.c_str(), nullptr, e);
  });
}

}  // namespace
}  // namespace ingot::test
