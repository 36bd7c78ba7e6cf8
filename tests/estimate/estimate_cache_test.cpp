// SPDX-License-Identifier: MIT
// What each architecture keeps of the tokens before. Expected numbers are worked out by hand, or
// were measured with the engine.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "ingot/estimate.hpp"
#include "support/expect_error.hpp"
#include "support/header_sketch.hpp"
#include "support/mib.hpp"

namespace ingot::test {
namespace {

/// The profile of a header with one tensor, so that there is something to load.
MemoryProfile profile_of(HeaderSketch& sketch) {
  sketch.tensor("token_embd.weight", {32});
  const auto model = sketch.open();
  EXPECT_THAT(model, Succeeds());
  auto profile = MemoryProfile::read(*model);
  EXPECT_THAT(profile, Succeeds());
  return std::move(*profile);
}

RunOptions with_context(std::uint64_t context) {
  RunOptions options;
  options.context = context;
  return options;
}

MemoryEstimate estimate(HeaderSketch& sketch, const RunOptions& options) {
  const MemoryProfile profile = profile_of(sketch);
  const auto made = profile.estimate(options);
  EXPECT_THAT(made, Succeeds());
  return made.value_or(MemoryEstimate{});
}

/// A model by its numbers, and the bytes of its cache for 32,768 tokens.
struct KnownModel {
  const char* architecture;
  AttentionShape shape;
  std::uint32_t window;
  std::uint64_t cache_mib;
};

class KnownModels : public testing::TestWithParam<KnownModel> {};

TEST_P(KnownModels, KeepWhatTheEngineAllocates) {
  const KnownModel& model = GetParam();
  HeaderSketch sketch(model.architecture);
  set_attention(sketch, model.shape);
  if (model.window != 0) sketch.set("attention.sliding_window", model.window);
  EXPECT_EQ(estimate(sketch, with_context(32768)).cache_bytes, model.cache_mib * mib);
}

INSTANTIATE_TEST_SUITE_P(
    Estimate, KnownModels,
    testing::Values(
        KnownModel{"llama", {.layers = 32, .heads = 32, .kv_heads = 8, .head_width = 128}, 0, 4096},
        KnownModel{"qwen2", {.layers = 28, .heads = 28, .kv_heads = 4, .head_width = 128}, 0, 1792},
        KnownModel{
            "gemma3", {.layers = 62, .heads = 32, .kv_heads = 16, .head_width = 128}, 1024, 3184},
        KnownModel{
            "gpt-oss", {.layers = 24, .heads = 64, .kv_heads = 8, .head_width = 64}, 128, 786},
        // The key is there, and the engine ignores it.
        KnownModel{
            "phi3", {.layers = 32, .heads = 32, .kv_heads = 32, .head_width = 96}, 2047, 12288},
        // Only models of 64 layers slide.
        KnownModel{
            "exaone4", {.layers = 30, .heads = 32, .kv_heads = 8, .head_width = 64}, 4096, 1920},
        // 16 full layers of 64 MiB; 48 layers of 4608 cells of 2 KiB.
        KnownModel{
            "exaone4", {.layers = 64, .heads = 32, .kv_heads = 8, .head_width = 64}, 4096, 1456},
        // The full layer comes first: 0, 4, 8, 12.
        KnownModel{
            "smallthinker", {.layers = 14, .heads = 8, .kv_heads = 8, .head_width = 64}, 4096, 346},
        KnownModel{"bert", {.layers = 12}, 0, 0}, KnownModel{"llada", {.layers = 12}, 0, 0}));

TEST(EstimateCache, KeepsOneVectorForLatentAttention) {
  HeaderSketch sketch("deepseek2");
  set_attention(sketch, {.layers = 27, .embedding = 2048, .heads = 16, .kv_heads = 1});
  sketch.set("attention.key_length_mla", std::uint32_t{192});
  sketch.set("attention.value_length_mla", std::uint32_t{128});
  sketch.set("attention.kv_lora_rank", std::uint32_t{512});
  sketch.set("rope.dimension_count", std::uint32_t{64});
  const MemoryProfile profile = profile_of(sketch);
  RunOptions options = with_context(32768);
  const auto made = profile.estimate(options);
  ASSERT_THAT(made, Succeeds());
  EXPECT_EQ(made->cache_bytes, 972 * mib);
  ASSERT_EQ(made->caches.size(), 1u);
  EXPECT_EQ(made->caches[0].kind, CacheKind::latent);
  EXPECT_EQ(made->caches[0].value_bytes, 0u);
  // Keys and values are one, so they have one type.
  options.key_type = TensorType::q4_0;
  EXPECT_THAT(profile.estimate(options), FailsWith(Errc::run_refused));
  options.value_type = TensorType::q4_0;
  EXPECT_THAT(profile.estimate(options), Succeeds());
}

/// A model with latent attention and an indexer in four layers, of which the last one guesses.
/// Measured with the engine: 7.5 MiB of keys for 4,096 tokens, and 1 MiB for each indexer.
void set_indexers(HeaderSketch& sketch, std::uint32_t layers = 4) {
  sketch.set("block_count", layers).set("embedding_length", std::uint32_t{256});
  sketch.set("nextn_predict_layers", std::uint32_t{1}).set("vocab_size", std::uint32_t{512});
  sketch.set("attention.head_count", std::uint32_t{4});
  sketch.set("attention.head_count_kv", std::uint32_t{1});
  sketch.set("attention.key_length_mla", std::uint32_t{320});
  sketch.set("attention.value_length_mla", std::uint32_t{64});
  sketch.set("attention.kv_lora_rank", std::uint32_t{256});
  sketch.set("rope.dimension_count", std::uint32_t{64});
  sketch.set("attention.indexer.key_length", std::uint32_t{128});
  sketch.set("attention.indexer.top_k", std::uint32_t{64});
}

TEST(EstimateCache, CountsTheKeysOfIndexers) {
  HeaderSketch all("deepseek32");
  set_indexers(all);
  const MemoryProfile profile = profile_of(all);
  EXPECT_EQ(profile.notes().size(), 1u);  // of the layer that guesses
  RunOptions options = with_context(4096);
  const MemoryEstimate made = *profile.estimate(options);
  ASSERT_EQ(made.caches.size(), 2u);
  EXPECT_EQ(made.caches[0].kind, CacheKind::latent);
  EXPECT_EQ(made.caches[0].key_bytes, 15 * mib / 2);
  EXPECT_EQ(made.caches[1].kind, CacheKind::indexer);
  EXPECT_EQ(made.caches[1].layers, 3u);
  EXPECT_EQ(made.caches[1].key_bytes, 3 * mib);
  EXPECT_EQ(made.caches[1].value_bytes, 0u);
  EXPECT_EQ(made.cache_bytes, 21 * mib / 2);
  // Its scores are a part of the work space.
  HeaderSketch none("deepseek2");
  set_indexers(none);
  EXPECT_GT(made.compute.attention, estimate(none, options).compute.attention);
}

TEST(EstimateCache, CountsIndexersOfSomeLayers) {
  HeaderSketch types("glm-dsa");
  set_indexers(types);
  types.set_each("attention.indexer.types", std::vector<std::uint32_t>{1, 0, 0});
  EXPECT_EQ(estimate(types, with_context(4096)).caches[1].key_bytes, 1 * mib);
  // Without the key a long context tells that all but the first ones take turns.
  for (const auto& [context, layers] : {std::pair(202752u, 7u), std::pair(1048576u, 4u)}) {
    HeaderSketch turns("glm-dsa");
    set_indexers(turns, 8);
    turns.set("context_length", context);
    EXPECT_EQ(estimate(turns, with_context(4096)).caches[1].layers, layers);
  }
}

TEST(EstimateCache, CountsCompressedKeys) {
  HeaderSketch sketch("deepseek4");
  set_attention(sketch,
                {.layers = 4, .embedding = 256, .heads = 4, .kv_heads = 1, .head_width = 128});
  sketch.set("attention.sliding_window", std::uint32_t{128});
  sketch.set("attention.indexer.key_length", std::uint32_t{128});
  sketch.set_each("attention.compress_ratios", std::vector<std::uint32_t>{0, 4, 128, 4});
  const MemoryEstimate made = estimate(sketch, with_context(4096));
  ASSERT_EQ(made.caches.size(), 4u);
  EXPECT_EQ(made.caches[0].kind, CacheKind::latent);  // the window, of keys alone
  EXPECT_EQ(made.caches[0].cells, 768u);
  EXPECT_EQ(made.caches[0].key_bytes, 3 * mib / 4);
  EXPECT_EQ(made.caches[1].kind, CacheKind::indexer);
  EXPECT_EQ(made.caches[1].cells, 1024u);
  EXPECT_EQ(made.caches[1].key_bytes, mib / 2);
  EXPECT_EQ(made.caches[2].kind, CacheKind::compressed);
  EXPECT_EQ(made.caches[2].layers, 2u);
  EXPECT_EQ(made.caches[2].key_bytes, mib / 2);
  EXPECT_EQ(made.caches[2].value_bytes, mib / 16);
  EXPECT_EQ(made.caches[3].cells, 256u);
  EXPECT_EQ(made.caches[3].key_bytes, mib / 16);
  EXPECT_EQ(made.caches[3].value_bytes, mib / 8);
}

TEST(EstimateCache, CountsIndexersWithValues) {
  HeaderSketch sketch("minimax-m3");
  set_attention(sketch, {.layers = 4, .embedding = 256, .heads = 4, .kv_heads = 2});
  sketch.set("leading_dense_block_count", std::uint32_t{1});
  sketch.set("attention.indexer.key_length", std::uint32_t{128});
  const MemoryEstimate made = estimate(sketch, with_context(4096));
  ASSERT_EQ(made.caches.size(), 2u);
  EXPECT_EQ(made.caches[0].key_bytes + made.caches[0].value_bytes, 8 * mib);
  EXPECT_EQ(made.caches[1].key_bytes, 3 * mib);
  EXPECT_EQ(made.caches[1].value_bytes, 3 * mib / 2);  // one head, which nobody reads
}

TEST(EstimateCache, CountsLoops) {
  for (const std::uint32_t loops : {0u, 2u, 3u}) {
    HeaderSketch sketch("nanbeige");
    set_attention(sketch, {.layers = 4, .embedding = 256, .heads = 4, .kv_heads = 2});
    if (loops > 0) sketch.set("num_loops", loops);
    const MemoryEstimate made = estimate(sketch, with_context(4096));
    const std::uint64_t times = std::max(loops, 1u);
    EXPECT_EQ(made.cache_bytes, times * 8 * mib);
    EXPECT_EQ(made.caches[0].layers, times * 4);
  }
}

TEST(EstimateCache, CountsALayerThatRoutes) {
  HeaderSketch sketch("graniteswitch");
  set_attention(sketch, {.layers = 4, .embedding = 256, .heads = 4, .kv_heads = 2});
  const MemoryProfile profile = profile_of(sketch);
  RunOptions options = with_context(4096);
  EXPECT_EQ(profile.estimate(options)->caches[0].layers, 5u);
  EXPECT_EQ(profile.estimate(options)->cache_bytes, 9 * mib);
  options.flash_attention = FlashAttention::off;  // its values are as wide as the others'
  EXPECT_EQ(profile.estimate(options)->cache_bytes, 19 * mib / 2);
}

TEST(EstimateCache, KeepsTheOutputOfNoEncoder) {
  for (const char* name : {"t5", "t5encoder"}) {
    HeaderSketch sketch(name);
    set_attention(sketch, {.layers = 4, .embedding = 256, .heads = 4, .kv_heads = 4});
    EXPECT_EQ(estimate(sketch, with_context(4096)).cache_bytes, 16 * mib) << name;
  }
}

TEST(EstimateCache, NeedsNoHeadsWithoutAttention) {
  HeaderSketch sketch("wavtokenizer-dec");
  sketch.set("block_count", std::uint32_t{6}).set("embedding_length", std::uint32_t{256});
  sketch.set("posnet.embedding_length", std::uint32_t{256});
  sketch.set("features_length", std::uint32_t{128});
  const MemoryEstimate made = estimate(sketch, with_context(4096));
  EXPECT_EQ(made.cache_bytes, 0u);
  EXPECT_EQ(made.host.compute_bytes, 3932160u);  // as measured
}

TEST(EstimateCache, RoundsContextsForEachSequence) {
  HeaderSketch sketch("llama");
  set_attention(sketch, {});
  const MemoryProfile profile = profile_of(sketch);
  EXPECT_EQ(profile.estimate(with_context(1000))->context, 1024u);
  RunOptions options = with_context(5000);
  options.sequences = 3;
  const MemoryEstimate made = *profile.estimate(options);
  EXPECT_EQ(made.context, 5376u);
  EXPECT_EQ(made.context_per_sequence, 1792u);
  EXPECT_EQ(made.caches[0].cells, 1792u);
  EXPECT_EQ(made.caches[0].streams, 3u);
  options.is_cache_unified = true;
  EXPECT_EQ(profile.estimate(options)->context, 5120u);
  EXPECT_EQ(profile.estimate(with_context(0))->context, 32768u);  // the model's own
}

TEST(EstimateCache, SlidingCellsFollowWindowBatchAndSequences) {
  HeaderSketch sketch("gemma2");
  set_attention(sketch, {.layers = 26});
  sketch.set("attention.sliding_window", std::uint32_t{1024});
  const MemoryProfile profile = profile_of(sketch);
  const auto sliding = [&](const RunOptions& options) {
    const MemoryEstimate made = *profile.estimate(options);
    EXPECT_EQ(made.caches.size(), 2u);
    EXPECT_EQ(made.caches[0].kind, CacheKind::full);
    EXPECT_EQ(made.caches[0].layers, 13u);
    EXPECT_EQ(made.caches[1].kind, CacheKind::sliding);
    return made.caches[1].cells;
  };
  RunOptions options = with_context(16384);
  EXPECT_EQ(sliding(options), 1536u);
  options.micro_batch = 64;
  EXPECT_EQ(sliding(options), 1280u);
  options.micro_batch = 512;
  options.sequences = 4;
  options.is_cache_unified = true;
  EXPECT_EQ(sliding(options), 4608u);
  options.keeps_full_windows = true;
  EXPECT_EQ(sliding(options), 16384u);
  EXPECT_EQ(sliding(with_context(512)), 512u);
}

TEST(EstimateCache, TakesThePatternOfTheHeader) {
  HeaderSketch flags("gemma4");
  set_attention(flags, {.layers = 4});
  flags.set("attention.sliding_window", std::uint32_t{512});
  flags.set_each("attention.sliding_window_pattern", std::vector<bool>{true, false, true, true});
  flags.set("attention.key_length_swa", std::uint32_t{32});
  flags.set("attention.value_length_swa", std::uint32_t{16});
  flags.set("attention.shared_kv_layers", std::uint32_t{1});
  const MemoryEstimate made = estimate(flags, with_context(8192));
  ASSERT_EQ(made.caches.size(), 2u);
  EXPECT_EQ(made.caches[0].layers, 1u);
  EXPECT_EQ(made.caches[1].layers, 2u);  // the last layer shares
  EXPECT_EQ(made.caches[1].cells, 1024u);
  EXPECT_EQ(made.caches[1].key_bytes, 2u * 1024 * 8 * 32 * 2);
  EXPECT_EQ(made.caches[1].value_bytes, 2u * 1024 * 8 * 16 * 2);

  HeaderSketch period("gemma3");
  set_attention(period, {.layers = 6});
  period.set("attention.sliding_window", std::uint32_t{512});
  period.set("attention.sliding_window_pattern", std::uint32_t{3});
  EXPECT_EQ(estimate(period, with_context(8192)).caches[0].layers, 2u);
}

TEST(EstimateCache, LaterLayersOfGemma3nHaveNone) {
  HeaderSketch sketch("gemma3n");
  set_attention(sketch, {.layers = 30});
  sketch.set("attention.sliding_window", std::uint32_t{512});
  const MemoryEstimate made = estimate(sketch, with_context(8192));
  EXPECT_EQ(made.caches[0].layers, 4u);
  EXPECT_EQ(made.caches[1].layers, 16u);
}

TEST(EstimateCache, ValuesAreAsWideAsTheWidestWithoutFlashAttention) {
  HeaderSketch both("deci");
  both.set("block_count", std::uint32_t{2}).set("embedding_length", std::uint32_t{512});
  both.set("attention.head_count", std::uint32_t{8}).set("vocab_size", std::uint32_t{10});
  both.set_each("attention.head_count_kv", std::vector<std::uint32_t>{2, 8});
  const MemoryProfile profile = profile_of(both);
  RunOptions options = with_context(256);
  EXPECT_EQ(profile.estimate(options)->caches[0].value_bytes, 256u * (2 + 8) * 64 * 2);
  options.flash_attention = FlashAttention::off;
  EXPECT_EQ(profile.estimate(options)->caches[0].value_bytes, 256u * (8 + 8) * 64 * 2);
  EXPECT_EQ(profile.estimate(options)->caches[0].key_bytes, 256u * (2 + 8) * 64 * 2);
}

// --- recurrent layers ----------------------------------------------------------------------------

struct StateCase {
  const char* name;
  const char* architecture;
  std::function<void(HeaderSketch&)> set;
  std::uint64_t layers;     ///< Recurrent ones, of 8.
  std::uint64_t attention;  ///< Layers with keys and values.
  std::uint64_t key_bytes;  ///< Of one recurrent layer.
  std::uint64_t value_bytes;
};

void set_ssm(HeaderSketch& sketch) {
  sketch.set("ssm.conv_kernel", std::uint32_t{4}).set("ssm.inner_size", std::uint32_t{4096});
  sketch.set("ssm.state_size", std::uint32_t{128}).set("ssm.group_count", std::uint32_t{2});
}

constexpr std::uint64_t ssm_rolling = 4 * 3 * (4096 + 2 * 2 * 128);
constexpr std::uint64_t ssm_state = 4 * 4096 * 128;

class StateCases : public testing::TestWithParam<StateCase> {};

TEST_P(StateCases, DoNotGrowWithTheContext) {
  const StateCase& expected = GetParam();
  HeaderSketch sketch(expected.architecture);
  sketch.set("block_count", std::uint32_t{8}).set("embedding_length", std::uint32_t{2048});
  sketch.set("vocab_size", std::uint32_t{100}).set("attention.head_count", std::uint32_t{32});
  expected.set(sketch);
  const MemoryProfile profile = profile_of(sketch);
  RunOptions options = with_context(8192);
  options.sequences = 3;
  const auto made = profile.estimate(options);
  ASSERT_THAT(made, Succeeds());
  const CacheUse& state = made->caches.back();
  EXPECT_EQ(state.kind, CacheKind::recurrent);
  EXPECT_EQ(state.cells, 3u);
  EXPECT_EQ(state.layers, expected.layers);
  EXPECT_EQ(state.key_bytes, 3 * expected.layers * expected.key_bytes);
  EXPECT_EQ(state.value_bytes, 3 * expected.layers * expected.value_bytes);
  EXPECT_EQ(made->caches.size(), expected.attention > 0 ? 2u : 1u);
  if (expected.attention > 0) {
    EXPECT_EQ(made->caches[0].layers, expected.attention);
  }
}

const std::vector<std::uint32_t> two_of_eight = {0, 0, 8, 0, 0, 0, 8, 0};

INSTANTIATE_TEST_SUITE_P(
    Estimate, StateCases,
    testing::Values(
        StateCase{"mamba2", "mamba2", set_ssm, 8, 0, ssm_rolling, ssm_state},
        StateCase{"jamba", "jamba",
                  [](HeaderSketch& sketch) {
                    set_ssm(sketch);
                    sketch.set_each("attention.head_count_kv", two_of_eight);
                  },
                  6, 2, ssm_rolling, ssm_state},
        StateCase{"falcon_h1", "falcon-h1", set_ssm, 8, 8, ssm_rolling, ssm_state},
        StateCase{"nemotron_h", "nemotron_h",
                  [](HeaderSketch& sketch) {
                    set_ssm(sketch);
                    sketch.set_each("attention.head_count_kv", two_of_eight);
                    sketch.set_each("feed_forward_length",
                                    std::vector<std::uint32_t>{0, 64, 0, 0, 64, 0, 0, 64});
                  },
                  3, 2, ssm_rolling, ssm_state},
        StateCase{"qwen3next", "qwen3next", set_ssm, 6, 2, ssm_rolling, ssm_state},
        StateCase{"qwen35_by_key", "qwen35",
                  [](HeaderSketch& sketch) {
                    set_ssm(sketch);
                    sketch.set_each(
                        "attention.recurrent_layers",
                        std::vector<bool>{true, true, true, true, true, false, true, true});
                  },
                  7, 1, ssm_rolling, ssm_state},
        StateCase{"rwkv6", "rwkv6",
                  [](HeaderSketch& sketch) { sketch.set("wkv.head_size", std::uint32_t{64}); }, 8,
                  0, 4 * 2 * 2048, 4 * 2048 * 64},
        StateCase{"rwkv6qwen2", "rwkv6qwen2",
                  [](HeaderSketch& sketch) { sketch.set("wkv.head_size", std::uint32_t{64}); }, 8,
                  0, 4 * 2048, 4 * 2048 * 64},
        StateCase{"lfm2", "lfm2",
                  [](HeaderSketch& sketch) {
                    sketch.set("shortconv.l_cache", std::uint32_t{3});
                    sketch.set_each("attention.head_count_kv", two_of_eight);
                  },
                  6, 2, 4 * 2 * 2048, 0},
        StateCase{"minimax_01", "minimax-01",
                  [](HeaderSketch& sketch) {
                    sketch.set("attention.key_length", std::uint32_t{128});
                    sketch.set("attention.value_length", std::uint32_t{128});
                  },
                  7, 1, 0, 4 * 128 * 128 * 32},
        StateCase{"kimi_linear", "kimi-linear",
                  [](HeaderSketch& sketch) {
                    sketch.set("ssm.conv_kernel", std::uint32_t{4});
                    sketch.set("kda.head_dim", std::uint32_t{128});
                    sketch.set_each("attention.head_count_kv", two_of_eight);
                  },
                  6, 2, 4 * 3 * 3 * 32 * 128, 4 * 128 * 128 * 32}),
    [](const auto& tested) { return std::string(tested.param.name); });

// --- types that the engine refuses
// ----------------------------------------------------------------

TEST(EstimateCache, RefusesTypesThatTheEngineRefuses) {
  HeaderSketch sketch("phi2");
  set_attention(sketch, {.layers = 4, .heads = 32, .kv_heads = 32, .head_width = 80});
  const MemoryProfile profile = profile_of(sketch);
  RunOptions options = with_context(4096);
  options.key_type = TensorType::q8_0;  // 80 is no multiple of 32
  EXPECT_THAT(profile.estimate(options), FailsWith(Errc::run_refused));
  options.key_type = TensorType::q4_k;
  EXPECT_THAT(profile.estimate(options), FailsWith(Errc::run_refused));
  // Without flash attention the keys of all heads are one row: 32 x 80 are whole blocks, 80 are
  // not.
  options.key_type = TensorType::q8_0;
  options.flash_attention = FlashAttention::off;
  ASSERT_THAT(profile.estimate(options), Succeeds());
  EXPECT_EQ(profile.estimate(options)->caches[0].key_bytes, 4u * 4096 * (32 * 80 / 32 * 34));
  HeaderSketch narrow("phi2");
  set_attention(narrow, {.layers = 4, .heads = 32, .kv_heads = 1, .head_width = 80});
  EXPECT_THAT(profile_of(narrow).estimate(options), FailsWith(Errc::run_refused));

  HeaderSketch llama("llama");
  set_attention(llama, {});
  const MemoryProfile other = profile_of(llama);
  options = with_context(4096);
  options.value_type = TensorType::q8_0;
  EXPECT_THAT(other.estimate(options), Succeeds());
  EXPECT_EQ(other.estimate(options)->caches[0].value_bytes, 16u * 4096 * 512 / 32 * 34);
  options.flash_attention = FlashAttention::off;
  EXPECT_THAT(other.estimate(options), FailsWith(Errc::run_refused));
}

}  // namespace
}  // namespace ingot::test
