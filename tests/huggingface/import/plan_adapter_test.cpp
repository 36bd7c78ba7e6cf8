// SPDX-License-Identifier: MIT
// Folders with LoRA adapters: the rules of the base, done to the halves of products.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ingot/import.hpp"
#include "ingot/model.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"
#include "support/tiny_folder.hpp"

namespace ingot::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* llama =
    R"({"architectures": ["LlamaForCausalLM"], "hidden_size": 8, "num_attention_heads": 2,
        "num_key_value_heads": 2, "num_hidden_layers": 1, "num_local_experts": 2})";
constexpr const char* gpt2 =
    R"({"architectures": ["GPT2LMHeadModel"], "n_embd": 8, "n_head": 2, "n_layer": 1})";
constexpr const char* falcon =
    R"({"architectures": ["FalconForCausalLM"], "hidden_size": 8, "num_attention_heads": 2,
        "num_kv_heads": 2, "num_hidden_layers": 1})";
constexpr const char* gemma =
    R"({"architectures": ["GemmaForCausalLM"], "hidden_size": 8, "num_attention_heads": 2,
        "num_hidden_layers": 1, "head_dim": 4})";

const std::string layer_prefix = "base_model.model.model.layers.0.";

/// Both halves of an adapter of a matrix: A [rank, inputs], B [outputs, rank].
std::vector<TensorSketch> pair_of(const std::string& name, std::uint64_t inputs,
                                  std::uint64_t outputs, std::uint64_t rank = 2) {
  return {{name + ".lora_A.weight", {rank, inputs}}, {name + ".lora_B.weight", {outputs, rank}}};
}

/// An adapter and its base in memory, and the result as a model.
class Adapter {
 public:
  Adapter(std::string base, const std::vector<TensorSketch>& tensors,
          const std::string& members = R"("lora_alpha": 16)")
      : base_(std::move(base)), config_("{" + members + "}"), weights_(safetensors_of(tensors)) {
    store_.add("base/config.json", std::as_bytes(std::span(base_)));
    store_.add("style-lora/adapter_config.json", std::as_bytes(std::span(config_)));
    store_.add("style-lora/adapter_model.safetensors", std::as_bytes(std::span(weights_)));
  }

  [[nodiscard]] Result<std::unique_ptr<Import>> plan() const {
    return plan_adapter_import(store_, "style-lora", store_, "base");
  }

  [[nodiscard]] const MemoryStore& store() const { return store_; }

  [[nodiscard]] const Model& model() {
    const auto import = plan();
    EXPECT_THAT(import, Succeeds());
    if (import) {
      EXPECT_THAT((*import)->write(output_.path("out.gguf"), true), Succeeds());
    }
    model_ = Model::open(output_.path("out.gguf"));
    EXPECT_THAT(model_, Succeeds());
    return *model_;
  }

  /// The names of the tensors of the result, in order, without `blk.0.`.
  [[nodiscard]] std::vector<std::string> names() {
    std::vector<std::string> names;
    for (const TensorInfo& tensor : model().tensors()) {
      std::string name(tensor.name);
      if (name.starts_with("blk.0.")) name.erase(0, 6);
      names.push_back(std::move(name));
    }
    return names;
  }

  /// A tensor of the result as floats, and its shape.
  [[nodiscard]] std::vector<float> numbers(const std::string& name) {
    const Model& opened = model();
    const TensorInfo* const tensor = opened.find_tensor(name);
    EXPECT_NE(tensor, nullptr) << name;
    if (tensor == nullptr) return {};
    shape_.assign(tensor->shape.begin(), tensor->shape.end());
    std::vector<float> numbers(static_cast<std::size_t>(tensor->element_count));
    const std::uint64_t rows = tensor->element_count / tensor->row_elements();
    EXPECT_THAT(opened.dequantize_rows(*tensor, 0, rows, numbers), Succeeds());
    return numbers;
  }
  /// The shape of the last tensor that `numbers` returned.
  [[nodiscard]] const std::vector<std::uint64_t>& shape() const { return shape_; }

 private:
  std::string base_;
  std::string config_;
  std::string weights_;
  MemoryStore store_;
  TemporaryFolder output_;
  Result<Model> model_ = fail(Errc::internal, {});
  std::vector<std::uint64_t> shape_;
};

std::vector<float> counting(std::size_t count) {
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(i);
  return numbers;
}

/// Rows of two numbers, 2i and 2i + 1.
std::vector<float> rows_of_two(const std::vector<int>& rows) {
  std::vector<float> numbers;
  for (const int row : rows) {
    numbers.push_back(static_cast<float>(2 * row));
    numbers.push_back(static_cast<float>(2 * row + 1));
  }
  return numbers;
}

/// Columns of a matrix that counts, written as rows.
std::vector<float> transposed(std::uint64_t rows, std::uint64_t columns) {
  std::vector<float> numbers;
  for (std::uint64_t column = 0; column < columns; ++column) {
    for (std::uint64_t row = 0; row < rows; ++row) {
      numbers.push_back(static_cast<float>(row * columns + column));
    }
  }
  return numbers;
}

TEST(PlanAdapter, ReorderedRowsAreRowsOfTheSecondHalf) {
  Adapter adapter(llama, pair_of(layer_prefix + "self_attn.q_proj", 8, 8));
  EXPECT_EQ(adapter.numbers("blk.0.attn_q.weight.lora_a"), counting(16));
  EXPECT_THAT(adapter.shape(), ElementsAre(8, 2));
  EXPECT_EQ(adapter.numbers("blk.0.attn_q.weight.lora_b"), rows_of_two({0, 2, 1, 3, 4, 6, 5, 7}));
  EXPECT_THAT(adapter.shape(), ElementsAre(2, 8));
}

TEST(PlanAdapter, ATransposeSwapsTheHalves) {
  // The product of 8 rows and 12 columns is stored as GPT-2 stores the matrix.
  const std::string name = "base_model.model.transformer.h.0.attn.c_attn";
  Adapter adapter(gpt2, pair_of(name, 12, 8));
  EXPECT_EQ(adapter.numbers("blk.0.attn_qkv.weight.lora_a"), transposed(8, 2));
  EXPECT_THAT(adapter.shape(), ElementsAre(8, 2));
  EXPECT_EQ(adapter.numbers("blk.0.attn_qkv.weight.lora_b"), transposed(2, 12));
  EXPECT_THAT(adapter.shape(), ElementsAre(2, 12));
}

TEST(PlanAdapter, ProductsOfTransposedWeightsAreTransposedBack) {
  const std::string name = "base_model.model.transformer.h.0.attn.c_attn";
  Adapter adapter(gpt2, pair_of(name, 8, 12), R"("lora_alpha": 1, "fan_in_fan_out": true)");
  EXPECT_EQ(adapter.numbers("blk.0.attn_qkv.weight.lora_a"), counting(16));
  EXPECT_EQ(adapter.numbers("blk.0.attn_qkv.weight.lora_b"), counting(24));
}

TEST(PlanAdapter, ExpertsAreStackedByHalves) {
  std::vector<TensorSketch> tensors;
  const auto add = [&](const std::string& name, std::uint64_t inputs, std::uint64_t outputs) {
    const auto pair = pair_of(layer_prefix + "block_sparse_moe.experts." + name, inputs, outputs);
    tensors.insert(tensors.end(), pair.begin(), pair.end());
  };
  for (const std::string expert : {"0", "1"}) {
    add(expert + ".w1", 8, 4);
    add(expert + ".w2", 4, 8);
    add(expert + ".w3", 8, 4);
  }
  Adapter adapter(llama, tensors);
  const std::vector<float> a = adapter.numbers("blk.0.ffn_gate_exps.weight.lora_a");
  EXPECT_THAT(adapter.shape(), ElementsAre(8, 2, 2));
  EXPECT_EQ(std::vector<float>(a.begin() + 16, a.end()), counting(16));
  const std::vector<float> b = adapter.numbers("blk.0.ffn_gate_exps.weight.lora_b");
  EXPECT_THAT(adapter.shape(), ElementsAre(2, 4, 2));
  EXPECT_EQ(std::vector<float>(b.begin() + 8, b.end()), counting(8));
  tensors.pop_back();
  tensors.pop_back();
  EXPECT_THAT(Adapter(llama, tensors).plan(), FailsWith(Errc::import_refused));
}

TEST(PlanAdapter, JoinedRowsHaveOneFirstHalf) {
  const std::string name = "base_model.model.transformer.h.0.self_attention.query_key_value";
  // Two groups of a query, a key and a value of four rows each.
  Adapter adapter(falcon, pair_of(name, 8, 24));
  EXPECT_EQ(adapter.numbers("blk.0.attn_qkv.weight.lora_a"), counting(16));
  EXPECT_EQ(adapter.numbers("blk.0.attn_qkv.weight.lora_b"),
            rows_of_two({0,  1,  2,  3,  12, 13, 14, 15, 4,  5,  6,  7,
                         16, 17, 18, 19, 8,  9,  10, 11, 20, 21, 22, 23}));
}

TEST(PlanAdapter, EmbeddingsOfTokensAreLookedUpByRows) {
  const std::string name = "base_model.model.model.embed_tokens.lora_embedding_";
  // Ten tokens: A [rank, tokens], B [width, rank].
  Adapter adapter(llama, {{name + "A", {2, 10}}, {name + "B", {8, 2}}});
  EXPECT_EQ(adapter.numbers("token_embd.weight.lora_a"), transposed(2, 10));
  EXPECT_THAT(adapter.shape(), ElementsAre(2, 10));
  EXPECT_EQ(adapter.numbers("token_embd.weight.lora_b"), counting(16));
  EXPECT_THAT(adapter.shape(), ElementsAre(2, 8));
}

TEST(PlanAdapter, NormsComeFirstWholeAndWithTheirTransform) {
  std::vector<TensorSketch> tensors = pair_of(layer_prefix + "mlp.down_proj", 16, 8);
  tensors.push_back({layer_prefix + "post_attention_layernorm.weight", {8}});
  Adapter adapter(gemma, tensors);
  EXPECT_THAT(adapter.names(),
              ElementsAre("ffn_norm.weight", "ffn_down.weight.lora_a", "ffn_down.weight.lora_b"));
  EXPECT_THAT(adapter.numbers("blk.0.ffn_norm.weight"), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
}

TEST(PlanAdapter, KeysNameTheKindAndTheScale) {
  const auto tensors = pair_of(layer_prefix + "mlp.down_proj", 16, 8, 4);
  Adapter adapter(llama, tensors, R"("lora_alpha": 16)");
  const Model& model = adapter.model();
  std::vector<std::string> keys;
  for (const KeyValue& entry : model.metadata()) keys.emplace_back(entry.key);
  EXPECT_THAT(keys,
              ElementsAre("general.architecture", "general.type", "adapter.type", "general.name",
                          "adapter.lora.alpha", "general.quantization_version"));
  EXPECT_EQ(model.get_or<std::string_view>("general.name", ""), "Style Lora");
  EXPECT_EQ(model.get_or("adapter.lora.alpha", 0.0f), 16.0f);
  // Engines divide by the rank, rsLoRA by its root.
  Adapter stable(llama, tensors, R"("lora_alpha": 16, "use_rslora": true)");
  EXPECT_EQ(stable.model().get_or("adapter.lora.alpha", 0.0f), 32.0f);
  Adapter invoked(llama, tensors, R"("lora_alpha": 1, "alora_invocation_tokens": [7, 9])");
  EXPECT_NE(invoked.model().find("adapter.alora.invocation_tokens"), nullptr);
}

TEST(PlanAdapter, TheFirstHalfGivesTheType) {
  Adapter adapter(llama, pair_of(layer_prefix + "mlp.down_proj", 16, 8));
  EXPECT_EQ((*adapter.plan())->type(), TensorType::f32);
  ImportOptions options;
  options.type = TensorType::q8_0;
  const auto import =
      plan_adapter_import(adapter.store(), "style-lora", adapter.store(), "base", options);
  ASSERT_THAT(import, Succeeds());
  // Neither half has rows of whole blocks of 32.
  EXPECT_EQ((*import)->tensors()[0].type, TensorType::f16);
  EXPECT_EQ((*import)->remarks().size(), 2u);
}

TEST(PlanAdapter, RefusesWhatIsNoPairOfHalves) {
  const auto refusal = [](std::vector<TensorSketch> tensors,
                          const std::string& members = R"("lora_alpha": 16)") {
    const auto import = Adapter(llama, tensors, members).plan();
    EXPECT_THAT(import, FailsWith(Errc::adapter_invalid));
    return import ? std::string() : import.error().message();
  };
  const auto pair = pair_of(layer_prefix + "mlp.down_proj", 16, 8);
  auto with = [&](const std::string& name) {
    auto tensors = pair;
    tensors.push_back({name, {8, 8}});
    return tensors;
  };
  EXPECT_THAT(refusal({pair[0]}), HasSubstr("the other half"));
  EXPECT_THAT(refusal({pair[0], {pair[1].name, {8, 3}}}), HasSubstr("its rank is 3"));
  EXPECT_THAT(refusal({pair[0], {pair[1].name, {8}}}), HasSubstr("a matrix is expected"));
  EXPECT_THAT(refusal(with(layer_prefix + "mlp.down_proj.lora_magnitude_vector")),
              HasSubstr("DoRA"));
  EXPECT_THAT(refusal(with("base_model.model.lm_head.weight")), HasSubstr("whole embeddings"));
  EXPECT_THAT(refusal(with(layer_prefix + "input_layernorm.weight")), HasSubstr("only norms"));
  EXPECT_THAT(refusal(pair, R"("r": 2)"), HasSubstr("lora_alpha"));
  EXPECT_THAT(refusal(pair, R"("lora_alpha": 1, "peft_type": "IA3")"), HasSubstr("IA3"));
  EXPECT_THAT(refusal(pair, R"("lora_alpha": 1, "use_dora": true)"), HasSubstr("DoRA"));
  EXPECT_THAT(refusal(pair, R"("lora_alpha": 1, "alpha_pattern": {"q_proj": 2})"),
              HasSubstr("q_proj has another"));
  EXPECT_THAT(refusal(pair, R"("lora_alpha": 1, "invocation_string": "go")"),
              HasSubstr("invocation_string"));
}

TEST(PlanAdapter, RefusesAnotherBase) {
  EXPECT_THAT(Adapter(llama, pair_of(layer_prefix + "self_attn.q_proj", 16, 8)).plan(),
              FailsWith(Errc::adapter_mismatch));
  EXPECT_THAT(Adapter(gemma, pair_of("base_model.model.lm_head", 8, 10)).plan(),
              FailsWith(Errc::adapter_mismatch));
  EXPECT_THAT(
      Adapter(llama, pair_of("base_model.model.model.layers.1.mlp.down_proj", 16, 8)).plan(),
      FailsWith(Errc::import_refused));
}

TEST(FindAdapterBase, KnowsAdaptersFromModels) {
  MemoryStore store;
  const std::string config = R"({"lora_alpha": 1, "base_model_name_or_path": "org/base"})";
  const auto bytes = std::as_bytes(std::span(config));
  store.add("adapter/adapter_config.json", bytes);
  store.add("model/adapter_config.json", bytes);
  store.add("model/model.safetensors", bytes);
  EXPECT_EQ(find_adapter_base(store, "adapter"), "org/base");
  EXPECT_EQ(find_adapter_base(store, "model"), std::nullopt);
  EXPECT_EQ(find_adapter_base(store, "nothing"), std::nullopt);
}

}  // namespace
}  // namespace ingot::test
