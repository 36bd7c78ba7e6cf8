// SPDX-License-Identifier: MIT
// Advice is right if what it names fits, and one step further does not.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "ingot/estimate.hpp"
#include "support/expect_error.hpp"
#include "support/header_sketch.hpp"
#include "support/mib.hpp"

namespace ingot::test {
namespace {

class EstimateAdvice : public testing::Test {
 protected:
  void SetUp() override {
    HeaderSketch sketch("llama");
    set_attention(sketch, shape_);
    add_llama_tensors(sketch, shape_);
    auto model = sketch.open();
    ASSERT_THAT(model, Succeeds());
    auto profile = MemoryProfile::read(*model);
    ASSERT_THAT(profile, Succeeds());
    profile_.emplace(std::move(*profile));
  }

  RunOptions on_device(std::uint64_t bytes, std::uint64_t context = 32768) const {
    RunOptions options;
    options.context = context;
    options.devices = {{"gpu", bytes, 0}};
    return options;
  }

  [[nodiscard]] bool fits(const RunOptions& options) const {
    const auto made = profile_->estimate(options);
    return made && made->verdict != Verdict::does_not_fit;
  }

  [[nodiscard]] static const Change* find(const Advice& advice, ChangeKind kind) {
    const auto found = std::find_if(advice.changes.begin(), advice.changes.end(),
                                    [&](const Change& change) { return change.kind == kind; });
    return found == advice.changes.end() ? nullptr : &*found;
  }

  AttentionShape shape_;
  std::optional<MemoryProfile> profile_;
};

TEST_F(EstimateAdvice, NamesTheMostLayersThatFit) {
  RunOptions options = on_device(1500 * mib);
  ASSERT_FALSE(fits(options));
  const Advice advice = *profile_->advise(options);
  ASSERT_TRUE(advice.gpu_layers.has_value());
  options.gpu_layers = static_cast<std::int64_t>(*advice.gpu_layers);
  EXPECT_TRUE(fits(options));
  ++options.gpu_layers;
  EXPECT_FALSE(fits(options));
  EXPECT_NE(find(advice, ChangeKind::gpu_layers), nullptr);
}

TEST_F(EstimateAdvice, NamesTheLongestContextThatFits) {
  RunOptions options = on_device(3000 * mib);
  ASSERT_FALSE(fits(options));
  const Advice advice = *profile_->advise(options);
  ASSERT_TRUE(advice.context.has_value());
  EXPECT_GT(*advice.context, 4096u);
  options.context = *advice.context;
  EXPECT_TRUE(fits(options));
  options.context += 256;
  EXPECT_FALSE(fits(options));
}

TEST_F(EstimateAdvice, NamesTheModelsOwnContextWhereThereIsRoom) {
  const Advice advice = *profile_->advise(on_device(24000 * mib, 1024));
  EXPECT_EQ(advice.context, shape_.context);
  EXPECT_EQ(advice.gpu_layers, 17u);
  EXPECT_TRUE(advice.changes.empty());
}

TEST_F(EstimateAdvice, EachChangeIsEnough) {
  const std::uint64_t needed = profile_->estimate(on_device(1))->devices[0].total_bytes;
  for (const std::uint64_t missing : {8 * mib, 200 * mib, 600 * mib, 1500 * mib}) {
    SCOPED_TRACE(missing);
    const Advice advice = *profile_->advise(on_device(needed - missing));
    EXPECT_FALSE(advice.changes.empty());
    for (const Change& change : advice.changes) {
      if (change.kind == ChangeKind::weights) {
        EXPECT_LT(change.weights_bytes, profile_->weights_bytes());
      } else {
        EXPECT_TRUE(fits(change.options)) << static_cast<int>(change.kind);
      }
    }
  }
  // The first advice where little is missing: a smaller micro-batch, which nobody feels much.
  const Advice little = *profile_->advise(on_device(needed - 8 * mib));
  EXPECT_EQ(little.changes[0].kind, ChangeKind::micro_batch);
  EXPECT_EQ(little.changes[0].options.micro_batch, 256u);
}

TEST_F(EstimateAdvice, SaysHowSmallWeightsMustBe) {
  RunOptions options = on_device(1500 * mib, 4096);
  const Change* change = nullptr;
  const Advice advice = *profile_->advise(options);
  ASSERT_NE(change = find(advice, ChangeKind::weights), nullptr);
  const MemoryEstimate now = *profile_->estimate(options);
  const double scale =
      static_cast<double>(change->weights_bytes) / static_cast<double>(profile_->weights_bytes());
  const MemoryUse& device = now.devices[0];
  const double then = scale * static_cast<double>(device.weights_bytes) +
                      static_cast<double>(device.total_bytes - device.weights_bytes);
  EXPECT_NEAR(then, 1500.0 * mib, 64);
}

TEST_F(EstimateAdvice, NothingLimitsARunWithoutSizes) {
  const Advice advice = *profile_->advise({});
  EXPECT_FALSE(advice.gpu_layers.has_value());
  EXPECT_FALSE(advice.context.has_value());
  EXPECT_TRUE(advice.changes.empty());
}

TEST_F(EstimateAdvice, MovesAsFewExpertsAsNeeded) {
  HeaderSketch sketch("qwen3moe");
  const AttentionShape shape = {.layers = 8, .embedding = 1024, .vocabulary = 1000};
  set_attention(sketch, shape);
  sketch.set("expert_count", std::uint32_t{8}).set("expert_used_count", std::uint32_t{2});
  sketch.set("expert_feed_forward_length", std::uint32_t{512});
  for (int i = 0; i < 8; ++i) {
    sketch.tensor("blk." + std::to_string(i) + ".ffn_up_exps.weight", {1024, 4096, 8});
  }
  profile_.emplace(*MemoryProfile::read(*sketch.open()));
  RunOptions options = on_device(400 * mib, 4096);
  ASSERT_FALSE(fits(options));
  const Advice advice = *profile_->advise(options);
  const Change* change = find(advice, ChangeKind::experts_on_host);
  ASSERT_NE(change, nullptr);
  EXPECT_TRUE(fits(change->options));
  options.experts_on_host = change->options.experts_on_host - 1;
  EXPECT_FALSE(fits(options));
}

TEST_F(EstimateAdvice, CacheGrowthAndSmallestCard) {
  EXPECT_EQ(profile_->cache_growth(), 32 * mib);
  // 2.3 GiB of weights, 1 GiB of cache.
  EXPECT_EQ(profile_->smallest_card(32768)->value(), std::uint64_t{4} << 30);
  EXPECT_EQ(profile_->smallest_card(131072)->value(), std::uint64_t{8} << 30);
  EXPECT_FALSE(profile_->smallest_card(max_context)->has_value());
}

}  // namespace
}  // namespace ingot::test
