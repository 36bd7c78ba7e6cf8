// SPDX-License-Identifier: MIT
// quantize_together: what several results of one model have in common with single ones.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <filesystem>
#include <optional>

#include "ingot/quantize_model.hpp"
#include "ingot/source.hpp"
#include "quantization/quantize_fixture.hpp"
#include "quantization/quantize_work.hpp"

namespace ingot::test {
namespace {

/// Results of one model that are made at once.
class SeveralResults : public QuantizeModel {
 protected:
  /// Opens the model so that the bytes of every read are counted.
  void SetUp() override {
    write_model(
        {make_source("token_embd.weight", {512, 700}), make_source("blk.0.attn_norm.weight", {512}),
         make_source("blk.0.ffn_up.weight", {256, 3}), make_source("output.weight", {512, 90}),
         make_source("blk.1.wide.weight", {600064, 2})},
        Endian::big);
    content_ = file_bytes("in.gguf");
    const auto read = [this](std::uint64_t offset, std::span<std::byte> destination) {
      read_bytes_ += destination.size();
      std::memcpy(destination.data(), content_.data() + offset, destination.size());
      return true;
    };
    model_.emplace(*Model::open_source(read_through(content_.size(), read)));
    // Types whose quantizers weigh whole rows cut a tensor into other chunks.
    write_gguf_imatrix(folder_.path("imatrix.gguf"),
                       {{"blk.1.wide.weight", make_weights(600064), {1}}});
    matrix_.emplace(*ImportanceMatrix::open(folder_.path("imatrix.gguf")));
  }

  /// A result of the type, whole or the second of two shards, to be written to NAME-TYPE.
  PlannedResult& add(const std::string& name, const char* type, bool is_shard = false) {
    Planned& planned = planned_.emplace_back();
    planned.options.recipe = find_recipe(type);
    planned.options.importance = &*matrix_;
    planned.options.thread_count = 3;
    planned.plan = *plan_quantization(*model_, planned.options);
    planned.shards = {{}};
    if (is_shard)
      planned.shards = {
          cut_shards(*model_, planned.plan, planned.options, {.shard_count = 2})->back()};
    planned.shards[0].path = folder_.path(name + "-" + type);
    return results_.emplace_back(PlannedResult{&planned.plan, &planned.options, planned.shards});
  }

  struct Planned {
    QuantizeModelOptions options;
    QuantizePlan plan;
    std::vector<QuantizedShard> shards;
  };
  std::string content_;
  std::atomic<std::uint64_t> read_bytes_ = 0;
  std::optional<Model> model_;
  std::optional<ImportanceMatrix> matrix_;
  std::deque<Planned> planned_;
  std::vector<PlannedResult> results_;
};

TEST_F(SeveralResults, AreThoseOfSeparateRunsFromOneReading) {
  const std::vector<const char*> types = {"Q4_K_M", "Q8_0", "COPY", "Q5_0"};
  for (const char* type : types) add("whole", type, std::string_view(type) == "Q8_0");
  read_bytes_ = 0;
  const auto errors = quantize_together(*model_, results_, false);
  ASSERT_THAT(errors, Succeeds());
  std::uint64_t tensor_bytes = 0;
  for (const TensorInfo& tensor : model_->tensors()) tensor_bytes += tensor.size_bytes;
  EXPECT_EQ(read_bytes_, tensor_bytes);
  for (std::size_t i = 0; i < types.size(); ++i) {
    SCOPED_TRACE(types[i]);
    QuantizedShard alone = planned_[i].shards[0];
    alone.path = folder_.path("alone");
    const auto alone_errors =
        quantize_model(*model_, planned_[i].plan, planned_[i].options, alone, true);
    ASSERT_THAT(alone_errors, Succeeds());
    EXPECT_EQ(file_bytes("alone"), file_bytes(std::string("whole-") + types[i]));
    ASSERT_EQ(alone_errors->size(), (*errors)[i].size());
    for (std::size_t k = 0; k < alone_errors->size(); ++k) {
      EXPECT_EQ((*alone_errors)[k].plain.largest, (*errors)[i][k].plain.largest);
    }
  }
}

TEST_F(SeveralResults, MakeEqualTensorsOnce) {
  // The third one may be unlike the first one where weights are NaN.
  for (const char* type : {"Q4_K_S", "Q4_K_M", "Q4_K_S", "Q8_0"}) add("same", type);
  planned_[2].options.allows_nan = true;
  const auto results_of = [&](const char* name) {
    const auto& tensors = planned_[0].plan.tensors;
    const auto found = std::ranges::find_if(
        tensors, [&](const PlannedTensor& planned) { return planned.source->name == name; });
    const auto tensor = static_cast<std::size_t>(found - tensors.begin());
    std::vector<quantization::TensorTarget> targets;
    for (std::size_t i = 0; i < planned_.size(); ++i) {
      targets.push_back({{i}, &planned_[i].plan.tensors[tensor], &planned_[i].options});
    }
    std::vector<std::vector<std::size_t>> results;
    const quantization::ChunkedTensor made(targets);
    for (const auto& target : made.targets()) results.push_back(target.results);
    return results;
  };
  using Groups = std::vector<std::vector<std::size_t>>;
  EXPECT_EQ(results_of("token_embd.weight"), (Groups{{0, 1}, {2}, {3}}));
  EXPECT_EQ(results_of("blk.0.attn_norm.weight"), (Groups{{0, 1, 3}, {2}}));
}

TEST_F(SeveralResults, FitALimitOfMemory) {
  add("small", "Q4_0");
  add("small", "Q8_0");
  ASSERT_THAT(quantize_together(*model_, results_, false), Succeeds());
  planned_[0].options.max_memory_bytes = 1000;
  const auto refused = quantize_together(*model_, results_, true);
  ASSERT_THAT(refused, FailsWith(Errc::invalid_argument));
  EXPECT_EQ(refused.error().subject, "max_memory");
  const std::string& detail = refused.error().detail;
  const std::string least = detail.substr(detail.rfind("is ") + 3);
  EXPECT_THAT(least, testing::EndsWith(" MiB"));
  // This process holds more by then.
  planned_[0].options.max_memory_bytes = (std::stoull(least) + 32) << 20;
  const std::string before = file_bytes("small-Q8_0");
  ASSERT_THAT(quantize_together(*model_, results_, true), Succeeds()) << detail;
  EXPECT_EQ(file_bytes("small-Q8_0"), before);
}

TEST_F(SeveralResults, AppearWhenAllAreComplete) {
  add("late", "Q4_0");
  add("late", "Q8_0");
  std::uint64_t file_bytes = 0;
  for (const Planned& planned : planned_) {
    file_bytes += *quantized_file_bytes(*model_, planned.plan, planned.options, planned.shards[0]);
  }
  std::uint64_t seen_bytes = 0;
  const auto stop_at_the_end = [&](std::uint64_t done_bytes) {
    seen_bytes = done_bytes;
    return done_bytes + 64 < file_bytes;
  };
  EXPECT_THAT(quantize_together(*model_, results_, false, stop_at_the_end),
              FailsWith(Errc::interrupted));
  EXPECT_LE(seen_bytes, file_bytes);
  // The second cannot be written.
  std::ofstream(folder_.path("late-Q8_0")) << "older";
  const auto refused = quantize_together(*model_, results_, false);
  ASSERT_THAT(refused, FailsWith(Errc::already_exists));
  EXPECT_EQ(refused.error().subject, folder_.path("late-Q8_0"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path("late-Q4_0")));
  EXPECT_EQ(std::filesystem::file_size(folder_.path("late-Q8_0")), 5u);
}

TEST_F(SeveralResults, AreOfPlansWithTheSameTensors) {
  EXPECT_THAT(quantize_together(*model_, results_, false), FailsWith(Errc::invalid_argument));
  add("a", "Q4_0");
  add("b", "Q8_0");
  std::swap(planned_[1].plan.tensors[0], planned_[1].plan.tensors[1]);
  EXPECT_THAT(quantize_together(*model_, results_, false), FailsWith(Errc::invalid_argument));
  const std::vector<QuantizedShard> repeated(2, planned_[0].shards[0]);
  EXPECT_THAT(quantize_set(*model_, planned_[0].plan, planned_[0].options, repeated, false),
              FailsWith(Errc::invalid_argument));
}

}  // namespace
}  // namespace ingot::test
