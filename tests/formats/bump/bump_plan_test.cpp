// SPDX-License-Identifier: MIT
// Everything for which a model is refused as a bump file, before anything is written.
#include "formats/bump/bump_plan.hpp"

#include <gmock/gmock.h>

#include <string>

#include "support/expect_error.hpp"
#include "support/model_sketch.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::formats {
namespace {

using test::FailsWith;
using test::ModelSketch;
using test::sketch_llama;
using test::SketchShape;
using test::Succeeds;
using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr auto unfit = Errc::bump_cannot_hold;
constexpr auto other_type = Errc::type_not_held;
constexpr auto lost = Errc::would_be_lost;
constexpr BumpOptions doc{};
constexpr BumpOptions engine{.codes = BumpCodes::engine};
constexpr BumpOptions v4{.version = 4};
constexpr BumpOptions all_dialects[] = {doc, engine, v4};

class BumpPlanTest : public testing::Test {
 protected:
  Result<BumpPlan> plan(const ModelSketch& sketch, const BumpOptions& options = doc,
                        WriteFormat format = {}) {
    INGOT_TRY(
        model_,
        Model::open(sketch.write(folder_.path("model.gguf"), format)).transform([](Model&& model) {
          return std::make_unique<Model>(std::move(model));
        }));
    return plan_bump_file(*model_, options);
  }

  /// Expects a refusal in every dialect.
  void expect_refused(const ModelSketch& sketch, Errc code, const std::string& subject) {
    for (const BumpOptions& options : all_dialects) {
      SCOPED_TRACE(testing::Message() << "version " << options.version);
      EXPECT_THAT(plan(sketch, options), FailsWith(code, Error::no_offset, subject));
    }
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<Model> model_;
};

/// Widths that give no cause for remarks.
const SketchShape even{.embedding = 64, .heads = 4, .head_width = 16, .feed_forward = 96};

// --- the table of checks that the original converters make, row by row

TEST_F(BumpPlanTest, AWholeModelPasses) {
  for (const BumpOptions& options : all_dialects)
    EXPECT_THAT(plan(sketch_llama(), options), Succeeds());
}

TEST_F(BumpPlanTest, TheEmbeddingMustBeThereAndAMatrix) {
  expect_refused(sketch_llama().remove_tensor("token_embd.weight"), unfit, "token_embd.weight");
  expect_refused(sketch_llama().tensor("token_embd.weight", TensorType::f32, {320}), unfit,
                 "token_embd.weight");
}

TEST_F(BumpPlanTest, LayersAreCountedWhereTheKeyIsMissing) {
  ModelSketch sketch = sketch_llama().remove("llama.block_count");
  EXPECT_EQ(plan(sketch)->shape.layers, 2u);
  sketch.remove_tensor("blk.0.attn_norm.weight").remove_tensor("blk.1.attn_norm.weight");
  expect_refused(sketch, unfit, "llama.block_count");
}

TEST_F(BumpPlanTest, NoLayersAreTakenLiterally) {
  ModelSketch sketch = sketch_llama({.layers = 0});
  const auto planned = plan(sketch);
  ASSERT_THAT(planned, Succeeds());
  EXPECT_EQ(planned->table.size(), 4u);
}

TEST_F(BumpPlanTest, TheFeedForwardWidthIsSeenWhereTheKeyIsMissing) {
  ModelSketch sketch = sketch_llama().remove("llama.feed_forward_length");
  EXPECT_EQ(plan(sketch)->shape.feed_forward, 48u);
  sketch.tensor("blk.0.ffn_gate.weight", TensorType::f32, {32 * 48});
  expect_refused(sketch, unfit, "llama.feed_forward_length");
}

TEST_F(BumpPlanTest, HeadsMustBeANumber) {
  const std::string key = "llama.attention.head_count";
  expect_refused(sketch_llama().remove(key), unfit, key);
  expect_refused(sketch_llama().set(key, 4.0F), unfit, key);
  expect_refused(sketch_llama().set(key, std::uint32_t{0}), unfit, key);
  const auto set_array = [&](std::vector<std::uint32_t> values) {
    return sketch_llama().set_by(key, [=](ModelWriter& writer) {
      writer.set_array(key, std::span<const std::uint32_t>(values));
    });
  };
  expect_refused(set_array({4, 2}), unfit, key);
  // One number for each layer, always the same, is one number; the original sees none.
  EXPECT_THAT(plan(set_array({4, 4})), Succeeds());
  EXPECT_THAT(plan(set_array({4, 4}), {.is_strictly_original = true}),
              FailsWith(unfit, Error::no_offset, key));
}

TEST_F(BumpPlanTest, KeyHeadsAreHeadsWhereTheKeyIsMissingOrZero) {
  ModelSketch sketch = sketch_llama({.kv_heads = 4});
  sketch.set("llama.attention.head_count_kv", std::uint32_t{0});
  EXPECT_EQ(plan(sketch)->shape.kv_heads, 4u);
  sketch.remove("llama.attention.head_count_kv");
  EXPECT_EQ(plan(sketch)->shape.kv_heads, 4u);
}

TEST_F(BumpPlanTest, TheContextMustBeKnown) {
  ModelSketch sketch = sketch_llama().remove("llama.context_length");
  expect_refused(sketch, unfit, "llama.context_length");
  EXPECT_EQ(plan(sketch).error().remedy, Remedy::give_context);
  sketch.set("llama.context_length", std::uint32_t{0});
  expect_refused(sketch, unfit, "llama.context_length");
  BumpOptions options;
  options.context = 20;
  const auto planned = plan(sketch, options);
  ASSERT_THAT(planned, Succeeds());
  EXPECT_EQ(planned->shape.context, 20u);
  EXPECT_EQ(planned->shape.aligned_context, 32u);
}

TEST_F(BumpPlanTest, TheWidthMustBeThatOfTheEmbedding) {
  expect_refused(sketch_llama().set("llama.embedding_length", std::uint32_t{64}), unfit,
                 "llama.embedding_length");
  EXPECT_THAT(plan(sketch_llama().set("llama.embedding_length", std::uint32_t{0})), Succeeds());
}

TEST_F(BumpPlanTest, HeadsMustDivideTheWidth) {
  expect_refused(sketch_llama().set("llama.attention.head_count", std::uint32_t{5}), unfit,
                 "llama.embedding_length");
}

TEST_F(BumpPlanTest, EveryTensorOfALayerMustBeThere) {
  expect_refused(sketch_llama().remove_tensor("output_norm.weight"), unfit, "output_norm.weight");
  for (const char* name : {"attn_norm", "ffn_norm", "attn_q", "attn_k", "attn_v", "attn_output",
                           "ffn_gate", "ffn_up", "ffn_down"}) {
    SCOPED_TRACE(name);
    expect_refused(sketch_llama().remove_tensor("blk.1." + std::string(name) + ".weight"), unfit,
                   "layer 1");
  }
}

TEST_F(BumpPlanTest, MatricesMustHaveTheirDimensions) {
  using Shape = std::vector<std::uint64_t>;
  const std::pair<const char*, Shape> wrong[] = {
      {"attn_q", {32, 24}},      {"attn_q", {16, 32}},      {"attn_k", {32, 32}},
      {"attn_v", {32, 8}},       {"attn_output", {32, 16}}, {"attn_output", {16, 32}},
      {"ffn_gate", {32, 32}},    {"ffn_up", {16, 48}},      {"ffn_down", {32, 48}},
      {"ffn_gate", {32, 48, 2}}, {"attn_q", {1024}},
  };
  for (const auto& [name, shape] : wrong) {
    SCOPED_TRACE(name);
    const std::string full = "blk.1." + std::string(name) + ".weight";
    expect_refused(sketch_llama().tensor(full, TensorType::f32, shape), unfit, full);
  }
}

TEST_F(BumpPlanTest, Version4TakesTheHeadWidthFromTheTensors) {
  const SketchShape wide{.head_width = 16};  // 4 heads of 16 in a width of 32
  EXPECT_THAT(plan(sketch_llama(wide)), FailsWith(unfit, Error::no_offset, "blk.0.attn_q.weight"));
  const auto planned = plan(sketch_llama(wide), v4);
  ASSERT_THAT(planned, Succeeds());
  EXPECT_EQ(planned->shape.head_width, 16u);
  ModelSketch uneven = sketch_llama();
  uneven.tensor("blk.0.attn_q.weight", TensorType::f32, {32, 30});
  EXPECT_THAT(plan(uneven, v4), FailsWith(unfit, Error::no_offset, "blk.0.attn_q.weight"));
  ModelSketch keys = sketch_llama();
  for (const char* name : {"blk.0.attn_k.weight", "blk.0.attn_v.weight", "blk.1.attn_k.weight",
                           "blk.1.attn_v.weight"}) {
    keys.tensor(name, TensorType::f32, {32, 24});
  }
  EXPECT_THAT(plan(keys, v4), FailsWith(unfit, Error::no_offset, "blk.0.attn_k.weight"));
}

TEST_F(BumpPlanTest, WeightsMustBeOfATypeOfTheDialect) {
  const SketchShape large{
      .layers = 1, .embedding = 256, .heads = 4, .head_width = 64, .feed_forward = 256};
  const auto with = [&](const char* name, TensorType stored) {
    ModelSketch sketch = sketch_llama(large);
    return sketch.tensor(name, stored, sketch.find(name)->shape);
  };
  for (const char* name : {"token_embd.weight", "blk.0.attn_q.weight", "blk.0.ffn_down.weight"}) {
    SCOPED_TRACE(name);
    for (const TensorType stored : {TensorType::f32, TensorType::q4_k, TensorType::q6_k}) {
      for (const auto& options : all_dialects)
        EXPECT_THAT(plan(with(name, stored), options), Succeeds());
    }
    for (const TensorType stored : {TensorType::q5_0, TensorType::q5_1, TensorType::q8_0}) {
      EXPECT_THAT(plan(with(name, stored)), FailsWith(other_type, Error::no_offset, name));
      EXPECT_EQ(plan(with(name, stored)).error().remedy, Remedy::widen_or_engine_codes);
      EXPECT_THAT(plan(with(name, stored), engine), Succeeds());
      EXPECT_THAT(plan(with(name, stored), v4), Succeeds());
    }
    for (const TensorType stored : {TensorType::f16, TensorType::bf16, TensorType::q4_0,
                                    TensorType::q5_k, TensorType::iq4_xs}) {
      expect_refused(with(name, stored), other_type, name);
      EXPECT_EQ(plan(with(name, stored)).error().remedy, Remedy::widen);
      BumpOptions widen;
      widen.widen = true;
      EXPECT_THAT(plan(with(name, stored), widen), Succeeds());
    }
  }
}

TEST_F(BumpPlanTest, GateAndUpMustBeOfOneType) {
  const SketchShape large{
      .layers = 1, .embedding = 256, .heads = 4, .head_width = 64, .feed_forward = 256};
  ModelSketch sketch = sketch_llama(large);
  sketch.tensor("blk.0.ffn_up.weight", TensorType::q4_k, {256, 256});
  expect_refused(sketch, unfit, "layer 0");
  BumpOptions widen;
  widen.widen = true;
  const auto planned = plan(sketch, widen);
  ASSERT_THAT(planned, Succeeds());
  EXPECT_EQ(planned->table[2 + 10], 0);  // w1 as F32
  sketch.tensor("blk.0.ffn_gate.weight", TensorType::q4_k, {256, 256});
  EXPECT_EQ(plan(sketch)->table[2 + 10], 6);
  EXPECT_EQ(plan(sketch, engine)->table[2 + 10], 7);
}

TEST_F(BumpPlanTest, TheDocDialectWantsKQuantsInWholeSuperblocksEverywhere) {
  const SketchShape shape{
      .layers = 1, .embedding = 256, .heads = 4, .head_width = 64, .feed_forward = 96};
  ModelSketch sketch = sketch_llama(shape);
  sketch.tensor("blk.0.attn_q.weight", TensorType::q4_k, {256, 256});
  EXPECT_THAT(plan(sketch), FailsWith(unfit, Error::no_offset, "blk.0.attn_q.weight"));
  EXPECT_THAT(plan(sketch, engine), Succeeds());
  EXPECT_THAT(plan(sketch, v4), Succeeds());
  ModelSketch embedding = sketch_llama(shape);
  embedding.tensor("token_embd.weight", TensorType::q6_k, {256, 10});
  EXPECT_THAT(plan(embedding), FailsWith(unfit, Error::no_offset, "token_embd.weight"));
  EXPECT_THAT(plan(embedding, v4), Succeeds());
}

TEST_F(BumpPlanTest, NormsMustBeVectorsOfFloatsOfTheWidth) {
  for (const char* name :
       {"blk.1.attn_norm.weight", "blk.0.ffn_norm.weight", "output_norm.weight"}) {
    SCOPED_TRACE(name);
    expect_refused(sketch_llama().tensor(name, TensorType::f32, {16, 2}), unfit, name);
    expect_refused(sketch_llama().tensor(name, TensorType::f32, {31}), unfit, name);
    expect_refused(sketch_llama().tensor(name, TensorType::f32, {33}), unfit, name);
    expect_refused(sketch_llama().tensor(name, TensorType::q8_0, {32}), other_type, name);
    for (const TensorType stored : {TensorType::f16, TensorType::bf16}) {
      EXPECT_THAT(plan(sketch_llama().tensor(name, stored, {32})), Succeeds());
    }
  }
}

TEST_F(BumpPlanTest, BiasesMustHaveTheLengthOfTheirRows) {
  const std::string name = "blk.0.attn_k.bias";
  EXPECT_THAT(plan(sketch_llama().tensor(name, TensorType::f32, {16}), engine), Succeeds());
  EXPECT_THAT(plan(sketch_llama().tensor(name, TensorType::f32, {32}), engine),
              FailsWith(unfit, Error::no_offset, name));
  EXPECT_THAT(plan(sketch_llama().tensor(name, TensorType::i16, {16}), v4),
              FailsWith(other_type, Error::no_offset, name));
}

// --- where the original damages silently

TEST_F(BumpPlanTest, NumbersMustFitTheHeader) {
  expect_refused(sketch_llama().set("llama.context_length", std::uint64_t{1} << 32), unfit,
                 "llama.context_length");
  expect_refused(sketch_llama().set("llama.block_count", std::int32_t{-1}), unfit,
                 "llama.block_count");
}

TEST_F(BumpPlanTest, Version1IsRefused) {
  EXPECT_THAT(plan(sketch_llama(), doc, {1, Endian::little}),
              FailsWith(unfit, Error::no_offset, "version"));
  EXPECT_THAT(plan(sketch_llama(), doc, {2, Endian::little}), Succeeds());
  EXPECT_THAT(plan(sketch_llama(), doc, {3, Endian::big}), Succeeds());
}

TEST_F(BumpPlanTest, NothingIsLeftOutSilently) {
  for (const char* name : {"output.weight", "rope_freqs.weight", "blk.0.attn_output.bias",
                           "blk.1.attn_q_norm.weight", "output_norm.bias"}) {
    SCOPED_TRACE(name);
    const ModelSketch sketch = sketch_llama(even).tensor(name, TensorType::f32, {64, 10});
    expect_refused(sketch, lost, name);
    EXPECT_EQ(plan(sketch).error().remedy, Remedy::allow_loss);
    BumpOptions allowed;
    allowed.allow_loss = true;
    const auto planned = plan(sketch, allowed);
    ASSERT_THAT(planned, Succeeds());
    EXPECT_THAT(planned->remarks, Contains(Field(&Error::subject, name)));
  }
}

TEST_F(BumpPlanTest, BiasesOfAttentionAreLostInTheDocDialectAlone) {
  const std::string name = "blk.0.attn_q.bias";
  const ModelSketch sketch = sketch_llama().tensor(name, TensorType::f16, {32});
  EXPECT_THAT(plan(sketch), FailsWith(lost, Error::no_offset, name));
  const auto planned = plan(sketch, engine);
  ASSERT_THAT(planned, Succeeds());
  EXPECT_TRUE(planned->has_attention_biases);
}

TEST_F(BumpPlanTest, AnOutputEqualToTheEmbeddingIsNoLoss) {
  ModelSketch sketch = sketch_llama(even);
  const test::Bytes embedding = sketch.data("token_embd.weight");
  sketch.tensor("output.weight", TensorType::f32, {64, 10}, embedding);
  EXPECT_THAT(plan(sketch), Succeeds());
  sketch.find("output.weight")->data.back() ^= std::byte{1};
  expect_refused(sketch, lost, "output.weight");
}

TEST_F(BumpPlanTest, EpsilonAndBaseMustBeFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const char* key : {"llama.rope.freq_base", "llama.attention.layer_norm_rms_epsilon"}) {
    expect_refused(sketch_llama().set(key, infinity), unfit, key);
    expect_refused(sketch_llama().set(key, -infinity / infinity), unfit, key);
  }
}

TEST_F(BumpPlanTest, WhatTheEngineMisreadsIsSaid) {
  const auto says = [](const char* subject) {
    return Contains(Field(&Error::subject, HasSubstr(subject)));
  };
  EXPECT_THAT(plan(sketch_llama(even))->remarks, testing::SizeIs(1));  // the F32 output matrix
  EXPECT_THAT(plan(sketch_llama(even))->remarks, says("attn_output"));
  EXPECT_THAT(plan(sketch_llama())->remarks, says("head width"));
  EXPECT_THAT(
      plan(sketch_llama({.embedding = 24, .heads = 8, .kv_heads = 8, .head_width = 3}))->remarks,
      AllOf(says("embedding width"), Contains(Field(&Error::detail, "3 is odd"))));
  EXPECT_THAT(plan(sketch_llama({.feed_forward = 40}))->remarks, says("feed-forward width"));
  EXPECT_THAT(plan(sketch_llama({.kv_heads = 3}))->remarks, says("heads"));
  const SketchShape quantized{.layers = 1,
                              .embedding = 256,
                              .heads = 4,
                              .head_width = 64,
                              .feed_forward = 256,
                              .type = TensorType::q4_k};
  EXPECT_THAT(plan(sketch_llama(quantized))->remarks, IsEmpty());
}

// --- metadata

TEST_F(BumpPlanTest, MetadataIsReadUnderTheModelsOwnPrefix) {
  const auto planned = plan(sketch_llama({.architecture = "mistral"}));
  ASSERT_THAT(planned, Succeeds());
  EXPECT_EQ(planned->architecture, "mistral");
  EXPECT_EQ(planned->rope_theta, 500000.0);
  EXPECT_EQ(planned->epsilon, static_cast<double>(1e-6F));
}

TEST_F(BumpPlanTest, StrictlyOriginalPrefixesAreThoseOfTheConverter) {
  const auto strict = [](BumpOptions options) {
    options.is_strictly_original = true;
    return options;
  };
  const ModelSketch mistral = sketch_llama({.architecture = "mistral"});
  EXPECT_THAT(plan(mistral, strict(doc)), FailsWith(unfit));
  EXPECT_THAT(plan(mistral, strict(engine)), FailsWith(unfit));
  EXPECT_THAT(plan(mistral, strict(v4)), Succeeds());
  const ModelSketch qwen = sketch_llama({.architecture = "qwen2"});
  EXPECT_THAT(plan(qwen, strict(doc)), FailsWith(unfit));
  EXPECT_EQ(plan(qwen, strict(engine))->epsilon, static_cast<double>(1e-6F));
  EXPECT_THAT(plan(sketch_llama({.architecture = "other"}), strict(v4)), FailsWith(unfit));
}

TEST_F(BumpPlanTest, StrictlyOriginalEpsilonIsThatOfAnOddKey) {
  BumpOptions strict;
  strict.is_strictly_original = true;
  ModelSketch sketch = sketch_llama();
  EXPECT_EQ(plan(sketch, strict)->epsilon, 1e-5);
  sketch.set("llama.norm_rms_eps", 2e-6F);
  EXPECT_EQ(plan(sketch, strict)->epsilon, static_cast<double>(2e-6F));
  EXPECT_EQ(plan(sketch)->epsilon, static_cast<double>(1e-6F));
  sketch.remove("llama.attention.layer_norm_rms_epsilon");
  EXPECT_EQ(plan(sketch)->epsilon, static_cast<double>(2e-6F));
}

TEST_F(BumpPlanTest, DefaultsStandForMissingAndZero) {
  ModelSketch sketch = sketch_llama().remove("llama.rope.freq_base");
  sketch.set("llama.attention.layer_norm_rms_epsilon", 0.0);
  EXPECT_EQ(plan(sketch)->rope_theta, 10000.0);
  EXPECT_EQ(plan(sketch)->epsilon, 1e-5);
  sketch.set("llama.rope.freq_base", std::uint32_t{1000000});
  EXPECT_EQ(plan(sketch)->rope_theta, 1e6);
}

TEST_F(BumpPlanTest, OnlyVersions3And4AreWritten) {
  for (const std::uint32_t version : {2u, 5u}) {
    BumpOptions options;
    options.version = version;
    EXPECT_THAT(plan(sketch_llama(), options), FailsWith(Errc::invalid_argument));
  }
  EXPECT_THAT(plan(sketch_llama(), {.version = 4, .codes = BumpCodes::doc}),
              FailsWith(Errc::invalid_argument));
}

}  // namespace
}  // namespace ingot::formats
