// SPDX-License-Identifier: MIT
// Tiny folders of the architectures: each is planned, and transforms put every number in its place.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "huggingface/rules/architecture_rules.hpp"
#include "ingot/architectures.hpp"
#include "ingot/folder_export.hpp"
#include "ingot/import.hpp"
#include "ingot/model.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"
#include "support/tiny_folder.hpp"

namespace ingot::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A folder whose import can be looked at.
class PlannedFolder : public TinyFolder {
 public:
  using TinyFolder::TinyFolder;

  /// A key of the result as a number, cut to a whole one; -1 if it has none.
  [[nodiscard]] std::int64_t number(std::string_view key) const {
    const auto import = plan();
    EXPECT_THAT(import, Succeeds());
    if (!import) return -1;
    for (const KeyValue& entry : (*import)->metadata()) {
      if (entry.key != key) continue;
      const auto whole = entry.value.get<std::int64_t>();
      return whole ? *whole : static_cast<std::int64_t>(entry.value.get<float>().value_or(-1));
    }
    return -1;
  }

  /// The first number of every row of a tensor, after the import.
  [[nodiscard]] std::vector<float> column(std::string_view name) const {
    std::vector<float> column;
    const auto import = plan();
    EXPECT_THAT(import, Succeeds());
    const TemporaryFolder output;
    const std::string path = output.path("out.gguf");
    if (!import) return column;
    EXPECT_THAT((*import)->write(path), Succeeds());
    const auto model = Model::open(path);
    EXPECT_THAT(model, Succeeds());
    for (const TensorInfo& tensor : model->tensors()) {
      if (tensor.name != name) continue;
      std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.size_bytes));
      EXPECT_THAT(model->read(tensor, 0, bytes), Succeeds());
      for (std::size_t at = 0; at < bytes.size(); at += tensor.shape[0] * sizeof(float)) {
        std::memcpy(&column.emplace_back(), &bytes[at], sizeof(float));
      }
    }
    return column;
  }
};

/// The members that one architecture or the other needs.
constexpr const char* every_member = R"(
    "hidden_size": 8, "n_embd": 8, "n_embed": 8, "d_model": 8, "head_dim": 4,
    "num_attention_heads": 2, "n_head": 2, "n_heads": 2, "num_key_value_heads": 2,
    "intermediate_size": 16, "moe_intermediate_size": 16, "max_position_embeddings": 64,
    "n_positions": 2048, "n_ctx": 64, "max_seq_len": 64, "original_max_position_embeddings": 64,
    "rms_norm_eps": 1e-5, "layer_norm_eps": 1e-5, "layer_norm_epsilon": 1e-5, "rope_theta": 10000,
    "rotary_pct": 0.5, "partial_rotary_factor": 0.5, "sliding_window": 32, "logit_scale": 0.5,
    "attn_logit_softcapping": 50, "final_logit_softcapping": 30, "scale_emb": 12,
    "scale_depth": 1.4, "dim_model_base": 4, "kv_lora_rank": 4, "q_lora_rank": 4,
    "qk_nope_head_dim": 2, "qk_rope_head_dim": 2, "v_head_dim": 4, "n_routed_experts": 2,
    "n_shared_experts": 1, "first_k_dense_replace": 1,
    "attn_config": {"alibi": true, "alibi_bias_max": 8, "kv_n_heads": 2, "clip_qkv": 8, "rope_theta": 500000},
    "ffn_config": {"ffn_hidden_size": 16, "moe_num_experts": 2, "moe_top_k": 1}, "n_inner": 16,
    "embeddings_scale": 2, "width_scale": 0.5, "layernorm_full_attention_alpha": 2,
    "layernorm_linear_attention_alpha": 2, "layernorm_mlp_alpha": 2, "layernorm_full_attention_beta": 1,
    "layernorm_linear_attention_beta": 1.0, "layernorm_mlp_beta": 1, "activation_function": "swiglu",
    "position_embedding_type": "alibi",
    "num_local_experts": 2, "num_experts_per_tok": 1, "num_shared_experts": 1, "moe_num_experts": 2,
    "moe_k": 1, "moe_layer_interval": 1, "moe_layer_start_index": 0, "routed_scaling_factor": 1.5,
    "norm_topk_prob": true, "rotary_dim": 4, "embedding_multiplier_scale": 2,
    "output_multiplier_scale": 2, "layer_types": ["full_attention"], "hybrid_layer_pattern": [0],
    "swa_num_key_value_heads": 2, "sparse_attention_config": {"sparse_num_index_heads": 1,
    "sparse_index_dim": 4, "sparse_topk_blocks": 1, "sparse_block_size": 8, "sparse_local_block": 1},
    "moe_layer_freq": [0], "num_kv_shared_layers": 0, "global_head_dim": 4,
    "backbone_hidden_size": 8, "intermediate_size_mlp": 16, "interleave_moe_layer_step": 1,
    "no_rope_layers": [1], "num_query_groups": 2, "index_n_heads": 1, "index_head_dim": 4,
    "index_topk": 1, "indexer_types": ["full"], "local_attention": 8, "pad_token_id": 1,
    "moe_num_primary_experts": 2, "linear_conv_kernel_dim": 4, "linear_key_head_dim": 2,
    "linear_value_head_dim": 2, "linear_num_key_heads": 2, "linear_num_value_heads": 4,
    "mamba_d_conv": 4, "mamba_d_state": 4, "mamba_n_groups": 1, "mamba_expand": 2,
    "mamba_n_heads": 4, "mamba_d_ssm": 16, "mamba_d_head": 4, "mamba_dt_rank": 1,
    "attn_layer_period": 1, "attn_layer_offset": 0, "embedding_multiplier": 2,
    "attention_out_multiplier": 2, "conv_L_cache": 3, "norm_eps": 1e-5, "num_dense_layers": 1,
    "moe_topk": 1, "num_shared_expert": 1, "altup_active_idx": 0, "altup_num_inputs": 4, "hidden_size_per_layer_input": 4,
    "activation_sparsity_pattern": [0.95], "gating": true, "mlp_layer_types": ["dense"],
    "shared_expert_intermediate_size": 16, "moe_routed_scaling_factor": 1.5)";

TEST(HouseOfArchitectures, KnowsWhatIsImportedAndExported) {
  const auto& table = huggingface::RuleTable::builtin();
  std::set<std::string> imported;
  for (const huggingface::Architecture& each : table.architectures()) imported.insert(each.name);
  const auto exported = exportable_architectures();
  ASSERT_THAT(exported, Succeeds());
  for (const std::string_view name : architecture_names()) {
    const ingot::Architecture& row = *find_architecture(name);
    EXPECT_EQ(row.is_imported, imported.erase(std::string(name)) == 1) << name;
    EXPECT_EQ(row.is_exported, std::ranges::count(*exported, name) == 1) << name;
  }
  EXPECT_THAT(imported, testing::IsEmpty());  // else they are no names of the house
}

TEST(HouseOfArchitectures, KnowsWhoseProjectorsAreImported) {
  const auto& table = huggingface::RuleTable::builtin();
  std::set<std::string> with_projector;
  for (const std::string& name : table.projector_classes()) {
    // Some classes are imported as projectors alone: their text models are of other classes.
    if (const auto* text = table.find(name)) with_projector.insert(text->name);
  }
  EXPECT_TRUE(with_projector.contains("gemma3"));
  for (const std::string_view name : architecture_names()) {
    EXPECT_EQ(find_architecture(name)->has_projector, with_projector.contains(std::string(name)))
        << name;
  }
}

/// Classes whose import is made of what these folders lack: tokens and tensors of a classifier
/// (reranker_import_test), a tokenizer of their own, layers that config.json does not count, lists
/// of sizes, layers without attention, Unigram vocabularies, a target, which import_golden_test
/// has.
bool needs_more_files(std::string_view model_class) {
  constexpr std::string_view classes[] = {"Qwen3ForSequenceClassification",
                                          "Qwen3VLForConditionalGeneration:reranker",
                                          "DFlash",
                                          "Qwen3DSpark",
                                          "DSpark",
                                          "Lfm2DSpark",
                                          "LingDSpark",
                                          "Xverse",
                                          "JinaBert",
                                          "Gemma4",
                                          "MiMoV2",
                                          "FalconMamba",
                                          "Mamba",
                                          "NemotronH",
                                          "OpenELM",
                                          "XLMRoberta",
                                          "T5",
                                          "MT5",
                                          "UMT5",
                                          "Apertus",
                                          "Arctic",
                                          "KimiLinear",
                                          "Plamo",
                                          "PLaMo",
                                          "Step3p",
                                          "Rwkv",
                                          "RWKV",
                                          "DeepseekV4",
                                          "GraniteSwitch",
                                          "Talkie",
                                          "WavTokenizer",
                                          "LlamaForCausalLMEagle3",
                                          "Eagle3"};
  return std::ranges::any_of(
      classes, [&](std::string_view start) { return model_class.starts_with(start); });
}

TEST(PlanArchitectures, PlansEveryClass) {
  const auto& table = huggingface::RuleTable::builtin();
  for (const std::string& model_class : table.classes()) {
    if (needs_more_files(model_class)) continue;
    SCOPED_TRACE(model_class);
    const auto import = PlannedFolder(model_class, every_member, {}).plan();
    ASSERT_THAT(import, Succeeds());
    const std::string prefix = table.find(model_class)->name + ".";
    EXPECT_THAT((*import)->keys(),
                testing::Contains(testing::Field(&ImportedKey::key, prefix + "block_count")));
    std::vector<std::string> names;
    for (const ImportedTensor& tensor : (*import)->tensors()) names.push_back(tensor.name);
    std::erase(names, "rope_freqs.weight");
    EXPECT_EQ(names.size(), 2u);
  }
}

/// The keys and tensors of a folder by their names, as the engine needs them or as the reference
/// converter writes them.
std::vector<std::string> planned_names(const PlannedFolder& folder, bool as_reference,
                                       std::vector<Error>* remarks = nullptr) {
  const auto import = folder.plan(as_reference);
  EXPECT_THAT(import, Succeeds());
  std::vector<std::string> names;
  if (!import) return names;
  for (const ImportedKey& key : (*import)->keys()) names.push_back(key.key);
  for (const ImportedTensor& tensor : (*import)->tensors()) names.push_back(tensor.name);
  if (remarks != nullptr) *remarks = (*import)->remarks();
  return names;
}

TEST(PlanArchitectures, ExaoneHasTheEpsilonThatTheEngineReads) {
  const PlannedFolder folder("ExaoneForCausalLM",
                             R"("hidden_size": 8, "num_attention_heads": 2,
                                "layer_norm_epsilon": 1e-5)",
                             {});
  const char* const key = "exaone.attention.layer_norm_rms_epsilon";
  EXPECT_THAT(planned_names(folder, false), testing::Contains(key));
  EXPECT_THAT(planned_names(folder, true), testing::Not(testing::Contains(key)));
}

TEST(PlanArchitectures, SmolLm3HasNoFactorsOfFrequencies) {
  const char* const config = R"("hidden_size": 8, "num_attention_heads": 2, "head_dim": 4,
      "rope_theta": 10000, "rope_scaling": {"rope_type": "llama3", "factor": 8,
      "low_freq_factor": 1, "high_freq_factor": 4, "original_max_position_embeddings": 64})";
  const PlannedFolder folder("SmolLM3ForCausalLM", config, {});
  std::vector<Error> remarks;
  EXPECT_THAT(planned_names(folder, false, &remarks),
              testing::Not(testing::Contains("rope_freqs.weight")));
  EXPECT_THAT(remarks,
              ElementsAre(testing::AllOf(testing::Field(&Error::code, Errc::left_out),
                                         testing::Field(&Error::subject, "rope_freqs.weight"))));
  EXPECT_THAT(planned_names(folder, true, &remarks), testing::Contains("rope_freqs.weight"));
  EXPECT_THAT(remarks, testing::IsEmpty());
  EXPECT_THAT(planned_names(PlannedFolder("LlamaForCausalLM", config, {}), false),
              testing::Contains("rope_freqs.weight"));
}

TEST(PlanArchitectures, TheClassifierOfBertIsAnOutputWithLabels) {
  const auto names = [](const std::string& model_class, const char* labels, bool as_reference) {
    const std::string config = R"("hidden_size": 8, "num_attention_heads": 2)";
    return planned_names(PlannedFolder(model_class, config + labels,
                                       {{"classifier.weight", {2, 8}}, {"classifier.bias", {2}}}),
                         as_reference);
  };
  constexpr const char* named = R"(, "id2label": {"0": "no", "1": "yes"})";
  constexpr const char* unnamed = R"(, "id2label": {"0": "LABEL_0", "1": "LABEL_1"})";
  const auto is_whole = testing::IsSupersetOf(
      {"bert.classifier.output_labels", "cls.output.weight", "cls.output.bias"});
  for (const char* const labels : {named, unnamed, ""}) {
    EXPECT_THAT(names("BertForSequenceClassification", labels, false), is_whole) << labels;
  }
  EXPECT_THAT(names("BertForSequenceClassification", named, true), is_whole);
  EXPECT_THAT(names("BertForSequenceClassification", R"(, "id2label": {"0": "LABEL_0"})", true),
              is_whole);
  for (const char* const labels : {unnamed, ""}) {
    EXPECT_THAT(names("BertForSequenceClassification", labels, true),
                testing::AllOf(testing::IsSupersetOf({"cls.weight", "cls.bias"}),
                               testing::Not(testing::Contains("bert.classifier.output_labels"))));
  }
  EXPECT_THAT(names("BertModel", unnamed, false),
              testing::Not(testing::Contains("bert.classifier.output_labels")));
}

TEST(PlanArchitectures, DbrxQuantizesItsRouters) {
  const std::string block = "transformer.blocks.0.";
  const PlannedFolder folder("DbrxForCausalLM", every_member,
                             {{block + "ffn.router.layer.weight", {2, 8}},
                              {block + "ffn.experts.mlp.w1", {32, 8}},
                              {block + "ffn.experts.mlp.w2", {32, 8}}});
  const auto import = folder.plan(ImportOptions{.type = TensorType::f16});
  ASSERT_THAT(import, Succeeds());
  std::map<std::string, ImportedTensor> tensors;
  for (const ImportedTensor& tensor : (*import)->tensors()) tensors[tensor.name] = tensor;
  EXPECT_EQ(tensors["blk.0.ffn_gate_inp.weight"].type, TensorType::f16);
  EXPECT_THAT(tensors["blk.0.ffn_gate_exps.weight"].shape, ElementsAre(8, 16, 2));
  EXPECT_THAT(tensors["blk.0.ffn_down_exps.weight"].shape, ElementsAre(16, 8, 2));
}

TEST(PlanArchitectures, WhatTheReferenceRefusesByItsClassIsRefused) {
  const auto refused = [](const char* model_class, const char* member) {
    const std::string config = std::string(every_member) + ", " + member;
    const auto import = PlannedFolder(model_class, config, {}).plan();
    return import ? std::string() : import.error().message();
  };
  EXPECT_THAT(refused("MiniMaxText01ForCausalLM", R"("layernorm_mlp_alpha": 3)"),
              HasSubstr("layernorm_mlp_alpha must be one number"));
  EXPECT_THAT(refused("MiniMaxText01ForCausalLM", R"("layernorm_linear_attention_alpha": 3)"),
              HasSubstr("must be one number"));
  EXPECT_THAT(refused("MiniMaxM1ForCausalLM", R"("layernorm_linear_attention_beta": 0.5)"),
              HasSubstr("layernorm_mlp_beta must be 1"));
  EXPECT_THAT(refused("JAISLMHeadModel", R"("activation_function": "gelu")"),
              HasSubstr("activation_function must be swiglu"));
  EXPECT_THAT(refused("JAISLMHeadModel", R"("position_embedding_type": "learned")"),
              HasSubstr("position_embedding_type must be alibi"));
}

TEST(PlanArchitectures, LagunaIsRefusedIfItDoesNotTellItsGate) {
  const auto refused = [](const char* member) {
    const std::string config = std::string(every_member) + ", " + member;
    const auto import = PlannedFolder("LagunaForCausalLM", config, {}).plan();
    return import ? std::string() : import.error().message();
  };
  EXPECT_THAT(refused(R"("gating": false)"), HasSubstr("gating must be per-head or per-element"));
  EXPECT_THAT(refused(R"("gating_types": ["per-element"])"),
              HasSubstr("gating must be per-element"));
  EXPECT_EQ(refused(R"("gating_types": ["per-head"])"), "");
  EXPECT_EQ(refused(R"("gating": "per-element", "gating_types": ["per_element"])"), "");
}

TEST(PlanArchitectures, MiniMaxSuppressesTokensWithoutAnEmbedding) {
  const auto is_there = [](std::uint64_t i) { return i < 32; };
  const std::string weights = safetensors_of(
      {{"model.embed_tokens.weight", {6, 8}}, {"model.layers.0.self_attn.o_proj.weight", {8, 8}}},
      "F32", [&](std::uint64_t i, std::string& bytes) {
        const float number = is_there(i) ? 1.0f : 0.0f;
        bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
      });
  const PlannedFolder folder("MiniMaxText01ForCausalLM", every_member, {},
                             {{"model.safetensors", weights}});
  const auto import = folder.plan();
  ASSERT_THAT(import, Succeeds());
  for (const KeyValue& entry : (*import)->metadata()) {
    if (entry.key != "tokenizer.ggml.suppress_tokens") continue;
    ASSERT_EQ(entry.value.as_array().size(), 2u);  // row 3 is of no listed token, and not zero
    EXPECT_EQ(entry.value.as_array()[0].get<std::int32_t>().value_or(0), 4);
    return;
  }
  FAIL() << "no tokens are suppressed";
}

TEST(PlanArchitectures, GraniteSwitchHasAnAdapterOfZerosBeforeTheOthers) {
  const std::string config = R"({"architectures": ["GraniteSwitchForCausalLM"], )" +
                             std::string(every_member) +
                             R"(, "num_hidden_layers": 2, "vocab_size": 3, "num_adapters": 2,
          "max_lora_rank": 2, "adapter_token_ids": [1, 2], "adapter_substitute_token_ids": [1, 2]})";
  const std::string weights =
      safetensors_of({{"model.embed_tokens.weight", {3, 8}},
                      {"model.layers.0.self_attn.qkv_proj.lora_B_slices.0", {2, 1, 8, 2}},
                      {"model.layers.0.self_attn.o_proj.lora_A", {2, 1, 2, 8}}});
  const PlannedFolder folder("GraniteSwitchForCausalLM", every_member, {},
                             {{"config.json", config}, {"model.safetensors", weights}});
  EXPECT_EQ(folder.number("graniteswitch.block_count"), 1);
  EXPECT_THAT(folder.column("blk.0.attn_output.lora_a"), ElementsAre(0, 0, 0, 8, 16, 24));
  EXPECT_THAT(folder.column("blk.0.attn_q.lora_b"),
              ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 2, 6, 8, 12, 10, 14, 16, 20, 18, 22, 24, 28,
                          26, 30));
}

TEST(PlanArchitectures, AProjectorAloneHasNoTextModel) {
  const auto import = PlannedFolder("UltravoxModel", every_member, {}).plan();
  ASSERT_FALSE(import);
  EXPECT_THAT(import.error().message(), HasSubstr("--mmproj"));
}

TEST(PlanArchitectures, JaisScalesItsOutput) {
  const PlannedFolder folder(
      "JAISLMHeadModel", every_member,
      {{"transformer.h.0.mlp.c_fc2.weight", {8, 16}}, {"lm_head.weight", {3, 8}}});
  EXPECT_EQ(folder.number("jais.attention.max_alibi_bias"), 8);
  EXPECT_THAT(folder.column("blk.0.ffn_gate.weight"), testing::SizeIs(16));
  EXPECT_THAT(folder.column("output.weight"), ElementsAre(0, 4, 8));
}

TEST(PlanArchitectures, ChameleonHasANormForAllHeads) {
  const PlannedFolder folder("ChameleonForConditionalGeneration", every_member,
                             {{"model.layers.0.self_attn.q_norm.weight", {2, 4}}});
  EXPECT_THAT(folder.column("blk.0.attn_q_norm.weight"), ElementsAre(0, 0));
}

constexpr const char* falcon_config =
    R"("hidden_size": 8, "num_attention_heads": 4, "layer_norm_epsilon": 1e-5)";
const std::string falcon_tensor = "transformer.h.0.self_attention.query_key_value.weight";

TEST(PlanArchitectures, FalconHasOneKeyHeadUnlessItCountsThem) {
  const PlannedFolder one("FalconForCausalLM", falcon_config, {{falcon_tensor, {6, 8}}});
  EXPECT_EQ(one.number("falcon.attention.head_count_kv"), 1);
  EXPECT_THAT(one.column("blk.0.attn_qkv.weight"), ElementsAre(0, 8, 16, 24, 32, 40));
  const PlannedFolder older("RWForCausalLM", std::string(falcon_config) + R"(, "n_head_kv": 2)",
                            {{falcon_tensor, {8, 8}}});
  EXPECT_EQ(older.number("falcon.attention.head_count_kv"), 2);
}

TEST(PlanArchitectures, FalconJoinsQueriesKeysAndValuesOfAllGroups) {
  // Each of two groups holds two queries, a key and a value.
  const PlannedFolder folder("FalconForCausalLM",
                             std::string(falcon_config) + R"(, "num_kv_heads": 2)",
                             {{falcon_tensor, {8, 8}}});
  EXPECT_EQ(folder.number("falcon.attention.head_count_kv"), 2);
  EXPECT_THAT(folder.column("blk.0.attn_qkv.weight"), ElementsAre(0, 8, 32, 40, 16, 48, 24, 56));
}

TEST(PlanArchitectures, FusedExpertsHoldTheGateBeforeTheRest) {
  const PlannedFolder folder(
      "Qwen2MoeForCausalLM",
      R"("hidden_size": 8, "num_attention_heads": 2, "num_experts": 2, "moe_intermediate_size": 2)",
      {{"model.layers.0.mlp.experts.gate_up_proj", {2, 4, 8}},
       {"model.layers.0.mlp.experts.down_proj", {2, 8, 2}}});
  EXPECT_THAT(folder.column("blk.0.ffn_gate_exps.weight"), ElementsAre(0, 8, 32, 40));
  EXPECT_THAT(folder.column("blk.0.ffn_up_exps.weight"), ElementsAre(16, 24, 48, 56));
  EXPECT_EQ(folder.column("blk.0.ffn_down_exps.weight").size(), 16u);
}

TEST(PlanArchitectures, LayersThatPredictFurtherTokensFollowTheOthers) {
  const auto folder = [](int layers, std::vector<TensorSketch> tensors) {
    return PlannedFolder(
        "ExaoneMoEForCausalLM",
        every_member + std::string(R"(, "num_nextn_predict_layers": )") + std::to_string(layers),
        std::move(tensors));
  };
  const PlannedFolder next =
      folder(1, {{"mtp.fc.weight", {8, 16}}, {"mtp.layers.0.self_attn.o_proj.weight", {8, 8}}});
  EXPECT_EQ(next.number("exaone-moe.block_count"), 2);
  EXPECT_THAT(planned_names(next, false),
              testing::IsSupersetOf({"blk.1.nextn.eh_proj.weight", "blk.1.attn_output.weight"}));
  const auto none = folder(1, {}).plan();
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message(), HasSubstr("the layer has no tensors"));
}

TEST(PlanArchitectures, EmbeddingsHaveARowForEachTokenOfAPaddedVocabulary) {
  const PlannedFolder folder("GraniteMoeHybridForCausalLM", every_member, {});
  const std::vector<float> rows = folder.column("token_embd.weight");
  ASSERT_EQ(rows.size(), 8u);  // of three tokens
  EXPECT_THAT(std::vector(rows.begin() + 3, rows.end()), testing::Each(0.0F));
}

TEST(PlanArchitectures, NextLayersCanBeLeftOutOrMadeAFileOfTheirOwn) {
  const PlannedFolder folder(
      "ExaoneMoEForCausalLM", every_member + std::string(R"(, "num_nextn_predict_layers": 1)"),
      {{"mtp.fc.weight", {8, 16}}, {"mtp.layers.0.self_attn.o_proj.weight", {8, 8}}});
  const auto names = [](const Result<std::unique_ptr<Import>>& import) {
    EXPECT_THAT(import, Succeeds());
    std::vector<std::string> found;
    for (const ImportedTensor& tensor : (*import)->tensors()) found.push_back(tensor.name);
    return found;
  };
  EXPECT_THAT(names(folder.plan(ImportOptions{.without_next_layers = true})),
              testing::UnorderedElementsAre("token_embd.weight", "blk.0.attn_output.weight"));
  const auto next = folder.plan(ImportOptions{.next_layers_only = true});
  EXPECT_THAT(names(next),
              testing::UnorderedElementsAre("token_embd.weight", "blk.1.attn_output.weight",
                                            "blk.1.nextn.eh_proj.weight"));
  EXPECT_TRUE((*next)->file_name().starts_with("mtp-"));
  const PlannedFolder other("Qwen3ForCausalLM", every_member, {});
  EXPECT_THAT(other.plan(ImportOptions{.without_next_layers = true}),
              FailsWith(Errc::import_refused));
}

TEST(PlanArchitectures, DenseModulesAreImportedIfThatIsWanted) {
  const PlannedFolder folder(
      "Gemma3TextModel", every_member, {},
      {{"2_Dense/model.safetensors", safetensors_of({{"linear.weight", {24, 8}}})}});
  const auto usual = folder.plan();
  ASSERT_THAT(usual, Succeeds());
  ASSERT_EQ((*usual)->tensors().size(), 2u);
  EXPECT_THAT((*usual)->remarks(),
              testing::Contains(testing::Field(&Error::subject, HasSubstr("2_Dense"))));
  const auto import = folder.plan(ImportOptions{.dense_modules = true});
  ASSERT_THAT(import, Succeeds());
  EXPECT_EQ((*import)->tensors()[0].name, "dense_2.weight");
  std::vector<std::int64_t> sizes;
  for (const KeyValue& entry : (*import)->metadata()) {
    if (entry.key.find("dense_") == entry.key.npos) continue;
    sizes.push_back(entry.value.get<std::int64_t>().value_or(-1));
  }
  EXPECT_THAT(sizes, ElementsAre(8, 24));
  const PlannedFolder other("Qwen3ForCausalLM", every_member, {});
  EXPECT_THAT(other.plan(ImportOptions{.dense_modules = true}), FailsWith(Errc::import_refused));
}

TEST(PlanArchitectures, AnUnknownClassHasANearestOne) {
  const PlannedFolder folder("Qwen9ForCausalLM", every_member,
                             {{"layers.0.self_attn.q_norm.weight", {4}}, {"layers.0.x", {4}}});
  const auto refused = folder.plan();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::architecture_unsupported);
  EXPECT_THAT(refused.error().detail, HasSubstr("no place there: layers.{layer}.x"));
  EXPECT_THAT(refused.error().detail, HasSubstr("--class"));
  EXPECT_THAT(folder.plan(ImportOptions{.as_class = "Qwen8ForCausalLM"}),
              FailsWith(Errc::architecture_unsupported));
}

TEST(PlanArchitectures, AnotherClassIsNamedInTheMetadata) {
  const PlannedFolder folder("Qwen9ForCausalLM", every_member, {});
  const auto import = folder.plan(ImportOptions{.as_class = "Qwen3ForCausalLM"});
  ASSERT_THAT(import, Succeeds());
  std::vector<std::string> values;
  for (const KeyValue& entry : (*import)->metadata()) {
    if (!entry.key.starts_with("ingot.import.")) continue;
    values.emplace_back(entry.value.get<std::string_view>().value_or(""));
  }
  EXPECT_THAT(values, ElementsAre("Qwen9ForCausalLM", "Qwen3ForCausalLM"));
  EXPECT_THAT((*import)->remarks(),
              testing::Contains(testing::Field(&Error::subject, "Qwen9ForCausalLM")));
}

TEST(PlanArchitectures, NomicBertHasTheContextThatItWasTrainedWith) {
  const auto folder = [](const std::string& positions) {
    return PlannedFolder("NomicBertModel",
                         R"("n_embd": 8, "n_head": 2, "n_positions": )" + positions, {});
  };
  EXPECT_EQ(folder("8192").number("nomic-bert.context_length"), 2048);
  EXPECT_EQ(folder(R"(2048, "max_trained_positions": 2048)").number("nomic-bert.context_length"),
            512);
  const auto longer = folder(R"(8192, "max_trained_positions": 8192)").plan();
  ASSERT_FALSE(longer);
  EXPECT_THAT(longer.error().message(), HasSubstr("max_trained_positions is `8192`"));
  const auto other = folder("1024").plan();
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message(), HasSubstr("n_positions is `1024`"));
}

}  // namespace
}  // namespace ingot::test
