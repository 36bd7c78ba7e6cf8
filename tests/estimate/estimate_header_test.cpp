// SPDX-License-Identifier: MIT
// Headers that lack or contradict something, and what else a profile is made of.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

#include "ingot/estimate.hpp"
#include "support/expect_error.hpp"
#include "support/header_sketch.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

Result<MemoryProfile> read(const HeaderSketch& sketch, std::span<const TensorType> types = {}) {
  INGOT_TRY(const Model model, sketch.open());
  return MemoryProfile::read(model, types);
}

HeaderSketch& with_tensor(HeaderSketch& sketch) {
  return sketch.tensor("token_embd.weight", {64, 10});
}

class HostileHeaders : public testing::Test {
 protected:
  /// What reading says of a small llama with one key changed.
  template <class T>
  Result<MemoryProfile> with_key(const std::string& suffix, T value) {
    HeaderSketch sketch("llama");
    const auto set = [&](const std::string& key, std::uint32_t number) {
      if (key != suffix) sketch.set(key, number);
    };
    set("block_count", 2);
    set("embedding_length", 64);
    set("attention.head_count", 4);
    set("feed_forward_length", 128);
    sketch.set(suffix, value);
    return read(with_tensor(sketch));
  }
};

TEST_F(HostileHeaders, AreRefusedWithTheKey) {
  const auto refused = FailsWith(Errc::estimate_impossible);
  EXPECT_THAT(with_key("unrelated", std::uint32_t{1}), Succeeds());
  EXPECT_THAT(with_key("block_count", std::uint32_t{10001}), refused);
  EXPECT_THAT(with_key("block_count", std::uint32_t{0}), refused);
  EXPECT_THAT(with_key("block_count", std::int32_t{-2}), refused);
  EXPECT_THAT(with_key("block_count", "two"), refused);
  EXPECT_THAT(with_key("embedding_length", std::uint64_t{1} << 40), refused);
  EXPECT_THAT(with_key("nextn_predict_layers", std::uint32_t{2}), refused);
  EXPECT_THAT(with_key("expert_used_count", std::uint32_t{3}), refused);
  const auto failed = with_key("attention.head_count", "many");
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().subject, "llama.attention.head_count");
  EXPECT_NE(failed.error().file_offset, Error::no_offset);
}

TEST_F(HostileHeaders, NeedOneElementForEachLayer) {
  HeaderSketch sketch("llama");
  set_attention(sketch, {.layers = 4});
  HeaderSketch uneven("jamba");
  uneven.set("block_count", std::uint32_t{4}).set("embedding_length", std::uint32_t{64});
  uneven.set("attention.head_count", std::uint32_t{4});
  uneven.set_each("attention.head_count_kv", std::vector<std::uint32_t>{1, 0, 1});
  EXPECT_THAT(read(with_tensor(uneven)), FailsWith(Errc::estimate_impossible));
}

TEST_F(HostileHeaders, NeverGiveASumThatWentRound) {
  HeaderSketch sketch("llama");
  sketch.set("block_count", std::uint32_t{10000}).set("context_length", std::uint32_t{1} << 30);
  sketch.set("embedding_length", std::uint64_t{1} << 32).set("vocab_size", std::uint64_t{1} << 32);
  sketch.set("attention.head_count", std::uint64_t{1} << 32);
  sketch.set("attention.key_length", std::uint64_t{1} << 32);
  sketch.set("attention.value_length", std::uint64_t{1});
  const auto profile = read(with_tensor(sketch));
  ASSERT_THAT(profile, Succeeds());
  EXPECT_THAT(profile->estimate({}), FailsWith(Errc::size_overflow));
}

TEST(EstimateHeader, NeedsTensorsAndTheKeysOfItsArchitecture) {
  HeaderSketch empty("llama");
  set_attention(empty, {});
  EXPECT_THAT(read(empty), FailsWith(Errc::estimate_impossible));
  HeaderSketch bare("llama");
  EXPECT_THAT(read(with_tensor(bare)), FailsWith(Errc::estimate_impossible));
  HeaderSketch headless("llama");
  headless.set("block_count", std::uint32_t{2}).set("embedding_length", std::uint32_t{64});
  EXPECT_THAT(read(with_tensor(headless)), FailsWith(Errc::estimate_impossible));
}

TEST(EstimateHeader, UnknownArchitecturesFollowTheOrdinaryFormula) {
  HeaderSketch sketch("brand-new");
  set_attention(sketch, {.layers = 2});
  const auto profile = read(with_tensor(sketch));
  ASSERT_THAT(profile, Succeeds());
  EXPECT_FALSE(profile->is_known_architecture());
  EXPECT_EQ(profile->notes().size(), 1u);
  RunOptions options;
  options.context = 1024;
  EXPECT_EQ(profile->estimate(options)->cache_bytes, 2u * 1024 * 8 * 64 * 2 * 2);
  // Without any key there are weights, and nothing else is claimed.
  HeaderSketch bare("brand-new");
  const auto weights = read(with_tensor(bare));
  ASSERT_THAT(weights, Succeeds());
  EXPECT_EQ(weights->estimate(options)->cache_bytes, 0u);
  EXPECT_EQ(weights->estimate(options)->host.weights_bytes, 1280u);
}

TEST(EstimateHeader, LayersOfUnknownArchitecturesAreThoseOfTheirTensors) {
  HeaderSketch sketch("brand-new");
  for (const char* name : {"blk.0.a.weight", "blk.2.a.weight"}) sketch.tensor(name, {64});
  const auto profile = read(sketch);
  ASSERT_THAT(profile, Succeeds());
  EXPECT_EQ(profile->layer_count(), 3u);
  EXPECT_EQ(profile->weights_bytes(), 256u);
  sketch.tensor("blk.18446744073709551615.a.weight", {64});
  EXPECT_THAT(read(sketch), FailsWith(Errc::estimate_impossible));
}

TEST(EstimateHeader, LeavesOutLayersThatPredictFurtherTokens) {
  HeaderSketch sketch("glm4moe");
  set_attention(sketch, {.layers = 3});
  sketch.set("nextn_predict_layers", std::uint32_t{1});
  for (const char* name : {"blk.0.a.weight", "blk.1.a.weight", "blk.2.a.weight"}) {
    sketch.tensor(name, {64});
  }
  const auto profile = read(sketch);
  ASSERT_THAT(profile, Succeeds());
  EXPECT_EQ(profile->layer_count(), 2u);
  EXPECT_EQ(profile->weights_bytes(), 256u);
  EXPECT_EQ(profile->notes().size(), 1u);
}

TEST(EstimateHeader, CountsFilesBesideTheModel) {
  HeaderSketch sketch("llama");
  set_attention(sketch, {.layers = 2});
  auto profile = read(with_tensor(sketch));
  ASSERT_THAT(profile, Succeeds());
  HeaderSketch projector("clip");
  projector.set_key("general.type", "mmproj").tensor("v.blk.0.attn_q.weight", {64, 64});
  HeaderSketch adapter("llama");
  adapter.set_key("general.type", "adapter").tensor("blk.1.attn_q.weight.lora_a", {64, 8});
  ASSERT_THAT(profile->add_companion(*projector.open()), Succeeds());
  ASSERT_THAT(profile->add_companion(*adapter.open()), Succeeds());
  EXPECT_THAT(profile->add_companion(*sketch.open()), FailsWith(Errc::invalid_argument));
  RunOptions options;
  options.devices = {{"gpu", std::uint64_t{1} << 30, 0}};
  const MemoryEstimate made = *profile->estimate(options);
  EXPECT_EQ(made.devices[0].projector_bytes, 8192u);
  EXPECT_EQ(made.devices[0].weights_bytes, 1024u + 1280u);  // the embedding is the output too
  EXPECT_EQ(made.weights_bytes, 1280u + 1024u);
}

TEST(EstimateHeader, CanPretendOtherTypes) {
  HeaderSketch sketch("llama");
  set_attention(sketch, {.layers = 1});
  sketch.tensor("token_embd.weight", {256, 10}).tensor("blk.0.a.weight", {48});
  const std::array types = {TensorType::q4_k, TensorType::f32};
  EXPECT_EQ(read(sketch, types)->weights_bytes(), 10u * 144 + 48 * 4);
  const std::array misfit = {TensorType::q4_k, TensorType::q4_k};
  EXPECT_THAT(read(sketch, misfit), FailsWith(Errc::row_not_whole_blocks));
  EXPECT_THAT(read(sketch, std::span(types).first(1)), FailsWith(Errc::invalid_argument));
}

TEST(EstimateDevices, AreSizesOrNames) {
  constexpr std::uint64_t gib = std::uint64_t{1} << 30;
  EXPECT_EQ(parse_memory_size("24G"), 24 * gib);
  EXPECT_EQ(parse_memory_size("24GB"), 24 * gib);
  EXPECT_EQ(parse_memory_size("24gib"), 24 * gib);
  EXPECT_EQ(parse_memory_size("1.5T"), 1536 * gib);
  EXPECT_EQ(parse_memory_size("512M"), gib / 2);
  EXPECT_EQ(parse_memory_size("8 GB"), 8 * gib);
  EXPECT_EQ(parse_memory_size("64"), 64 * gib);
  EXPECT_EQ(parse_memory_size("4096"), 4 * gib);
  EXPECT_EQ(parse_memory_size("7.5"), 15 * gib / 2);
  EXPECT_EQ(parse_memory_size("1048577"), 1048577u);
  for (const char* wrong :
       {"", "G", "0", "-1G", "1X", "1Gx", "nan", "inf", "1e300", "99999999T", "G24", "1GG", "ib"}) {
    EXPECT_FALSE(parse_memory_size(wrong).has_value()) << wrong;
  }
  EXPECT_EQ(parse_device("24G")->usable_bytes, 24 * gib / 100 * 97);
  EXPECT_EQ(parse_device("24G")->name, "24G");
  EXPECT_EQ(parse_device("RTX-4090")->usable_bytes, parse_device("24G")->usable_bytes);
  EXPECT_EQ(parse_device("rtx-4090")->bandwidth, 1008e9);
  EXPECT_EQ(parse_device("m4-max-64")->usable_bytes, 64 * gib / 100 * 75);
  for (const auto& [spelling, full] :
       std::map<std::string, std::string>{{"8", "8G"},
                                          {"12288", "12288M"},
                                          {"3090", "rtx-3090"},
                                          {"RTX 4060", "rtx-4060"},
                                          {"rtx4060", "rtx-4060"},
                                          {"4060ti", "rtx-4060-ti"},
                                          {"1024", "1024G"},
                                          {"970", "gtx-970"},
                                          {"8 GB", "8GB"},
                                          {"NVIDIA GeForce RTX 4060", "rtx-4060"},
                                          {"RTX 4070 Laptop GPU", "rtx-4070-laptop"},
                                          {"AMD Radeon RX 7900 XTX", "rx-7900-xtx"},
                                          {"1025", "1025M"},
                                          {"7900 XTX", "rx-7900-xtx"}}) {
    EXPECT_EQ(parse_device(spelling)->name, parse_device(full)->name) << spelling;
    EXPECT_EQ(parse_device(spelling)->usable_bytes, parse_device(full)->usable_bytes) << spelling;
  }
  EXPECT_EQ(parse_device("1048577")->usable_bytes, usable_device_bytes(1048577));
  EXPECT_THAT(parse_device("m3-max").error().detail,
              testing::HasSubstr("did you mean m3-max-48, m3-max-64, m3-max-128?"));
  EXPECT_THAT(parse_device("rtx"), FailsWith(Errc::invalid_argument));
  EXPECT_THAT(parse_device(""), FailsWith(Errc::invalid_argument));
  for (const DeviceModel& model : device_models()) {
    EXPECT_TRUE(parse_device(model.name).has_value()) << model.name;
    EXPECT_LT(model.usable_bytes, model.memory_bytes);
    EXPECT_GT(model.usable_bytes, model.memory_bytes / 2);
  }
}

}  // namespace
}  // namespace ingot::test
