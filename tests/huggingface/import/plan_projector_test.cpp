// SPDX-License-Identifier: MIT
// Projectors of model folders: what a result needs, and what is refused.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "huggingface/rules/architecture_rules.hpp"
#include "ingot/import.hpp"
#include "support/expect_error.hpp"
#include "support/tiny_folder.hpp"

namespace ingot::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::string pixtral = R"({
  "architectures": ["Mistral3ForConditionalGeneration"], "spatial_merge_size": 2,
  "text_config": {"hidden_size": 8, "num_hidden_layers": 1, "vocab_size": 3},
  "vision_config": {"model_type": "pixtral", "hidden_size": 4, "image_size": 8, "patch_size": 2,
    "intermediate_size": 6, "num_hidden_layers": 1, "num_attention_heads": 1, "hidden_act": "silu"}
})";
const std::string preprocessor = R"({"image_mean": [0.5, 0.5, 0.5], "image_std": [1.0, 1.0, 1.0]})";

std::vector<TensorSketch> pixtral_tensors() {
  const std::string layer = "vision_tower.transformer.layers.0.";
  return {{"language_model.model.embed_tokens.weight", {3, 8}},
          {"language_model.model.norm.weight", {8}},
          {"multi_modal_projector.norm.weight", {4}},
          {"vision_tower.patch_conv.weight", {4, 3, 2, 2}},
          {layer + "attention.q_proj.weight", {4, 4}},
          {layer + "attention_norm.weight", {4}}};
}

/// A folder of config.json, a preprocessor and tensors, with the tokens `tokens`.
class ProjectorFolder {
 public:
  explicit ProjectorFolder(const std::string& config = pixtral,
                           const std::vector<TensorSketch>& tensors = pixtral_tensors(),
                           const std::string& third_token = "[IMG_BREAK]") {
    add("config.json", config);
    add("preprocessor_config.json", preprocessor);
    add("model.safetensors", safetensors_of(tensors));
    add("tokenizer.json", R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, ")" + third_token +
                              R"(": 2}, "merges": []}, "pre_tokenizer": {"type": "ByteLevel"}})");
  }

  [[nodiscard]] Result<std::unique_ptr<Import>> plan(TensorType type = TensorType::f32,
                                                     bool as_reference = false) const {
    ImportOptions options{.type = type, .as_reference = as_reference};
    options.pre = "gpt-2";
    options.mmproj = true;
    return plan_import(store_, "tiny", options);
  }

  /// The message of the refusal.
  [[nodiscard]] std::string refusal() const {
    const auto import = plan();
    EXPECT_FALSE(import);
    return import ? "" : import.error().message();
  }

 private:
  void add(const std::string& name, std::string text) {
    const std::string& kept = files_.emplace(name, std::move(text)).first->second;
    store_.add("tiny/" + name, std::as_bytes(std::span(kept)));
  }

  std::map<std::string, std::string> files_;
  MemoryStore store_;
};

std::map<std::string, TensorType> types_of(const Import& import) {
  std::map<std::string, TensorType> types;
  for (const ImportedTensor& tensor : import.tensors()) types[tensor.name] = tensor.type;
  return types;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(PlanProjector, TakesTheEncoderAndLeavesTheTextModel) {
  const auto import = ProjectorFolder().plan();
  ASSERT_THAT(import, Succeeds());
  EXPECT_THAT((*import)->file_name(), testing::StartsWith("mmproj-"));
  const auto types = types_of(**import);
  for (const char* name : {"v.patch_embd.weight", "v.blk.0.attn_q.weight", "v.blk.0.ln1.weight",
                           "mm.input_norm.weight", "v.token_embd.img_break"}) {
    EXPECT_TRUE(types.contains(name)) << name;
  }
  EXPECT_EQ(types.size(), 5u);
  EXPECT_THAT((*import)->left_out(), ElementsAre("language_model.model.norm.weight"));
}

/// The engine needs the row; the reference converter leaves it out.
TEST(PlanProjector, HasTheRowOfTheTokenThatEndsALineOfAnImage) {
  const ProjectorFolder folder;
  const auto import = folder.plan();
  ASSERT_THAT(import, Succeeds());
  const auto model = (*import)->open_model();
  ASSERT_THAT(model, Succeeds());
  const TensorInfo* const row = model->find_tensor("v.token_embd.img_break");
  ASSERT_NE(row, nullptr);
  EXPECT_THAT(row->shape, ElementsAre(8u));
  std::vector<std::byte> bytes(8 * sizeof(float));
  ASSERT_THAT(model->read(*row, 0, bytes), Succeeds());
  EXPECT_EQ(*reinterpret_cast<const float*>(bytes.data()), 16.0F);  // row 2 of 8 numbers

  const auto as_reference = folder.plan(TensorType::f32, true);
  ASSERT_THAT(as_reference, Succeeds());
  EXPECT_FALSE(types_of(**as_reference).contains("v.token_embd.img_break"));
  EXPECT_THAT(ProjectorFolder(pixtral, pixtral_tensors(), "c").refusal(),
              HasSubstr("no token is \"[IMG_BREAK]\""));
}

/// The engine's kernels for patches read F16 and F32 alone.
TEST(PlanProjector, KeepsPatchesInTypesThatTheEngineReads) {
  const ProjectorFolder folder;
  for (const auto& [asked, patches] :
       {std::pair(TensorType::f16, TensorType::f16), std::pair(TensorType::bf16, TensorType::f32),
        std::pair(TensorType::f32, TensorType::f32)}) {
    const auto import = folder.plan(asked);
    ASSERT_THAT(import, Succeeds());
    EXPECT_EQ(types_of(**import).at("v.patch_embd.weight"), patches);
    EXPECT_EQ(types_of(**import).at("v.blk.0.attn_q.weight"), asked);
  }
}

TEST(PlanProjector, RefusesWhatWouldBeNoProjector) {
  const std::vector<TensorSketch> text = {{"language_model.model.norm.weight", {8}}};
  EXPECT_THAT(ProjectorFolder(pixtral, text).refusal(), HasSubstr("no tensors of an encoder"));
  // Another encoder than the class has.
  EXPECT_THAT(ProjectorFolder(replaced(pixtral, "\"pixtral\"", "\"clip\"")).refusal(),
              HasSubstr("no projector is known"));
  // A layer that is counted, and not there.
  const std::string two =
      replaced(pixtral, "6, \"num_hidden_layers\": 1", "6, \"num_hidden_layers\": 2");
  EXPECT_THAT(ProjectorFolder(two).refusal(), HasSubstr("blk.1"));
  EXPECT_THAT(ProjectorFolder(replaced(pixtral, "\"image_size\": 8, ", "")).refusal(),
              HasSubstr("vision.image_size is missing"));
  std::vector<TensorSketch> tensors = pixtral_tensors();
  tensors.push_back({"vision_tower.unheard_of.weight", {4}});
  EXPECT_THAT(ProjectorFolder(pixtral, tensors).refusal(), HasSubstr("has no tensor of this name"));
  const std::string message =
      ProjectorFolder(replaced(pixtral, "Mistral3ForConditionalGeneration", "Other")).refusal();
  EXPECT_THAT(message, HasSubstr("projectors are known of AudioFlamingo3"));
}

TEST(PlanProjector, KnowsEveryClassOfItsTable) {
  const huggingface::RuleTable& table = huggingface::RuleTable::builtin();
  const std::vector<std::string> classes = table.projector_classes();
  EXPECT_THAT(classes, Contains("Qwen3VLForConditionalGeneration"));
  EXPECT_THAT(classes, Not(Contains("LlamaForCausalLM")));
  for (const std::string& name : classes) {
    const huggingface::Architecture* const rules = table.find_projector(name);
    ASSERT_NE(rules, nullptr) << name;
    EXPECT_EQ(rules->name, "clip") << name;
    EXPECT_FALSE(rules->keeps.empty()) << name;
  }
  EXPECT_EQ(table.find_projector("LlamaForCausalLM"), nullptr);
}

}  // namespace
}  // namespace ingot::test
