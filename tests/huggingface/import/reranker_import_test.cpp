// SPDX-License-Identifier: MIT
// Rerankers: two rows of the output become a classifier.
#include <gmock/gmock.h>

#include <cstring>
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

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

struct RerankerFolder {
  std::string folder = "Qwen3-Reranker-Tiny";
  std::string model_class = "Qwen3ForCausalLM";
  std::string members = {};  ///< Members of config.json.
  std::string card = {};
  std::string vocabulary = R"({"a": 0, "no": 1, "yes": 2})";
  std::vector<TensorSketch> tensors = {{"model.embed_tokens.weight", {3, 8}},
                                       {"model.layers.0.self_attn.o_proj.weight", {8, 8}},
                                       {"lm_head.weight", {3, 8}}};
};

/// A folder in memory, and its import.
class Reranker {
 public:
  explicit Reranker(const RerankerFolder& sketch) {
    files_ = {
        {"tokenizer.json", R"({"model": {"type": "BPE", "merges": ["a b"], "vocab": )" +
                               sketch.vocabulary + R"(}, "pre_tokenizer": {"type": "ByteLevel"}})"},
        {"config.json", R"({"architectures": [")" + sketch.model_class +
                            R"("], "hidden_size": 8, "num_attention_heads": 2, "vocab_size": 3,
                               "num_hidden_layers": 1)" +
                            sketch.members + "}"},
        {"README.md", sketch.card},
        {"model.safetensors", safetensors_of(sketch.tensors)},
    };
    for (const auto& [name, text] : files_) {
      store_.add(sketch.folder + "/" + name, std::as_bytes(std::span(text)));
    }
    ImportOptions options;
    options.pre = "gpt-2";
    options.type = TensorType::f32;
    import_ = plan_import(store_, sketch.folder, options);
  }

  [[nodiscard]] std::string refusal() const { return import_ ? "" : import_.error().message(); }

  [[nodiscard]] std::vector<std::string> tensor_names() const {
    std::vector<std::string> names;
    if (!import_) return names;
    for (const ImportedTensor& tensor : (*import_)->tensors()) names.push_back(tensor.name);
    return names;
  }

  /// The first number of each row of the classifier, once it is written.
  [[nodiscard]] std::vector<float> classifier() const {
    const TemporaryFolder output;
    const std::string path = output.path("out.gguf");
    std::vector<float> column;
    if (!import_ || !(*import_)->write(path)) return column;
    const auto model = Model::open(path);
    for (const TensorInfo& tensor : model->tensors()) {
      if (tensor.name != "cls.output.weight") continue;
      EXPECT_THAT(tensor.shape, ElementsAre(8u, 2u));
      std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.size_bytes));
      EXPECT_THAT(model->read(tensor, 0, bytes), Succeeds());
      for (const std::size_t row : {std::size_t{0}, std::size_t{1}}) {
        std::memcpy(&column.emplace_back(), &bytes[row * 8 * sizeof(float)], sizeof(float));
      }
    }
    return column;
  }

  [[nodiscard]] std::vector<std::string> key_names() const {
    std::vector<std::string> names;
    if (!import_) return names;
    for (const KeyValue& entry : (*import_)->metadata()) names.emplace_back(entry.key);
    return names;
  }
  [[nodiscard]] const Import& import() const { return **import_; }

 private:
  std::vector<std::pair<std::string, std::string>> files_;
  MemoryStore store_;
  Result<std::unique_ptr<Import>> import_ = fail(Errc::internal, "not planned");
};

TEST(RerankerImport, TakesTheRowsOfYesAndNoFromTheOutput) {
  const Reranker reranker(RerankerFolder{});
  ASSERT_EQ(reranker.refusal(), "");
  EXPECT_THAT(reranker.tensor_names(),
              ElementsAre("cls.output.weight", "token_embd.weight", "blk.0.attn_output.weight"));
  EXPECT_THAT(reranker.classifier(), ElementsAre(16, 8));
}

TEST(RerankerImport, KeepsTheEmbeddingsThatItTakesTheRowsOf) {
  RerankerFolder sketch;
  sketch.members = R"(, "tie_word_embeddings": true)";
  sketch.tensors.pop_back();
  const Reranker reranker(sketch);
  ASSERT_EQ(reranker.refusal(), "");
  EXPECT_THAT(reranker.tensor_names(),
              ElementsAre("cls.output.weight", "token_embd.weight", "blk.0.attn_output.weight"));
  EXPECT_THAT(reranker.classifier(), ElementsAre(16, 8));
}

TEST(RerankerImport, HasTheKeysOfAClassifier) {
  const Reranker reranker(RerankerFolder{});
  ASSERT_EQ(reranker.refusal(), "");
  for (const KeyValue& entry : reranker.import().metadata()) {
    if (entry.key == "qwen3.pooling_type") {
      EXPECT_EQ(entry.value.get<std::uint32_t>().value_or(0), 4u);
    }
    if (entry.key == "qwen3.classifier.output_labels") {
      EXPECT_EQ(entry.value.as_array()[0].get<std::string_view>().value_or(""), "yes");
    }
  }
  EXPECT_THAT(reranker.key_names(), Contains("qwen3.pooling_type"));
  EXPECT_THAT(reranker.key_names(), Contains("qwen3.classifier.output_labels"));
  EXPECT_THAT(reranker.key_names(), Contains("tokenizer.chat_template.rerank"));
}

TEST(RerankerImport, IsToldByItsCardAndItsClass) {
  RerankerFolder sketch;
  sketch.folder = "mine";
  EXPECT_THAT(Reranker(sketch).tensor_names(), Contains("output.weight"));
  sketch.card = "Text\n# Qwen3-Reranker-4B\n";
  EXPECT_THAT(Reranker(sketch).tensor_names(), Contains("cls.output.weight"));
  sketch.card.clear();
  sketch.model_class = "Qwen3ForSequenceClassification";
  EXPECT_THAT(Reranker(sketch).tensor_names(), Contains("cls.output.weight"));
}

TEST(RerankerImport, RefusesWhatGivesNoClassifier) {
  RerankerFolder sketch;
  sketch.tensors.pop_back();
  EXPECT_THAT(Reranker(sketch).refusal(), HasSubstr("lm_head.weight, which the folder lacks"));
  sketch = {};
  sketch.vocabulary = R"({"a": 0, "no": 1, "Yes": 2})";
  EXPECT_THAT(Reranker(sketch).refusal(), HasSubstr("no token is \"yes\""));
  sketch = {};
  sketch.tensors.back().shape = {2, 8};
  EXPECT_THAT(Reranker(sketch).refusal(), HasSubstr("has no positions 2 to 3"));
  sketch.tensors.back().shape = {3};
  EXPECT_THAT(Reranker(sketch).refusal(), HasSubstr("at least 2 dimensions"));
}

}  // namespace
}  // namespace ingot::test
