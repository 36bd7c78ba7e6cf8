// SPDX-License-Identifier: MIT
#include "ingot/lora.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "ingot/model_writer.hpp"
#include "ingot/quantize.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

using enum TensorType;
using testing::HasSubstr;

struct Weights {
  std::string name;
  std::vector<std::uint64_t> shape;
  TensorType type = f32;
  std::vector<float> numbers = {};  ///< The numbers; derived from the name if empty.
};

std::uint64_t count_of(const std::vector<std::uint64_t>& shape) {
  std::uint64_t count = 1;
  for (const std::uint64_t size : shape) count *= size;
  return count;
}

std::vector<float> random_numbers(const Weights& weights) {
  std::mt19937 random(static_cast<unsigned>(weights.name.size()));
  std::vector<float> numbers(static_cast<std::size_t>(count_of(weights.shape)));
  for (float& number : numbers) number = static_cast<float>(random() % 2001) / 1000.0f - 1.0f;
  return numbers;
}

class Lora : public testing::Test {
 protected:
  using SetKeys = std::function<void(ModelWriter&)>;

  static void set_adapter(ModelWriter& writer) {
    writer.set_string("general.architecture", "llama");
    writer.set_string("general.type", "adapter");
    writer.set_string("adapter.type", "lora");
    writer.set("adapter.lora.alpha", 8.0f);
  }
  static void set_model(ModelWriter& writer) {
    writer.set_string("general.architecture", "llama");
    writer.set("general.file_type", std::uint32_t{0});
  }

  /// Writes a file, opens it and notes its numbers as they decode.
  Model write(const std::string& name, const std::vector<Weights>& tensors, const SetKeys& keys) {
    ModelWriter writer;
    keys(writer);
    std::vector<std::vector<std::byte>> stored(tensors.size());
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const Weights& weights = tensors[i];
      const auto floats = weights.numbers.empty() ? random_numbers(weights) : weights.numbers;
      stored[i].resize(static_cast<std::size_t>(find_type(weights.type)->bytes_of(floats.size())));
      EXPECT_THAT(
          quantize(weights.type, floats, static_cast<std::size_t>(weights.shape[0]), stored[i]),
          Succeeds());
      EXPECT_THAT(writer.add_tensor(weights.name, weights.type, weights.shape,
                                    [&, i](const DataSink& sink) { return sink(stored[i]); }),
                  Succeeds());
    }
    EXPECT_THAT(writer.write(folder_.path(name), {}, true), Succeeds());
    return open(name);
  }

  Model open(const std::string& name) {
    auto model = Model::open(folder_.path(name));
    EXPECT_THAT(model, Succeeds());
    return std::move(*model);
  }

  static std::vector<float> numbers(const Model& model, const std::string& name) {
    const TensorInfo& tensor = *model.find_tensor(name);
    std::vector<float> numbers(static_cast<std::size_t>(tensor.element_count));
    EXPECT_THAT(
        model.dequantize_rows(tensor, 0, tensor.element_count / tensor.row_elements(), numbers),
        Succeeds());
    return numbers;
  }

  /// Merges one adapter and opens the result.
  Result<Model> merge(const Model& model, const Model& adapter, double scale = 1.0,
                      const LoraMergeOptions& options = {}) {
    INGOT_TRY(const LoraAdapter lora, read_lora(adapter));
    const ScaledLora scaled{&lora, scale};
    INGOT_TRY(const LoraMergePlan plan, plan_lora_merge(model, {&scaled, 1}, options));
    INGOT_TRY_VOID(merge_lora(model, plan, options, folder_.path("out.gguf"), true));
    return Model::open(folder_.path("out.gguf"));
  }

  /// W + factor * B A by the definition, in doubles.
  static std::vector<double> expected(const Model& model, const Model& adapter,
                                      const std::string& name, double factor) {
    const auto w = numbers(model, name);
    const auto a = numbers(adapter, name + ".lora_a");
    const auto b = numbers(adapter, name + ".lora_b");
    const TensorInfo& first = *adapter.find_tensor(name + ".lora_a");
    const TensorInfo& second = *adapter.find_tensor(name + ".lora_b");
    const std::uint64_t columns = first.shape[0], rank = first.shape[1], rows = second.shape[1];
    std::vector<double> result(w.begin(), w.end());
    for (std::uint64_t at = 0; at < result.size(); ++at) {
      const std::uint64_t matrix = at / (columns * rows), row = at / columns % rows;
      for (std::uint64_t k = 0; k < rank; ++k) {
        result[at] += factor * double{b[(matrix * rows + row) * rank + k]} *
                      double{a[(matrix * rank + k) * columns + at % columns]};
      }
    }
    return result;
  }

  static void expect_near(const std::vector<float>& found, const std::vector<double>& wanted) {
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], wanted[i], 1e-4) << i;
  }

  TemporaryFolder folder_;
};

TEST_F(Lora, AddsTheProductOfEveryMatrixAndCopiesTheRest) {
  // More than one piece; experts; a row longer than a piece; ranks that are no multiple of 4.
  const std::vector<Weights> weights = {{"blk.0.attn_q.weight", {600, 500}},
                                        {"blk.0.ffn_up_exps.weight", {64, 32, 3}},
                                        {"blk.1.ffn_up.weight", {300'032, 2}},
                                        {"blk.1.attn_k.weight", {64, 32}}};
  const Model model = write("model.gguf", weights, set_model);
  const Model adapter = write("adapter.gguf",
                              {{"blk.0.attn_q.weight.lora_a", {600, 5}},
                               {"blk.0.attn_q.weight.lora_b", {5, 500}},
                               {"blk.0.ffn_up_exps.weight.lora_a", {64, 8, 3}, f16},
                               {"blk.0.ffn_up_exps.weight.lora_b", {8, 32, 3}},
                               {"blk.1.ffn_up.weight.lora_a", {300'032, 4}},
                               {"blk.1.ffn_up.weight.lora_b", {4, 2}}},
                              set_adapter);
  const auto merged = merge(model, adapter, 0.5);
  ASSERT_THAT(merged, Succeeds());
  const std::map<std::string, double> ranks = {
      {"blk.0.attn_q.weight", 5}, {"blk.0.ffn_up_exps.weight", 8}, {"blk.1.ffn_up.weight", 4}};
  for (const auto& [name, rank] : ranks) {
    SCOPED_TRACE(name);
    expect_near(numbers(*merged, name), expected(model, adapter, name, 0.5 * 8 / rank));
  }
  EXPECT_EQ(numbers(*merged, "blk.1.attn_k.weight"), numbers(model, "blk.1.attn_k.weight"));
  EXPECT_EQ(merged->metadata().size(), model.metadata().size());
}

TEST_F(Lora, GivesTheSameBytesWithAnyNumberOfThreads) {
  const Model model = write("model.gguf", {{"blk.0.attn_q.weight", {512, 1500}, q4_k}}, set_model);
  const Model adapter =
      write("adapter.gguf",
            {{"blk.0.attn_q.weight.lora_a", {512, 16}}, {"blk.0.attn_q.weight.lora_b", {16, 1500}}},
            set_adapter);
  LoraMergeOptions options;
  std::vector<Bytes> files;
  for (const unsigned threads : {1u, 2u, 5u}) {
    options.thread_count = threads;
    const auto merged = merge(model, adapter, 1.0, options);
    ASSERT_THAT(merged, Succeeds());
    EXPECT_EQ(merged->tensors()[0].type, q4_k);
    files.push_back(read_whole(folder_.path("out.gguf")));
  }
  EXPECT_EQ(files[0], files[1]);
  EXPECT_EQ(files[0], files[2]);
}

TEST_F(Lora, GivesTheTypeThatIsWanted) {
  const Model model = write(
      "model.gguf", {{"blk.0.attn_q.weight", {256, 4}, q4_k}, {"blk.0.attn_norm.weight", {256}}},
      set_model);
  const Model adapter =
      write("adapter.gguf",
            {{"blk.0.attn_q.weight.lora_a", {256, 2}}, {"blk.0.attn_q.weight.lora_b", {2, 4}}},
            set_adapter);
  const auto merged = merge(model, adapter, 1.0, {.type = f16});
  ASSERT_THAT(merged, Succeeds());
  EXPECT_EQ(merged->find_tensor("blk.0.attn_q.weight")->type, f16);
  EXPECT_EQ(merged->get_or("general.file_type", std::uint32_t{99}), file_type_of(f16));
  EXPECT_THAT(merge(model, adapter, 1.0, {.type = iq2_xxs}), FailsWith(Errc::weights_required));
}

TEST_F(Lora, EmbeddingsOfTokensAreChangedRowByRow) {
  const std::string name = "token_embd.weight";
  const Model model = write("model.gguf", {{name, {8, 10}}}, set_model);
  const Model adapter =
      write("adapter.gguf", {{name + ".lora_a", {2, 10}}, {name + ".lora_b", {2, 8}}}, set_adapter);
  const auto merged = merge(model, adapter);
  ASSERT_THAT(merged, Succeeds());
  const auto a = numbers(adapter, name + ".lora_a");
  const auto b = numbers(adapter, name + ".lora_b");
  const auto before = numbers(model, name);
  std::vector<double> wanted(before.begin(), before.end());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    for (std::size_t k = 0; k < 2; ++k) {
      wanted[i] += 4.0 * double{a[i / 8 * 2 + k]} * double{b[i % 8 * 2 + k]};
    }
  }
  expect_near(numbers(*merged, name), wanted);
}

TEST_F(Lora, WholeNormsReplaceThoseOfTheModelAsFarAsTheScaleGoes) {
  const std::string norm = "blk.0.attn_norm.weight";
  const Model model = write("model.gguf", {{norm, {4}, f32, {1, 2, 3, 4}}}, set_model);
  const Model adapter = write("adapter.gguf", {{norm, {4}, f32, {5, 5, 5, 5}}}, set_adapter);
  EXPECT_EQ(numbers(*merge(model, adapter), norm), (std::vector<float>{5, 5, 5, 5}));
  EXPECT_EQ(numbers(*merge(model, adapter, 0.5), norm), (std::vector<float>{3, 3.5, 4, 4.5}));
}

TEST_F(Lora, SeveralAdaptersAddUp) {
  const std::string name = "blk.0.attn_q.weight";
  const Model model = write("model.gguf", {{name, {64, 8}}}, set_model);
  const std::vector<Weights> halves = {{name + ".lora_a", {64, 2}}, {name + ".lora_b", {2, 8}}};
  const Model one = write("one.gguf", halves, set_adapter);
  // Without alpha, the scale alone counts.
  const Model other = write("other.gguf", halves, [](ModelWriter& writer) {
    set_adapter(writer);
    writer.remove("adapter.lora.alpha");
  });
  const auto first = read_lora(one);
  const auto second = read_lora(other);
  ASSERT_THAT(first, Succeeds());
  ASSERT_THAT(second, Succeeds());
  const ScaledLora both[] = {{&*first, 1.0}, {&*second, -1.0}};
  const auto plan = plan_lora_merge(model, both);
  ASSERT_THAT(plan, Succeeds());
  EXPECT_EQ(plan->changed_count, 1u);
  ASSERT_THAT(merge_lora(model, *plan, {}, folder_.path("out.gguf")), Succeeds());
  // 8 / 2 - 1
  expect_near(numbers(open("out.gguf"), name), expected(model, one, name, 3.0));
  EXPECT_THAT(merge_lora(model, *plan, {}, folder_.path("out.gguf")),
              FailsWith(Errc::already_exists));
  EXPECT_THAT(merge_lora(model, *plan, {}, folder_.path("one.gguf"), true),
              FailsWith(Errc::same_file));
}

TEST_F(Lora, RefusesWhatDoesNotFit) {
  const std::string name = "blk.0.attn_q.weight";
  const Model model = write("model.gguf", {{name, {64, 8}}}, set_model);
  const auto merged_with = [&](const std::vector<Weights>& tensors,
                               const SetKeys& keys = set_adapter) {
    const Model adapter = write("adapter.gguf", tensors, keys);
    return merge(model, adapter);
  };
  const std::vector<Weights> halves = {{name + ".lora_a", {64, 2}}, {name + ".lora_b", {2, 8}}};
  EXPECT_THAT(merged_with({{"blk.1.x.weight.lora_a", {64, 2}}, {"blk.1.x.weight.lora_b", {2, 8}}}),
              FailsWith(Errc::adapter_mismatch));
  EXPECT_THAT(merged_with({{name + ".lora_a", {32, 2}}, {name + ".lora_b", {2, 8}}}),
              FailsWith(Errc::adapter_mismatch));
  EXPECT_THAT(merged_with(halves,
                          [](ModelWriter& writer) {
                            set_adapter(writer);
                            writer.set_string("general.architecture", "qwen2");
                          }),
              FailsWith(Errc::adapter_mismatch));
  EXPECT_THAT(merged_with(halves,
                          [](ModelWriter& writer) {
                            set_adapter(writer);
                            const std::uint32_t tokens[] = {1, 2};
                            writer.set_array("adapter.alora.invocation_tokens",
                                             std::span<const std::uint32_t>(tokens));
                          }),
              FailsWith(Errc::adapter_mismatch));
  std::vector<Weights> infinite = halves;
  infinite[1].numbers.assign(16, std::numeric_limits<float>::infinity());
  EXPECT_THAT(merged_with(infinite), FailsWith(Errc::weight_not_finite));
  const Model adapter = write("adapter.gguf", halves, set_adapter);
  EXPECT_THAT(merge(adapter, adapter), FailsWith(Errc::adapter_mismatch));
  EXPECT_THAT(read_lora(model), FailsWith(Errc::adapter_invalid));
}

TEST_F(Lora, RefusesAdaptersThatBreakTheRules) {
  const std::string name = "blk.0.attn_q.weight";
  const Weights a{name + ".lora_a", {64, 2}};
  const auto refused = [&](const std::vector<Weights>& tensors, const SetKeys& keys = set_adapter) {
    EXPECT_THAT(read_lora(write("adapter.gguf", tensors, keys)), FailsWith(Errc::adapter_invalid));
  };
  refused({});
  refused({a});
  refused({{name + ".lora_b", {2, 8}}});
  refused({a, {name + ".lora_b", {3, 8}}});
  refused({a, {name + ".lora_b", {2, 8, 2}}});
  refused({a, {name + ".lora_b", {2, 8}}, {name, {64, 8}}});
  refused({{name, {64, 8}}});
  refused({a, {name + ".lora_b", {2, 8}}}, [](ModelWriter& writer) {
    set_adapter(writer);
    writer.set("adapter.lora.alpha", std::numeric_limits<float>::quiet_NaN());
  });
}

}  // namespace
}  // namespace ingot::test
