// SPDX-License-Identifier: MIT
// Tiny folders of every architecture: imported, written as a folder, and imported again to the same
// bytes.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "huggingface/export/tiny_mixed_folders.hpp"
#include "huggingface/export/tiny_model_folders.hpp"
#include "ingot/folder_export.hpp"
#include "ingot/import.hpp"
#include "ingot/model_writer.hpp"
#include "support/expect_error.hpp"

namespace ingot::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* theta = R"("rope_theta": 10000.0)";

TinyModel with_experts(const std::string& model_class, const std::string& more, TinyParts parts) {
  return {model_class, tiny_config(model_class, more), TinyTokenizer::bpe, tiny_tensors(parts)};
}

std::vector<TinyModel> all_models() {
  using enum TinyTokenizer;
  const auto model = [](const std::string& model_class, const std::string& more,
                        TinyTokenizer tokenizer, const TinyParts& parts) {
    return TinyModel{model_class, tiny_config(model_class, more), tokenizer, tiny_tensors(parts)};
  };
  std::vector<TinyModel> models = {
      model("LlamaForCausalLM", theta, sentencepiece, {}),
      model("LlamaForCausalLM",
            R"("rope_theta": 500000.0, "rope_scaling": {"rope_type": "llama3", "factor": 8.0,
               "low_freq_factor": 1.0, "high_freq_factor": 4.0,
               "original_max_position_embeddings": 64})",
            bpe, {.has_output = false, .has_bias = true}),
      model("MistralForCausalLM", R"("head_dim": 8, "rope_theta": 1000000.0)", llama_json, {}),
      model("MistralForCausalLM", R"("rope_scaling": {"rope_type": "linear", "factor": 2.5})",
            sentencepiece, {}),
      with_experts("MixtralForCausalLM", R"("num_local_experts": 3, "num_experts_per_tok": 2)",
                   {.experts = "block_sparse_moe.experts.",
                    .expert_parts = {"w1", "w2", "w3"},
                    .router = "block_sparse_moe.gate.weight"}),
      model("Qwen2ForCausalLM",
            R"("rope_theta": 1e6, "rope_scaling": {"type": "yarn", "factor": 4.0,
               "original_max_position_embeddings": 64, "beta_fast": 16})",
            bpe, {.has_bias = true}),
      model("Qwen3ForCausalLM", R"("head_dim": 8, "rope_theta": 1000000)", bpe,
            {.has_output = false, .has_norms_of_heads = true}),
      with_experts("Qwen2MoeForCausalLM",
                   R"("num_experts": 3, "num_experts_per_tok": 2, "moe_intermediate_size": 64)",
                   {.has_bias = true,
                    .experts = "mlp.experts.",
                    .expert_parts = {"gate_proj", "down_proj", "up_proj"},
                    .router = "mlp.gate.weight"}),
      with_experts("Qwen3MoeForCausalLM",
                   R"("head_dim": 8, "num_experts": 3, "num_experts_per_tok": 2,
                      "moe_intermediate_size": 64)",
                   {.has_norms_of_heads = true,
                    .experts = "mlp.experts.",
                    .expert_parts = {"gate_proj", "down_proj", "up_proj"},
                    .router = "mlp.gate.weight"}),
      model("GemmaForCausalLM", R"("head_dim": 8)", sentencepiece, {.has_output = false}),
      model("Gemma2ForCausalLM",
            R"("head_dim": 8, "attn_logit_softcapping": 50.0, "final_logit_softcapping": 30.0,
               "sliding_window": 128)",
            sentencepiece, {.has_output = false, .has_four_norms = true}),
      model("Gemma3ForCausalLM",
            R"("head_dim": 8, "sliding_window": 128, "rope_theta": 1000000.0,
               "rope_local_base_freq": 10000.0)",
            sentencepiece,
            {.has_output = false, .has_norms_of_heads = true, .has_four_norms = true}),
      model("Phi3ForCausalLM",
            R"("original_max_position_embeddings": 64, "rope_theta": 10000.0,
               "partial_rotary_factor": 0.75, "pad_token_id": 19,
               "rope_scaling": {"type": "longrope", "long_factor": [1.0, 1.1, 3.21],
                                "short_factor": [1.0, 1.05, 1.1]})",
            sentencepiece, {.is_fused = true}),
      model("Phi3ForCausalLM", R"("original_max_position_embeddings": 256, "rope_theta": 10000.0)",
            sentencepiece, {.is_fused = true}),
      model("GraniteForCausalLM",
            R"("attention_multiplier": 0.015625, "embedding_multiplier": 12.0,
               "residual_multiplier": 0.22, "logits_scaling": 8.0)",
            bpe, {}),
      model("SmolLM3ForCausalLM", R"("rope_theta": 5000000.0)", bpe, {.has_output = false}),
      model("Olmo2ForCausalLM", R"("rope_theta": 500000)", bpe,
            {.has_norms_of_heads = true, .head_norm = 32, .has_norms_behind = true}),
      model("Olmo3ForCausalLM",
            R"("sliding_window": 64, "layer_types": ["sliding_attention", "full_attention"])", bpe,
            {.has_norms_of_heads = true, .head_norm = 32, .has_norms_behind = true}),
      model("Exaone4ForCausalLM",
            R"("sliding_window": 64, "layer_types": ["sliding_attention", "full_attention"],
               "rope_theta": 1000000, "rope_scaling": {"rope_type": "llama3", "factor": 16.0,
               "low_freq_factor": 1.0, "high_freq_factor": 4.0,
               "original_max_position_embeddings": 64})",
            bpe, {.has_norms_of_heads = true, .has_norms_behind = true}),
      model("SeedOssForCausalLM", R"("head_dim": 8, "rope_theta": 10000000.0)", bpe,
            {.has_bias = true}),
      model("Ernie4_5ForCausalLM", R"("head_dim": 8, "rope_theta": 500000)", sentencepiece,
            {.has_output = false}),
      tiny_ernie_moe(),
      tiny_glm4_moe(),
      tiny_hunyuan_dense(),
      tiny_lfm2(),
      tiny_minimax_m2(),
      tiny_phi_moe(),
      tiny_starcoder2(),
  };
  for (TinyModel& mixed : tiny_mixed_models()) models.push_back(std::move(mixed));
  return models;
}

std::string as_text(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class ExportFolder : public testing::Test {
 protected:
  Result<void> import(const std::string& folder, const std::string& out,
                      const ImportOptions& options) {
    auto planned = plan_import(file_system(), files_.path(folder), options);
    if (!planned) return fail(planned.error());
    return (*planned)->write(files_.path(out), true);
  }

  /// A model of one of the tiny folders, as before.gguf.
  Model make(const TinyModel& tiny, const ImportOptions& options = {}) {
    write_tiny_model(files_, "tiny", tiny);
    EXPECT_THAT(import("tiny", "before.gguf", options), Succeeds());
    auto model = Model::open(files_.path("before.gguf"));
    EXPECT_THAT(model, Succeeds());
    return *std::move(model);
  }

  Model make_llama() { return make(all_models().front()); }

  Result<std::unique_ptr<Conversion>> plan(const Model& model, FolderExportOptions options = {}) {
    return plan_folder_export(model, files_.path("back"), options);
  }

  nlohmann::json read_json(const std::string& file) {
    return nlohmann::json::parse(as_text(read_whole(files_.path("back/" + file))));
  }

  TemporaryFolder files_;
};

TEST_F(ExportFolder, EveryArchitectureComesBackToTheSameBytesAtEveryType) {
  for (const TinyModel& tiny : all_models()) {
    for (const TensorType type : {TensorType::f32, TensorType::f16, TensorType::bf16,
                                  TensorType::q8_0, TensorType::tq2_0}) {
      SCOPED_TRACE(tiny.name + " as " + std::string(find_type(type)->name));
      const Model model = make(tiny, {.type = type, .pre = "gpt-2"});
      const auto planned = plan(model, {.is_strict = true, .replace = true});
      ASSERT_THAT(planned, Succeeds());
      ASSERT_THAT((*planned)->run(), Succeeds());
      ASSERT_THAT(import("back", "after.gguf", {.type = type}), Succeeds());
      EXPECT_EQ(read_whole(files_.path("after.gguf")), read_whole(files_.path("before.gguf")));
      std::filesystem::remove_all(files_.path("back"));
    }
  }
}

TEST_F(ExportFolder, EveryArchitectureWithRulesHasATinyModel) {
  std::vector<std::string> seen;
  for (const TinyModel& tiny : all_models()) {
    seen.emplace_back(*make(tiny).get<std::string_view>("general.architecture"));
  }
  const auto known = exportable_architectures();
  ASSERT_THAT(known, Succeeds());
  for (const std::string& name : *known) EXPECT_THAT(seen, Contains(name));
}

TEST_F(ExportFolder, WritesTheFilesThatLoadersExpect) {
  const Model model = make_llama();
  const auto planned = plan(model);
  ASSERT_THAT(planned, Succeeds());
  EXPECT_THAT((*planned)->warnings(), IsEmpty());
  ASSERT_THAT((*planned)->run(), Succeeds());
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(files_.path("back"))) {
    names.push_back(entry.path().filename());
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre("README.md", "added_tokens.json", "config.json",
                                                   "generation_config.json", "model.safetensors",
                                                   "model.safetensors.index.json", "tokenizer.json",
                                                   "tokenizer.model", "tokenizer_config.json"));
  const nlohmann::json config = read_json("config.json");
  EXPECT_EQ(config["architectures"], nlohmann::json::array({"LlamaForCausalLM"}));
  EXPECT_EQ(config["model_type"], "llama");
  EXPECT_EQ(config["torch_dtype"], "bfloat16");
  EXPECT_EQ(config["intermediate_size"], 64);
  EXPECT_EQ(config["num_hidden_layers"], 2);
  EXPECT_EQ(config["tie_word_embeddings"], false);
  EXPECT_EQ(config["attention_bias"], false);
  EXPECT_EQ(config["rms_norm_eps"].dump(), "1e-06");
  EXPECT_EQ(config["eos_token_id"], 2);
  EXPECT_EQ(read_json("generation_config.json")["bos_token_id"], 1);
  const nlohmann::json weights = read_json("model.safetensors.index.json")["weight_map"];
  EXPECT_EQ(weights["model.layers.1.self_attn.q_proj.weight"], "model.safetensors");
}

TEST_F(ExportFolder, TensorsOfSeveralFilesKeepTheirOrder) {
  TinyModel tiny = all_models().front();
  for (std::size_t i = 0; i < tiny.tensors.size(); i += 2) {
    tiny.second_file.push_back(tiny.tensors[i]);
    tiny.tensors.erase(tiny.tensors.begin() + static_cast<std::ptrdiff_t>(i--));
    if (tiny.second_file.size() == 4) break;
  }
  const Model model = make(tiny);
  const auto planned = plan(model, {.max_file_bytes = 8192, .is_strict = true});
  ASSERT_THAT(planned, Succeeds());
  ASSERT_THAT((*planned)->run(), Succeeds());
  EXPECT_TRUE(std::filesystem::exists((*planned)->outputs().front()));
  EXPECT_THAT((*planned)->outputs().front(), HasSubstr("model-00001-of-0000"));
  ASSERT_THAT(import("back", "after.gguf", {}), Succeeds());
  EXPECT_EQ(read_whole(files_.path("after.gguf")), read_whole(files_.path("before.gguf")));
}

TEST_F(ExportFolder, FactsOfTheCardDoNotDependOnTheNameOfTheFolder) {
  write_tiny_model(files_, "tiny", all_models().front());
  constexpr std::string_view card =
      "---\nmodel_name: 'A: \"b\" \\ #c'\nlicense: [mit, other]\nlanguage: [en, 'no']\n"
      "tags: [x, text-generation]\nbase_model: acme/Base-7B-v1.5\n"
      "datasets: [{name: A set, author: me}, 'https://example.org/set']\n---\n";
  files_.write("tiny/README.md", std::as_bytes(std::span(card)));
  ASSERT_THAT(import("tiny", "before.gguf", {}), Succeeds());
  const auto model = Model::open(files_.path("before.gguf"));
  ASSERT_THAT(model, Succeeds());
  const std::string back = files_.path("Other-13B-Chat-v9");
  const auto planned = plan_folder_export(*model, back, {.is_strict = true});
  ASSERT_THAT(planned, Succeeds());
  ASSERT_THAT((*planned)->run(), Succeeds());
  EXPECT_THAT(as_text(read_whole(back + "/README.md")), HasSubstr("- acme/Base-7B-v1.5\n"));
  ASSERT_THAT(import("Other-13B-Chat-v9", "after.gguf", {}), Succeeds());
  EXPECT_EQ(read_whole(files_.path("after.gguf")), read_whole(files_.path("before.gguf")));
}

TEST_F(ExportFolder, ListsAndStrictlyRefusesWhatDoesNotComeBack) {
  const Model model = make(all_models().front(), {.metadata = R"({"general.url": "x"})"});
  const auto planned = plan(model);
  ASSERT_THAT(planned, Succeeds());
  EXPECT_THAT((*planned)->warnings(), ElementsAre(testing::Field(&Error::subject, "general.url")));
  EXPECT_THAT(plan(model, {.is_strict = true}), FailsWith(Errc::would_be_lost));
}

TEST_F(ExportFolder, ListsTypesThatRound) {
  const Model model = make_llama();
  EXPECT_THAT(plan(model, {.type = TensorType::f32, .is_strict = true}), Succeeds());
  const auto rounded = plan(model, {.type = TensorType::f16});
  ASSERT_THAT(rounded, Succeeds());
  ASSERT_THAT((*rounded)->warnings(), Not(IsEmpty()));
  EXPECT_THAT((*rounded)->warnings()[0].detail, HasSubstr("rounded to F16"));
  EXPECT_THAT(plan(model, {.type = TensorType::q8_0}), FailsWith(Errc::invalid_argument));
}

TEST_F(ExportFolder, RefusesOtherArchitecturesByName) {
  ModelWriter writer;
  writer.set_string("general.architecture", "mamba");
  ASSERT_THAT(writer.write(files_.path("m.gguf")), Succeeds());
  const auto model = Model::open(files_.path("m.gguf"));
  ASSERT_THAT(model, Succeeds());
  const auto planned = plan(*model);
  ASSERT_THAT(planned, FailsWith(Errc::architecture_unsupported));
  EXPECT_EQ(planned.error().subject, "mamba");
  EXPECT_THAT(planned.error().detail, HasSubstr("llama, llama4, mamba2, minimax-m2"));
}

TEST_F(ExportFolder, ReplacesNothingUnasked) {
  const Model model = make_llama();
  std::filesystem::create_directories(files_.path("back"));
  EXPECT_THAT(plan(model), Succeeds());
  files_.write("back/notes.txt", {});
  EXPECT_THAT(plan(model), FailsWith(Errc::already_exists));
  EXPECT_THAT(plan(model, {.replace = true}), Succeeds());
  files_.write("back/model-00007-of-00009.safetensors", {});
  EXPECT_THAT(plan(model, {.replace = true}), FailsWith(Errc::invalid_argument));
}

TEST_F(ExportFolder, LeavesNothingOfAWriteThatIsStopped) {
  const Model model = make_llama();
  const auto planned = plan(model);
  ASSERT_THAT(planned, Succeeds());
  EXPECT_THAT((*planned)->run([](std::uint64_t) { return false; }), FailsWith(Errc::interrupted));
  EXPECT_FALSE(std::filesystem::exists(files_.path("back")));
}

TEST_F(ExportFolder, StatesThePreTokenizerOnlyWhereNothingElseTellsIt) {
  const TinyModel tiny = all_models()[1];
  const Model usual = make(tiny, {.pre = "gpt-2"});
  ASSERT_THAT((*plan(usual))->run(), Succeeds());
  EXPECT_FALSE(read_json("tokenizer_config.json").contains("ggml_pre"));
  const Model other = make(tiny, {.pre = "smaug-bpe"});
  const auto planned = plan(other, {.is_strict = true, .replace = true});
  ASSERT_THAT(planned, Succeeds());
  ASSERT_THAT((*planned)->run(), Succeeds());
  EXPECT_EQ(read_json("tokenizer_config.json")["ggml_pre"], "smaug-bpe");
}

}  // namespace
}  // namespace ingot::test
