// SPDX-License-Identifier: MIT
// Where weights, cache and work space lie. The numbers were measured with the engine, or follow
// from shapes by hand.
#include <gtest/gtest.h>

#include <string>

#include "ingot/estimate.hpp"
#include "support/expect_error.hpp"
#include "support/header_sketch.hpp"
#include "support/mib.hpp"

namespace ingot::test {
namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30;

constexpr AttentionShape small_llama = {};
constexpr std::uint64_t matrix_bytes = 2 * 2048 * 32000;  // the embedding, and the output
constexpr std::uint64_t layer_bytes =
    2 * (2 * 2048 * 2048 + 2 * 2048 * 512 + 3 * 2048 * 8192) + 2 * 4 * 2048;
constexpr std::uint64_t norm_bytes = 4 * 2048;

MemoryProfile read_profile(const HeaderSketch& sketch) {
  const auto model = sketch.open();
  EXPECT_THAT(model, Succeeds());
  auto profile = MemoryProfile::read(*model);
  EXPECT_THAT(profile, Succeeds());
  return std::move(*profile);
}

MemoryProfile llama_profile(bool has_output = true) {
  HeaderSketch sketch("llama");
  set_attention(sketch, small_llama);
  add_llama_tensors(sketch, small_llama, has_output);
  return read_profile(sketch);
}

RunOptions on_devices(std::size_t count, std::uint64_t bytes = 24 * gib) {
  RunOptions options;
  options.context = 4096;
  for (std::size_t i = 0; i < count; ++i) {
    options.devices.push_back({"gpu" + std::to_string(i), bytes, 0});
  }
  return options;
}

TEST(EstimatePlacement, WithoutDevicesAllIsOnTheHost) {
  const MemoryEstimate made = *llama_profile().estimate(on_devices(0));
  EXPECT_TRUE(made.devices.empty());
  EXPECT_EQ(made.host.weights_bytes, 2 * matrix_bytes + 16 * layer_bytes + norm_bytes);
  EXPECT_EQ(made.host.cache_bytes, 128 * mib);
  EXPECT_EQ(made.host.compute_bytes, 73926656u);  // measured: 70.50 MiB
  EXPECT_EQ(made.host.output_bytes, 4u * 32000);
  EXPECT_EQ(made.host.total_bytes, made.host.weights_bytes + made.host.cache_bytes +
                                       made.host.compute_bytes + made.host.output_bytes);
  EXPECT_EQ(made.host.layer_count, 16u);
  EXPECT_TRUE(made.host.has_output);
  EXPECT_EQ(made.verdict, Verdict::unknown);
}

TEST(EstimatePlacement, OneDeviceTakesAllButTheEmbedding) {
  const MemoryEstimate made = *llama_profile().estimate(on_devices(1));
  const MemoryUse& device = made.devices.at(0);
  EXPECT_EQ(device.weights_bytes, matrix_bytes + 16 * layer_bytes + norm_bytes);
  EXPECT_EQ(device.cache_bytes, 128 * mib);
  EXPECT_EQ(device.compute_bytes, 73924608u);  // measured
  EXPECT_EQ(made.host.weights_bytes, matrix_bytes);
  EXPECT_EQ(made.host.cache_bytes, 0u);
  EXPECT_EQ(made.host.compute_bytes, 12 * mib);  // measured: 12.0 MiB
  EXPECT_EQ(made.gpu_layers, 17);
  EXPECT_EQ(made.weights_bytes, device.weights_bytes + made.host.weights_bytes);
}

TEST(EstimatePlacement, TiedEmbeddingsAreCopiedToTheDevice) {
  const MemoryProfile profile = llama_profile(false);
  const MemoryEstimate made = *profile.estimate(on_devices(1));
  EXPECT_EQ(made.devices[0].weights_bytes, matrix_bytes + 16 * layer_bytes + norm_bytes);
  EXPECT_EQ(made.host.weights_bytes, matrix_bytes);
  EXPECT_EQ(made.weights_bytes, matrix_bytes + 16 * layer_bytes + norm_bytes);
  EXPECT_EQ(profile.estimate(on_devices(0))->host.weights_bytes, made.weights_bytes);
}

TEST(EstimatePlacement, TwoEqualDevicesShareTheLayersAsTheEngineDoes) {
  const MemoryEstimate made = *llama_profile().estimate(on_devices(2));
  EXPECT_EQ(made.devices[0].first_layer, 0u);
  EXPECT_EQ(made.devices[0].layer_count, 9u);
  EXPECT_FALSE(made.devices[0].has_output);
  EXPECT_EQ(made.devices[1].first_layer, 9u);
  EXPECT_EQ(made.devices[1].layer_count, 7u);
  EXPECT_TRUE(made.devices[1].has_output);
  EXPECT_EQ(made.devices[0].cache_bytes, 75497472u);  // measured
  EXPECT_EQ(made.devices[1].cache_bytes, 58720256u);
  // Measured: 88.0, 114.5 and 24.1 MiB.
  EXPECT_EQ(made.devices[0].compute_bytes, 92274688u);
  EXPECT_EQ(made.devices[1].compute_bytes, 120061952u);
  EXPECT_EQ(made.host.compute_bytes, 24 * mib);
}

TEST(EstimatePlacement, SharesFollowTheSplitOrTheMemory) {
  const MemoryProfile profile = llama_profile();
  RunOptions options = on_devices(2);
  options.tensor_split = {3, 1};
  EXPECT_EQ(profile.estimate(options)->devices[0].layer_count, 13u);
  options.tensor_split = {0, 1};
  EXPECT_EQ(profile.estimate(options)->devices[0].layer_count, 0u);
  EXPECT_EQ(profile.estimate(options)->devices[0].total_bytes, 0u);
  options.tensor_split.clear();
  options.devices[1].usable_bytes = 8 * gib;
  EXPECT_EQ(profile.estimate(options)->devices[0].layer_count, 13u);
}

TEST(EstimatePlacement, SomeLayersStayOnTheHost) {
  const MemoryProfile profile = llama_profile();
  RunOptions options = on_devices(1);
  options.gpu_layers = 5;  // four layers and the output
  const MemoryEstimate made = *profile.estimate(options);
  EXPECT_EQ(made.devices[0].layer_count, 4u);
  EXPECT_EQ(made.devices[0].first_layer, 12u);
  EXPECT_EQ(made.devices[0].weights_bytes, matrix_bytes + 4 * layer_bytes + norm_bytes);
  EXPECT_EQ(made.devices[0].cache_bytes, 32 * mib);
  EXPECT_EQ(made.host.cache_bytes, 96 * mib);
  options.offloads_cache = false;
  EXPECT_EQ(profile.estimate(options)->host.cache_bytes, 128 * mib);
  options.gpu_layers = 0;
  EXPECT_EQ(profile.estimate(options)->devices[0].weights_bytes, 0u);
  EXPECT_GT(profile.estimate(options)->devices[0].compute_bytes, 73924608u);
  options.gpu_layers = 1000;
  EXPECT_EQ(profile.estimate(options)->gpu_layers, 17);
}

TEST(EstimatePlacement, RopeFactorsAreOnEachDevice) {
  HeaderSketch sketch("llama");
  set_attention(sketch, small_llama);
  add_llama_tensors(sketch, small_llama);
  sketch.tensor("rope_freqs.weight", {32}, TensorType::f32);
  const MemoryProfile profile = read_profile(sketch);
  const MemoryEstimate made = *profile.estimate(on_devices(2));
  EXPECT_EQ(made.devices[0].weights_bytes, 9 * layer_bytes + 128);
  EXPECT_EQ(made.devices[1].weights_bytes, 7 * layer_bytes + matrix_bytes + norm_bytes + 128);
  EXPECT_EQ(made.weights_bytes, 2 * matrix_bytes + 16 * layer_bytes + norm_bytes + 128);
}

TEST(EstimatePlacement, ExpertsCanStayOnTheHost) {
  HeaderSketch sketch("qwen3moe");
  const AttentionShape shape = {.layers = 4, .embedding = 1024, .vocabulary = 1000};
  set_attention(sketch, shape);
  sketch.set("expert_count", std::uint32_t{8}).set("expert_used_count", std::uint32_t{2});
  sketch.set("expert_feed_forward_length", std::uint32_t{512});
  for (int i = 0; i < 4; ++i) {
    const std::string layer = "blk." + std::to_string(i) + ".";
    sketch.tensor(layer + "attn_q.weight", {1024, 2048});
    sketch.tensor(layer + "ffn_up_exps.weight", {1024, 512, 8});
  }
  const std::uint64_t dense = 2 * 1024 * 2048;
  const std::uint64_t experts = 2 * 1024 * 512 * 8;
  const MemoryProfile profile = read_profile(sketch);
  EXPECT_TRUE(profile.has_experts());
  RunOptions options = on_devices(1);
  const MemoryEstimate all = *profile.estimate(options);
  EXPECT_EQ(all.devices[0].weights_bytes, 4 * (dense + experts));
  EXPECT_EQ(all.devices[0].weights_read_bytes, 4 * (dense + experts / 4));
  EXPECT_EQ(all.compute.experts, 2u * 4096 * 512 + 4u * 512 * (3 * 512 * 2 + 4 * 1024));
  options.experts_on_host = 3;
  const MemoryEstimate some = *profile.estimate(options);
  EXPECT_EQ(some.devices[0].weights_bytes, 4 * dense + experts);
  EXPECT_EQ(some.host.weights_bytes, 3 * experts);
  EXPECT_EQ(some.weights_bytes, all.weights_bytes);
}

TEST(EstimatePlacement, WorkSpaceIsTheLargestPhase) {
  const MemoryProfile profile = llama_profile();
  RunOptions options = on_devices(0);
  EXPECT_EQ(profile.estimate(options)->compute.largest, "output");
  options.flash_attention = FlashAttention::off;
  options.context = 32768;
  const MemoryEstimate scores = *profile.estimate(options);
  EXPECT_EQ(scores.compute.largest, "attention");
  EXPECT_EQ(scores.host.compute_bytes, 2237671424u);  // measured: 2134.01 MiB
  options.flash_attention = FlashAttention::automatic;
  options.context = 262144;
  const MemoryEstimate mask = *profile.estimate(options);
  EXPECT_EQ(mask.compute.largest, "feed_forward");
  EXPECT_EQ(mask.host.compute_bytes, 335558656u);  // measured: 320.01 MiB
  options.micro_batch = 64;
  EXPECT_EQ(profile.estimate(options)->host.compute_bytes, 41944832u);  // measured: 40.00 MiB
  options.batch = 32;
  EXPECT_EQ(profile.estimate(options)->micro_batch, 32u);
}

TEST(EstimatePlacement, OnlyMasksThatLayersReadTakePlace) {
  constexpr AttentionShape shape = {.layers = 2,
                                    .embedding = 256,
                                    .heads = 4,
                                    .kv_heads = 2,
                                    .feed_forward = 512,
                                    .vocabulary = 1000};
  HeaderSketch sketch("gemma3");  // its sixth layer would be the first without a window
  set_attention(sketch, shape);
  sketch.set("attention.sliding_window", std::uint32_t{512});
  add_llama_tensors(sketch, shape, false);
  const MemoryProfile profile = read_profile(sketch);
  RunOptions options;
  options.context = 16384;
  EXPECT_EQ(profile.estimate(options)->host.compute_bytes, 5257216u);  // measured: 5.01 MiB
  EXPECT_EQ(profile.estimate(options)->compute.mask, mib);
  options.flash_attention = FlashAttention::off;
  EXPECT_EQ(profile.estimate(options)->host.compute_bytes, 13641728u);  // measured: 13.01 MiB
}

TEST(EstimatePlacement, MappedPagesAreThoseThatAreNotLaidOutAnew) {
  HeaderSketch sketch("llama");
  set_attention(sketch, {.layers = 1});
  sketch.tensor("token_embd.weight", {2048, 32000}, TensorType::q4_0);
  sketch.tensor("blk.0.ffn_up.weight", {2048, 8192}, TensorType::q4_0);
  sketch.tensor("blk.0.ffn_down.weight", {8192, 2048}, TensorType::f16);
  const MemoryProfile profile = read_profile(sketch);
  const std::uint64_t repacked = 2048 * 8192 / 32 * 18;
  RunOptions options = on_devices(0);
  EXPECT_EQ(profile.estimate(options)->host.mapped_bytes, profile.weights_bytes() - repacked);
  options.repacks_weights = false;
  EXPECT_EQ(profile.estimate(options)->host.mapped_bytes, profile.weights_bytes());
  options.maps_file = false;
  EXPECT_EQ(profile.estimate(options)->host.mapped_bytes, 0u);
}

TEST(EstimatePlacement, VerdictsCompareWithWhatIsThere) {
  const MemoryProfile profile = llama_profile();
  RunOptions options = on_devices(1);
  const std::uint64_t needed = profile.estimate(options)->devices[0].total_bytes;
  const auto verdict = [&](std::uint64_t bytes) {
    options.devices[0].usable_bytes = bytes;
    return profile.estimate(options)->verdict;
  };
  EXPECT_EQ(verdict(needed - 1), Verdict::does_not_fit);
  EXPECT_EQ(verdict(needed), Verdict::tight);
  EXPECT_EQ(verdict(needed * 21 / 20 + 100), Verdict::tight);
  EXPECT_EQ(verdict(needed * 20 / 19 + 100), Verdict::fits);
  options.host_bytes = 1000;
  EXPECT_EQ(verdict(24 * gib), Verdict::does_not_fit);
  EXPECT_EQ(profile.estimate(options)->devices[0].verdict, Verdict::fits);
}

TEST(EstimatePlacement, BandwidthBoundsTheTokens) {
  const MemoryProfile profile = llama_profile();
  RunOptions options = on_devices(1);
  EXPECT_FALSE(profile.estimate(options)->bound_at_start.has_value());
  options.devices[0].bandwidth = 1e12;
  const MemoryEstimate made = *profile.estimate(options);
  const auto weights = static_cast<double>(matrix_bytes + 16 * layer_bytes + norm_bytes);
  EXPECT_DOUBLE_EQ(made.bound_at_start.value(), 1e12 / weights);
  EXPECT_DOUBLE_EQ(made.bound_at_end.value(), 1e12 / (weights + 128.0 * mib));
  options.gpu_layers = 5;  // the host reads too, and its bandwidth is not known
  EXPECT_FALSE(profile.estimate(options)->bound_at_start.has_value());
  options.host_bandwidth = 1e11;
  EXPECT_LT(profile.estimate(options)->bound_at_start.value(), 1e12 / weights / 2);
}

TEST(EstimatePlacement, RefusesOptionsThatMakeNoSense) {
  const MemoryProfile profile = llama_profile();
  const auto change = [&](auto set) {
    RunOptions options = on_devices(1);
    set(options);
    return profile.estimate(options);
  };
  const auto refused = FailsWith(Errc::invalid_argument);
  EXPECT_THAT(change([](RunOptions& o) { o.context = max_context + 1; }), refused);
  EXPECT_THAT(change([](RunOptions& o) { o.batch = 0; }), refused);
  EXPECT_THAT(change([](RunOptions& o) { o.micro_batch = 0; }), refused);
  EXPECT_THAT(change([](RunOptions& o) { o.sequences = 0; }), refused);
  EXPECT_THAT(change([](RunOptions& o) { o.sequences = max_sequences + 1; }), refused);
  EXPECT_THAT(change([](RunOptions& o) { o.tensor_split = {1, 1}; }), refused);
  EXPECT_THAT(change([](RunOptions& o) { o.tensor_split = {-1}; }), refused);
  EXPECT_THAT(change([](RunOptions& o) { o.devices.resize(max_devices + 1); }), refused);
}

}  // namespace
}  // namespace ingot::test
