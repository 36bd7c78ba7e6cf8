// SPDX-License-Identifier: MIT
#include "ingot/quantize_model.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "ingot/quantize.hpp"
#include "ingot/shard_name.hpp"
#include "quantization/quantize_fixture.hpp"
#include "support/random.hpp"

namespace ingot::test {
namespace {

using enum TensorType;
using testing::HasSubstr;

TEST_F(QuantizeModel, GivesTheBytesOfTheCodecWithAnyNumberOfThreads) {
  const std::vector<SourceTensor> sources = {
      make_source("token_embd.weight", {512, 700}),  // more than one chunk
      make_source("blk.0.attn_norm.weight", {512}),  // copied
      make_source("blk.0.ffn_up.weight", {256, 3}),  // less than one run
      make_source("blk.0.ffn_up_exps.weight", {256, 5, 3}),
      make_source("blk.1.wide.weight", {600064, 2})};  // rows longer than a chunk
  const Model model = write_model(sources);
  options_.recipe = find_recipe("Q4_K_S");
  options_.types.is_pure = true;
  for (const unsigned threads : {1u, 2u, 3u, 8u}) {
    options_.thread_count = threads;
    const auto errors = run(model, "out" + std::to_string(threads) + ".gguf");
    ASSERT_THAT(errors, Succeeds());
    EXPECT_EQ(file_bytes("out" + std::to_string(threads) + ".gguf"), file_bytes("out1.gguf"));
  }
  const Model result = open_result("out3.gguf");
  EXPECT_EQ(result.find_tensor("blk.0.attn_norm.weight")->type, f32);
  for (const SourceTensor& source : sources) {
    if (source.shape.size() > 1) expect_data(result, source, expected(source, q4_k));
  }
}

/// Integers from -8 to 7 times a scale for each 64 weights.
SourceTensor make_int4(const std::string& name) {
  SourceTensor source = make_source(name, {512, 8});
  for (std::size_t i = 0; i < source.floats.size(); ++i) {
    const float scale = 0.01f + 0.001f * static_cast<float>(i / 64 % 7);
    source.floats[i] = scale * std::floor(source.floats[i] * 128.0f);
  }
  return source;
}

TEST_F(QuantizeModel, KeepsALatticeAndIsTheReferenceOtherwise) {
  const SourceTensor lattice = make_int4("blk.0.ffn_up.weight");
  const SourceTensor other = make_source("blk.1.ffn_up.weight", {512, 8});
  const Model model = write_model({lattice, other});
  options_.recipe = find_recipe("Q4_0");
  options_.types.is_pure = true;
  const auto plan = plan_quantization(model, options_);
  ASSERT_THAT(plan, Succeeds());
  for (const PlannedTensor& planned : plan->tensors) {
    const bool is_lattice = planned.source->name == lattice.name;
    EXPECT_EQ(planned.grid.has_value(), is_lattice);
    EXPECT_EQ(planned.effort, is_lattice ? Effort::automatic : Effort::reference);
    EXPECT_EQ(planned.explanation.ends_with("on a 4-bit lattice, groups of 64"), is_lattice);
  }
  const auto errors = run(model);
  ASSERT_THAT(errors, Succeeds());
  expect_data(open_result(), other, expected(other, TensorType::q4_0));
  // The scale alone was rounded, to binary16.
  EXPECT_LT((*errors)[plan->tensors[0].source->name == lattice.name ? 0 : 1].relative(), 0.0005);
  options_.effort = Effort::reference;
  ASSERT_THAT(run(model), Succeeds());
  expect_data(open_result(), lattice, expected(lattice, TensorType::q4_0));
}

/// What a target measures is what its types get.
TEST_F(QuantizeModel, CountsOnALatticeForATarget) {
  const Model model =
      write_model({make_int4("blk.0.ffn_up.weight"), make_source("blk.1.ffn_up.weight", {512, 8})});
  options_.target_bits_per_weight = 6.5;
  const auto plan = plan_quantization(model, options_);
  ASSERT_THAT(plan, Succeeds());
  for (const PlannedTensor& planned : plan->tensors) {
    // Q4_0 and Q4_K, of one size, both hold it.
    const TensorType type = planned.choice.type;
    EXPECT_EQ(planned.grid.has_value(), type == TensorType::q4_0 || type == TensorType::q4_k);
    EXPECT_EQ(!planned.grid.has_value(), type == TensorType::q8_0);
  }
}

TEST_F(QuantizeModel, GivesTheBytesOfTheBestEffortWithAnyNumberOfThreads) {
  const SourceTensor source = make_source("blk.0.ffn_up.weight", {512, 700});  // several chunks
  const Model model = write_model({source});
  options_.recipe = find_recipe("Q8_0");  // of which the reference ignores importances
  options_.effort = Effort::best;
  const std::vector<float> weights = make_weights(512);
  write_gguf_imatrix(folder_.path("imatrix.gguf"), {{source.name, weights, {1}}});
  const auto matrix = ImportanceMatrix::open(folder_.path("imatrix.gguf"));
  ASSERT_THAT(matrix, Succeeds());
  options_.importance = &*matrix;
  for (const unsigned threads : {1u, 3u}) {
    options_.thread_count = threads;
    const auto errors = run(model);
    ASSERT_THAT(errors, Succeeds());
    std::vector<std::byte> blocks(source.floats.size() / 32 * 34);
    ASSERT_THAT(
        quantize(q8_0, source.floats, 512, blocks, {.importance = weights, .effort = Effort::best}),
        Succeeds());
    expect_data(open_result(), source, blocks);
    EXPECT_NEAR((*errors)[0].slope(), 1.0, 1e-4);
  }
}

TEST_F(QuantizeModel, UsesTheImportanceOfEachExpert) {
  const SourceTensor experts = make_source("blk.0.ffn_down_exps.weight", {256, 4, 3});
  const SourceTensor plain = make_source("blk.0.ffn_up.weight", {256, 4});
  const SourceTensor without = make_source("blk.0.ffn_gate.weight", {256, 4});
  const std::vector<float> weights = make_weights(256 * 3);
  const Model model = write_model({experts, plain, without});
  write_gguf_imatrix(folder_.path("imatrix.gguf"),
                     {{experts.name, weights, {1, 1, 1}},
                      {plain.name, {weights.begin(), weights.begin() + 256}, {1}}});
  const auto matrix = ImportanceMatrix::open(folder_.path("imatrix.gguf"));
  ASSERT_THAT(matrix, Succeeds());
  options_.importance = &*matrix;
  options_.importance_name = std::string(200, 'n');
  // Q4_0 with weights looks at whole rows, Q4_K at super-blocks.
  for (const char* recipe : {"Q4_0", "Q4_K_S", "IQ4_XS"}) {
    options_.recipe = find_recipe(recipe);
    options_.types.is_pure = true;
    const auto errors = run(model);
    ASSERT_THAT(errors, Succeeds());
    const Model result = open_result();
    const TensorType type = options_.recipe->base;
    expect_data(result, experts, expected(experts, type, weights));
    expect_data(result, plain, expected(plain, type, std::span(weights).first(256)));
    expect_data(result, without, expected(without, type));
    EXPECT_EQ(result.get_or("quantize.imatrix.file", std::string_view{}).size(), 127u);
    EXPECT_EQ(result.get_or("quantize.imatrix.dataset", std::string_view{}), "wiki.txt");
    EXPECT_EQ(result.get_or("quantize.imatrix.entries_count", 0u), 2u);
    EXPECT_EQ(result.get_or("quantize.imatrix.chunks_count", 0u), 7u);
  }
}

TEST_F(QuantizeModel, WritesTensorsInOrderAndKeysThatFit) {
  const Model model = write_model(
      {make_source("token_embd.weight", {256, 4}), make_source("blk.10.ffn_up.weight", {256, 4}),
       make_source("blk.9.ffn_up.weight", {256, 4}), make_source("output.weight", {256, 4})});
  options_.recipe = find_recipe("Q5_K_M");
  options_.adjust_metadata = [](ModelWriter& writer) -> Result<void> {
    writer.set_string("general.name", "changed");
    return {};
  };
  ASSERT_THAT(run(model), Succeeds());
  const Model result = open_result();
  std::vector<std::string> names;
  for (const TensorInfo& tensor : result.tensors()) names.emplace_back(tensor.name);
  EXPECT_THAT(names, testing::ElementsAre("output.weight", "token_embd.weight",
                                          "blk.9.ffn_up.weight", "blk.10.ffn_up.weight"));
  EXPECT_EQ(result.get_or("general.file_type", 0u), 17u);
  EXPECT_EQ(result.get_or("general.quantization_version", 0u), 2u);
  EXPECT_EQ(result.get_or("general.name", std::string_view{}), "changed");
  EXPECT_EQ(result.files()[0].alignment, 64u);
  EXPECT_EQ(result.find("split.count"), nullptr);
}

TEST_F(QuantizeModel, MeasuresErrorsInTheSamePass) {
  const SourceTensor source = make_source("blk.0.ffn_up.weight", {512, 600});
  const Model model = write_model({source, make_source("blk.0.ffn_norm.weight", {512})});
  options_.recipe = find_recipe("Q4_0");
  const auto errors = run(model);
  ASSERT_THAT(errors, Succeeds());
  const Model result = open_result();
  std::vector<float> decoded(source.floats.size());
  ASSERT_THAT(result.dequantize_rows(*result.find_tensor(source.name), 0, 600, decoded),
              Succeeds());
  const QuantizationError whole = measure_error(source.floats, decoded);
  ASSERT_EQ(errors->size(), 2u);
  const TensorError& copied = (*errors)[0];
  const TensorError& measured = (*errors)[1];
  EXPECT_EQ(copied.plain.count, 0u);
  EXPECT_EQ(measured.plain.count, whole.count);
  EXPECT_NEAR(measured.plain.rmse(), whole.rmse(), 1e-6 * whole.rmse());
  EXPECT_NEAR(measured.plain.sqnr_db(), whole.sqnr_db(), 1e-5);
  EXPECT_EQ(measured.plain.largest, whole.largest);
  EXPECT_NEAR(measured.relative(), std::sqrt(whole.squared_error / whole.squared_signal), 1e-6);
  double product = 0.0;
  for (std::size_t i = 0; i < decoded.size(); ++i) {
    product += double{source.floats[i]} * double{decoded[i]};
  }
  EXPECT_NEAR(measured.slope(), product / whole.squared_signal, 1e-9);
  EXPECT_EQ(copied.slope(), 1.0);
}

TEST_F(QuantizeModel, NamesTensorAndPositionOfWhatIsNotFinite) {
  SourceTensor source = make_source("blk.0.ffn_up.weight", {256, 2000});
  source.floats[256 * 1500 + 7] = std::numeric_limits<float>::quiet_NaN();
  for (const char* recipe : {"Q4_0", "Q6_K", "F16", "COPY"}) {
    const Model model = write_model({source});
    options_.recipe = find_recipe(recipe);
    options_.allows_nan = false;
    const auto refused = run(model, "none.gguf");
    ASSERT_THAT(refused, FailsWith(Errc::weight_not_finite)) << recipe;
    EXPECT_EQ(refused.error().subject, source.name);
    EXPECT_THAT(refused.error().detail, HasSubstr("element 384007 (row 1500, column 7) is NaN"));
    EXPECT_FALSE(std::ifstream(folder_.path("none.gguf")).good());
    options_.allows_nan = true;
    EXPECT_THAT(run(model), Succeeds());
  }
}

TEST_F(QuantizeModel, RefusesWeightsTooLargeForTheType) {
  SourceTensor source = make_source("blk.0.ffn_up.weight", {256, 2});
  source.floats[300] = 1e30f;
  options_.recipe = find_recipe("Q8_0");
  const auto refused = run(write_model({source}));
  ASSERT_THAT(refused, FailsWith(Errc::weight_not_finite));
  EXPECT_THAT(refused.error().detail, HasSubstr("too large for Q8_0"));
}

TEST_F(QuantizeModel, KeepsTheByteOrder) {
  const SourceTensor source = make_source("blk.0.ffn_up.weight", {256, 4});
  const SourceTensor norm = make_source("blk.0.ffn_norm.weight", {256});
  const Model model = write_model({source, norm}, Endian::big);
  options_.recipe = find_recipe("Q4_K_S");
  ASSERT_THAT(run(model), Succeeds());
  const Model result = open_result();
  EXPECT_EQ(result.files()[0].byte_order, Endian::big);
  expect_data(result, source, expected(source, q4_k, {}, Endian::big));
  std::vector<float> copied(256);
  ASSERT_THAT(result.dequantize_rows(*result.find_tensor(norm.name), 0, 1, copied), Succeeds());
  EXPECT_EQ(copied, norm.floats);
}

TEST_F(QuantizeModel, RefusesToQuantizeAgainUnlessAllowed) {
  const SourceTensor source = make_source("blk.0.ffn_up.weight", {256, 4});
  const Model model = write_model({source});
  options_.recipe = find_recipe("Q8_0");
  ASSERT_THAT(run(model, "first.gguf"), Succeeds());
  const Model first = open_result("first.gguf");
  options_.recipe = find_recipe("Q4_0");
  const auto refused = run(first);
  ASSERT_THAT(refused, FailsWith(Errc::requantize_refused));
  EXPECT_EQ(refused.error().subject, source.name);
  options_.recipe = find_recipe("Q8_0");  // nothing to do
  EXPECT_THAT(run(first), Succeeds());
  options_.recipe = find_recipe("F16");  // loses nothing
  EXPECT_THAT(run(first), Succeeds());
  options_.recipe = find_recipe("Q4_0");
  options_.allows_requantize = true;
  EXPECT_THAT(run(first), Succeeds());
}

TEST_F(QuantizeModel, WantsImportanceBeforeTheWork) {
  const Model model = write_model(
      {make_source("blk.0.ffn_up.weight", {256, 4}), make_source("token_embd.weight", {256, 4})});
  options_.recipe = find_recipe("IQ2_XS");
  const auto refused = plan_quantization(model, options_);
  ASSERT_THAT(refused, FailsWith(Errc::weights_required));
  EXPECT_EQ(refused.error().subject, "blk.0.ffn_up.weight");
  // A matrix without that tensor does not help.
  write_gguf_imatrix(folder_.path("m.gguf"), {{"token_embd.weight", make_weights(256), {1}}});
  const auto matrix = ImportanceMatrix::open(folder_.path("m.gguf"));
  options_.importance = &*matrix;
  EXPECT_THAT(plan_quantization(model, options_), FailsWith(Errc::weights_required));
}

TEST_F(QuantizeModel, RefusesAMatrixThatDoesNotFit) {
  const Model model = write_model({make_source("blk.0.ffn_up.weight", {256, 4})});
  options_.recipe = find_recipe("Q4_K_M");
  const auto plan_with = [&](const std::string& name, std::size_t columns) {
    write_gguf_imatrix(folder_.path(name + ".gguf"), {{name, make_weights(columns), {1}}});
    const auto matrix = ImportanceMatrix::open(folder_.path(name + ".gguf"));
    options_.importance = &*matrix;
    return plan_quantization(model, options_);
  };
  EXPECT_THAT(plan_with("blk.0.ffn_up.weight", 256), Succeeds());
  const auto wrong_size = plan_with("blk.0.ffn_up.weight", 128);
  ASSERT_THAT(wrong_size, FailsWith(Errc::imatrix_mismatch));
  EXPECT_THAT(wrong_size.error().detail, HasSubstr("128"));
  EXPECT_THAT(plan_with("other.weight", 256), FailsWith(Errc::imatrix_mismatch));
}

TEST_F(QuantizeModel, StopsWhenAsked) {
  const Model model = write_model({make_source("blk.0.ffn_up.weight", {512, 2000})});
  options_.recipe = find_recipe("Q4_0");
  const auto plan = plan_quantization(model, options_);
  ASSERT_THAT(plan, Succeeds());
  const QuantizedShard whole{.path = folder_.path("stopped.gguf")};
  EXPECT_THAT(
      quantize_model(model, *plan, options_, whole, false, [](std::uint64_t) { return false; }),
      FailsWith(Errc::interrupted));
  EXPECT_FALSE(std::ifstream(whole.path).good());
}

TEST_F(QuantizeModel, FitsATarget) {
  std::vector<SourceTensor> sources;
  for (int i = 0; i < 6; ++i) {
    sources.push_back(make_source("blk." + std::to_string(i) + ".ffn_up.weight", {512, 64}));
    // Some are louder than others: these deserve more bits.
    for (float& number : sources.back().floats) number *= i < 3 ? 1.0f : 8.0f;
  }
  const Model model = write_model(sources);
  std::uint64_t last_bytes = 0;
  for (const double bits : {3.0, 4.4, 5.5, 7.0, 16.0}) {
    options_.target_bits_per_weight = bits;
    const auto plan = plan_quantization(model, options_);
    ASSERT_THAT(plan, Succeeds());
    EXPECT_LE(static_cast<double>(plan->size_bytes) * 8.0,
              bits * static_cast<double>(plan->element_count));
    EXPECT_GT(plan->size_bytes, last_bytes);
    last_bytes = plan->size_bytes;
    EXPECT_GE(plan->tensors[5].size_bytes, plan->tensors[0].size_bytes);
    EXPECT_EQ(plan->tensors[0].choice.reason, TypeReason::target);
  }
  options_.target_bits_per_weight = 5.0;
  options_.types.patterns = {{"blk\\.0\\.", q8_0}};
  const auto plan = plan_quantization(model, options_);
  ASSERT_THAT(plan, Succeeds());
  EXPECT_EQ(plan->tensors[0].choice.type, q8_0);
  EXPECT_LE(static_cast<double>(plan->size_bytes) * 8.0,
            5.0 * static_cast<double>(plan->element_count));
  options_.target_bits_per_weight = 1.0;
  EXPECT_THAT(plan_quantization(model, options_), FailsWith(Errc::target_too_small));
  options_.target_bits_per_weight.reset();
  options_.target_file_bytes = 150000;
  options_.types.patterns.clear();
  ASSERT_THAT(run(model), Succeeds());
  EXPECT_LE(file_bytes("out.gguf").size(), 150000u);
  EXPECT_GT(file_bytes("out.gguf").size(), 130000u);
}

TEST_F(QuantizeModel, FitsATargetWithTheImportanceOfColumns) {
  const SourceTensor loud = make_source("blk.0.ffn_up.weight", {512, 64});
  const SourceTensor quiet = make_source("blk.1.ffn_up.weight", {512, 64});
  const SourceTensor experts = make_source("blk.2.ffn_up_exps.weight", {256, 16, 2});
  const Model model = write_model({loud, quiet, experts});
  // All that matters is in the second tensor, which is no different otherwise.
  write_gguf_imatrix(folder_.path("imatrix.gguf"),
                     {{loud.name, std::vector<float>(512, 1e-6f), {1}},
                      {quiet.name, std::vector<float>(512, 100.0f), {1}},
                      {experts.name, make_weights(512), {1, 1}}});
  const auto matrix = ImportanceMatrix::open(folder_.path("imatrix.gguf"));
  ASSERT_THAT(matrix, Succeeds());
  options_.importance = &*matrix;
  options_.target_bits_per_weight = 4.5;
  const auto plan = plan_quantization(model, options_);
  ASSERT_THAT(plan, Succeeds());
  EXPECT_TRUE(plan->tensors[0].has_importance);
  EXPECT_LT(plan->tensors[0].size_bytes, plan->tensors[1].size_bytes);
  EXPECT_LE(static_cast<double>(plan->size_bytes) * 8.0,
            4.5 * static_cast<double>(plan->element_count));
}

TEST_F(QuantizeModel, ASetAppearsAsAWhole) {
  const Model model = write_model({make_source("blk.0.ffn_up.weight", {512, 40}),
                                   make_source("blk.0.ffn_down.weight", {512, 40})});
  options_.recipe = find_recipe("Q8_0");
  const auto plan = plan_quantization(model, options_);
  ASSERT_THAT(plan, Succeeds());
  auto shards = cut_shards(model, *plan, options_, {.shard_count = 2});
  ASSERT_THAT(shards, Succeeds());
  std::uint64_t file_bytes = 0;
  for (QuantizedShard& shard : *shards) {
    shard.path = shard_file_name(folder_.path("set"), shard.index, shard.count);
    std::ofstream(shard.path) << "older";
    file_bytes += *quantized_file_bytes(model, *plan, options_, shard);
  }
  const auto first_bytes = *quantized_file_bytes(model, *plan, options_, shards->front());
  const auto write = [&](std::uint64_t most_bytes) {
    return quantize_set(model, *plan, options_, *shards, true,
                        [=](std::uint64_t done_bytes) { return done_bytes <= most_bytes; });
  };
  // Stopped within the second shard.
  EXPECT_THAT(write(first_bytes), FailsWith(Errc::interrupted));
  for (const QuantizedShard& shard : *shards) {
    EXPECT_EQ(std::filesystem::file_size(shard.path), 5u);
  }
  const auto errors = write(file_bytes);
  ASSERT_THAT(errors, Succeeds());
  EXPECT_EQ(errors->size(), 2u);
  EXPECT_THAT(Model::open(shards->front().path), Succeeds());
}

TEST_F(QuantizeModel, WritesNoShardThatIsNotOfThePlan) {
  const Model model = write_model({make_source("blk.0.ffn_up.weight", {512, 4})});
  options_.recipe = find_recipe("Q8_0");
  const auto plan = plan_quantization(model, options_);
  ASSERT_THAT(plan, Succeeds());
  const auto write = [&](QuantizedShard shard) {
    shard.path = folder_.path("out.gguf");
    return quantize_model(model, *plan, options_, shard, false);
  };
  EXPECT_THAT(write({.tensor_count = 2}), FailsWith(Errc::index_out_of_range));
  EXPECT_THAT(write({.first_tensor = 2}), FailsWith(Errc::index_out_of_range));
  EXPECT_THAT(write({.first_tensor = 1, .tensor_count = 1}), FailsWith(Errc::index_out_of_range));
  EXPECT_THAT(write({.index = 2, .count = 2}), FailsWith(Errc::index_out_of_range));
  EXPECT_FALSE(std::ifstream(folder_.path("out.gguf")).good());
}

TEST_F(QuantizeModel, WritesNoWholeModelWithoutItsTensors) {
  const Model model = write_model(
      {make_source("blk.0.ffn_up.weight", {512, 4}), make_source("blk.1.ffn_up.weight", {512, 4})});
  options_.recipe = find_recipe("Q8_0");
  const auto plan = plan_quantization(model, options_);
  ASSERT_THAT(plan, Succeeds());
  const std::string path = folder_.path("out.gguf");
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}}) {
    EXPECT_THAT(
        quantize_model(model, *plan, options_, {.path = path, .tensor_count = count}, false),
        FailsWith(Errc::invalid_argument));
  }
  EXPECT_THAT(quantize_set(model, *plan, options_, {}, false), FailsWith(Errc::invalid_argument));
  EXPECT_FALSE(std::ifstream(path).good());
  EXPECT_THAT(quantize_model(model, *plan, options_, {.path = path}, false), Succeeds());
  EXPECT_EQ(open_result().tensors().size(), 2u);
}

}  // namespace
}  // namespace ingot::test
