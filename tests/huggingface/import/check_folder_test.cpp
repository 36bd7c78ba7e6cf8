// SPDX-License-Identifier: MIT
// The rules for model folders: each finds its fault, and none in a folder without.
#include "ingot/check_folder.hpp"

#include <gmock/gmock.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/expect_error.hpp"
#include "support/tiny_folder.hpp"

namespace ingot::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* index_name = "model.safetensors.index.json";
constexpr const char* first_shard = "model-00001-of-00002.safetensors";
constexpr const char* second_shard = "model-00002-of-00002.safetensors";

/// The files of a Llama of one layer, to be changed.
class Files {
 public:
  Files() {
    for (const auto& [name, text] : tokenizer_files) {
      if (name == "tokenizer.json") files_[name] = text;
    }
    set_config(R"("vocab_size": 3)");
    files_["model.safetensors"] = safetensors_of(tensors());
  }

  [[nodiscard]] static std::vector<TensorSketch> tensors() {
    return {{"model.embed_tokens.weight", {3, 8}},
            {"model.layers.0.self_attn.q_proj.weight", {8, 8}},
            {"model.layers.0.mlp.down_proj.weight", {8, 16}}};
  }

  void set_config(const std::string& members) {
    files_["config.json"] =
        R"({"architectures": ["LlamaForCausalLM"], "num_hidden_layers": 1, "hidden_size": 8,
            "num_attention_heads": 2, "intermediate_size": 16, "max_position_embeddings": 64,
            "rms_norm_eps": 1e-5, )" +
        members + "}";
  }
  /// Two files and an index of this text.
  void cut(const std::string& index) {
    const std::vector<TensorSketch> all = tensors();
    files_.erase("model.safetensors");
    files_[first_shard] = safetensors_of({all[0], all[1]});
    files_[second_shard] = safetensors_of({all[2]});
    files_[index_name] = R"({"weight_map": {)" + index + "}}";
  }
  std::string& operator[](const std::string& name) { return files_[name]; }
  void remove(const std::string& name) { files_.erase(name); }

  /// Findings of folder rules and refusals, "rule: tensor: message".
  [[nodiscard]] std::vector<std::string> check(CheckOptions options = {}) const {
    const MemoryStore store = open();
    std::vector<std::string> lines;
    const auto summary = check_folder(store, "m", options, [&](const Finding& finding) {
      const bool is_of_folder =
          finding.rule->source == RuleSource::folder || finding.rule->is_refusal;
      if (!is_of_folder) return;
      lines.push_back(std::string(finding.rule->name) + ": " +
                      (finding.tensor.empty() ? "" : finding.tensor + ": ") + finding.message);
    });
    EXPECT_THAT(summary, Succeeds());
    return lines;
  }

  /// The rules of all findings.
  [[nodiscard]] std::set<std::string> rules(const CheckOptions& options) const {
    const MemoryStore store = open();
    std::set<std::string> names;
    const auto summary = check_folder(store, "m", options, [&](const Finding& finding) {
      names.insert(std::string(finding.rule->name));
    });
    EXPECT_THAT(summary, Succeeds());
    return names;
  }

  [[nodiscard]] MemoryStore open() const {
    MemoryStore store;
    for (const auto& [name, text] : files_) {
      store.add("m/" + name, std::as_bytes(std::span(text)));
    }
    return store;
  }

 private:
  std::map<std::string, std::string> files_;
};

std::string whole_index() {
  std::string index;
  const std::vector<TensorSketch> all = Files::tensors();
  for (std::size_t i = 0; i < all.size(); ++i) {
    index += (index.empty() ? "\"" : ", \"") + all[i].name + "\": \"" +
             (i < 2 ? first_shard : second_shard) + "\"";
  }
  return index;
}

TEST(CheckFolder, FindsNothingInGoodFolders) {
  Files files;
  EXPECT_THAT(files.check(), IsEmpty());
  files.cut(whole_index());
  EXPECT_THAT(files.check(), IsEmpty());
}

TEST(CheckFolder, NamesMissingFiles) {
  Files files;
  files.cut(whole_index());
  files.remove(second_shard);
  files.remove("tokenizer.json");
  EXPECT_THAT(files.check(),
              ElementsAre(testing::AllOf(HasSubstr("folder_file_missing"), HasSubstr(second_shard)),
                          HasSubstr("folder_file_missing: no tokenizer")));
  Files shards;
  shards.cut("");
  shards.remove(index_name);
  EXPECT_THAT(shards.check(), ElementsAre(HasSubstr("index.json is missing; there are 2 of 2")));
  Files nothing;
  nothing.remove("model.safetensors");
  EXPECT_THAT(nothing.check(), ElementsAre(HasSubstr("folder_file_missing: no weights")));
}

TEST(CheckFolder, ComparesIndexAndFiles) {
  Files files;
  const std::string name = Files::tensors()[2].name;
  files.cut(whole_index() + R"(, "gone": ")" + first_shard + "\"");
  EXPECT_THAT(files.check(), ElementsAre(HasSubstr("folder_index_wrong: gone: it is not in")));
  std::string index = whole_index();
  index.resize(index.rfind(", "));
  files.cut(index);
  EXPECT_THAT(files.check(),
              ElementsAre(HasSubstr(std::string(second_shard) + "\" is not named by the index")));
  files.cut(index + R"(, "y": ")" + second_shard + "\"");
  EXPECT_THAT(files.check(), ElementsAre(HasSubstr(name + ": it is not in the index"),
                                         HasSubstr("y: it is not in")));
  files.cut(whole_index());
  files[first_shard] = safetensors_of(Files::tensors());
  EXPECT_THAT(files.check(), ElementsAre(HasSubstr(name + ": it is in several files")));
  files.cut(R"("x": "../../elsewhere.safetensors")");
  EXPECT_THAT(files.check(), ElementsAre(HasSubstr("folder_index_wrong: \"x\"")));
}

TEST(CheckFolder, ComparesShapesWithTheConfiguration) {
  Files files;
  files.set_config(R"("vocab_size": 4)");
  EXPECT_THAT(files.check(),
              ElementsAre(HasSubstr("has 3 rows; config.json states a vocab_size of 4")));
  files.set_config(R"("vocab_size": 3, "head_dim": 8)");
  EXPECT_THAT(files.check(),
              ElementsAre(testing::AllOf(HasSubstr("folder_shape_wrong"), HasSubstr("q_proj"),
                                         HasSubstr("heads of queries times their size 16"))));
}

TEST(CheckFolder, ComparesTheTokenizerWithTheEmbeddings) {
  Files files;
  files["tokenizer.json"] = R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "c": 2, "d": 7}},
                               "pre_tokenizer": {"type": "ByteLevel"}})";
  EXPECT_THAT(files.check(), ElementsAre(testing::AllOf(HasSubstr("folder_vocabulary_size"),
                                                        HasSubstr("ids up to 7"))));
}

TEST(CheckFolder, WarnsOfProgramsAndPickles) {
  Files files;
  files["pytorch_model.bin"] = "PK";
  files["modeling.py"] = "";
  EXPECT_THAT(files.check(), ElementsAre(HasSubstr("folder_pickle: \"pytorch_model.bin\""),
                                         HasSubstr("folder_code: \"modeling.py\"")));
}

TEST(CheckFolder, TellsUnsupportedFromBrokenModels) {
  Files unknown;
  unknown["config.json"] = R"({"architectures": ["NoSuchClass"]})";
  EXPECT_THAT(unknown.check(),
              ElementsAre(HasSubstr("folder_unsupported: the class \"NoSuchClass\"")));
  Files quantized;
  quantized.set_config(R"("vocab_size": 3, "quantization_config": {"quant_method": "hqq"})");
  EXPECT_THAT(quantized.check(), ElementsAre(HasSubstr("folder_unsupported")));
  Files broken;
  broken.set_config(R"("vocab_size": 3, "num_hidden_layers": 2)");
  EXPECT_THAT(broken.check(), ElementsAre(HasSubstr("import_refused")));
  Files cut_off;
  cut_off["model.safetensors"].resize(100);
  EXPECT_THAT(cut_off.check(), ElementsAre(HasSubstr("truncated")));
}

TEST(CheckFolder, ChecksTheModelThatTheImportMakes) {
  Files files;
  files["tokenizer_config.json"] = R"({"chat_template": "{{ ''.__class__ }}"})";
  EXPECT_THAT(files.rules({}), testing::Contains("template_unsafe"));
  std::string& weights = files["model.safetensors"];
  weights.replace(weights.size() - 4, 4, "\xff\xff\xff\x7f");
  EXPECT_THAT(files.rules({}), testing::Not(testing::Contains("data_not_finite")));
  EXPECT_THAT(files.rules({.with_data = true}), testing::Contains("data_not_finite"));
}

TEST(CheckFolder, KeepsToTheRulesThatAreWanted) {
  Files files;
  for (int i = 0; i < 5; ++i) files["part" + std::to_string(i) + ".pt"] = "";
  CheckOptions options;
  options.max_findings_per_rule = 2;
  EXPECT_THAT(files.check(options),
              ElementsAre(testing::_, testing::_, HasSubstr("3 more findings")));
  options.is_wanted = [](const CheckRule& rule) { return rule.name != "folder_pickle"; };
  EXPECT_THAT(files.check(options), IsEmpty());
  // A refusal that an unwanted rule explains is not news.
  files.remove("tokenizer.json");
  options.is_wanted = [](const CheckRule& rule) { return rule.name != "folder_file_missing"; };
  EXPECT_THAT(files.check(options), testing::Each(HasSubstr("folder_pickle")));
}

TEST(CheckFolder, KnowsModelFolders) {
  Files files;
  EXPECT_TRUE(has_model_to_import(files.open(), "m"));
  files.remove("model.safetensors");
  EXPECT_TRUE(has_model_to_import(files.open(), "m"));  // its weights are missing
  files["model.gguf"] = "";
  EXPECT_FALSE(has_model_to_import(files.open(), "m"));  // config.json beside a GGUF file
  files.remove("model.gguf");
  files["config.json"] = R"({"pooling_mode_cls_token": true})";
  EXPECT_FALSE(has_model_to_import(files.open(), "m"));
}

}  // namespace
}  // namespace ingot::test
