// SPDX-License-Identifier: MIT
#include "ingot/recipe.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <span>
#include <string>

#include "support/expect_error.hpp"
#include "support/model_shapes.hpp"
#include "support/model_sketch.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

using enum TensorType;

const Recipe& recipe(std::string_view name) { return *find_recipe(name); }

TypeChoice choice_for(const ModelShape& model, std::string_view name, std::string_view recipe_name,
                      const RecipeOptions& options = {}) {
  const auto choices = choose_types(model.tensors, model.traits, recipe(recipe_name), options);
  EXPECT_THAT(choices, Succeeds());
  return choices ? (*choices)[model.position(name)] : TypeChoice{};
}

TEST(Recipe, IsFoundByNameInAnyCaseAndByNumber) {
  ASSERT_NE(find_recipe("q4_k_m"), nullptr);
  EXPECT_EQ(find_recipe("q4_k_m"), find_recipe("Q4_K_M"));
  EXPECT_EQ(find_recipe("15"), find_recipe("Q4_K_M"));
  EXPECT_EQ(find_recipe("Q4_K"), find_recipe("Q4_K_M"));
  EXPECT_EQ(find_recipe("q3_k"), find_recipe("Q3_K_M"));
  EXPECT_EQ(find_recipe("mxfp4"), find_recipe("MXFP4_MOE"));
  EXPECT_EQ(find_recipe(std::uint32_t{28})->base, iq2_xs);  // IQ2_S files are made of IQ2_XS
  for (const char* name : {"", "Q4", "33", "39", "4", "15 ", "-1", "Q8_K"}) {
    EXPECT_EQ(find_recipe(name), nullptr) << name;
  }
}

TEST(Recipe, AreAllThatTheToolKnows) {
  std::vector<std::string> names;
  std::int64_t last = -1;
  for (const Recipe& known : recipes()) {
    names.emplace_back(known.name);
    if (known.is_copy()) continue;
    EXPECT_GT(*known.file_type, last);
    last = *known.file_type;
    EXPECT_EQ(file_type_name(*known.file_type), known.name);
    EXPECT_TRUE(is_quantize_target(known.base)) << known.name;
  }
  EXPECT_THAT(names, testing::ElementsAre("F32", "F16", "Q4_0", "Q4_1", "Q8_0", "Q5_0", "Q5_1",
                                          "Q2_K", "Q3_K_S", "Q3_K_M", "Q3_K_L", "Q4_K_S", "Q4_K_M",
                                          "Q5_K_S", "Q5_K_M", "Q6_K", "IQ2_XXS", "IQ2_XS", "Q2_K_S",
                                          "IQ3_XS", "IQ3_XXS", "IQ1_S", "IQ4_NL", "IQ3_S", "IQ3_M",
                                          "IQ2_S", "IQ2_M", "IQ4_XS", "IQ1_M", "BF16", "TQ1_0",
                                          "TQ2_0", "MXFP4_MOE", "Q1_0", "Q2_0", "COPY"));
}

TEST(ChooseTypes, KeepsWhatIsNoMatrixOfWeights) {
  ModelShape model = make_shape({});
  model.add("blk.0.ssm_conv1d.weight", {256, 256});
  model.add("blk.0.ffn_gate_inp.weight", {256, 256}, f32);
  model.add("blk.0.attn_q_norm.weight", {256, 256});
  model.add("v.patch_embd.weight", {256, 256});
  model.add("position_embd.weight", {256, 256});
  model.add("blk.0.time_mix_w1.weight", {256, 256});
  model.add("blk.0.scales", {256, 256});
  model.add("rope_freqs.weight", {256, 1, 1});
  model.add("hash.weight", {256, 256}, i32);
  const auto reason = [&](const char* name) {
    return name_of(choice_for(model, name, "Q4_K_M").reason);
  };
  EXPECT_EQ(reason("blk.0.ssm_conv1d.weight"), "kept_name");
  EXPECT_EQ(reason("blk.0.ffn_gate_inp.weight"), "kept_name");
  EXPECT_EQ(reason("blk.0.attn_q_norm.weight"), "kept_name");
  EXPECT_EQ(reason("v.patch_embd.weight"), "kept_name");
  EXPECT_EQ(reason("position_embd.weight"), "kept_name");
  EXPECT_EQ(reason("blk.0.time_mix_w1.weight"), "kept_name");
  EXPECT_EQ(reason("blk.0.scales"), "kept_name");
  EXPECT_EQ(reason("rope_freqs.weight"), "one_dimension");
  EXPECT_EQ(reason("blk.0.attn_norm.weight"), "one_dimension");
  EXPECT_EQ(reason("hash.weight"), "not_floats");
  EXPECT_EQ(choice_for(model, "blk.0.ffn_gate_inp.weight", "Q4_K_M").type, f32);
  EXPECT_EQ(reason("blk.0.ffn_up.weight"), "base");
  EXPECT_EQ(reason("output.weight"), "mixture");
}

TEST(ChooseTypes, CountsInTheOrderOfLayersWhateverTheFileDoes) {
  ModelShape model = make_shape({.layers = 24});
  const auto expected = choose_types(model.tensors, model.traits, recipe("Q4_K_M"), {});
  ASSERT_THAT(expected, Succeeds());
  std::vector<std::size_t> order(model.tensors.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), std::mt19937(7));
  std::vector<TensorInfo> shuffled;
  for (const std::size_t i : order) shuffled.push_back(model.tensors[i]);
  const auto actual = choose_types(shuffled, model.traits, recipe("Q4_K_M"), {});
  ASSERT_THAT(actual, Succeeds());
  for (std::size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ((*actual)[i].type, (*expected)[order[i]].type) << shuffled[i].name;
  }
}

TEST(ChooseTypes, CountsLayersWhereTheModelDoesNotSay) {
  ModelShape model = make_shape({.layers = 16});
  const auto expected = choose_types(model.tensors, model.traits, recipe("Q4_K_M"), {});
  model.traits.block_count = 0;
  const auto actual = choose_types(model.tensors, model.traits, recipe("Q4_K_M"), {});
  for (std::size_t i = 0; i < model.tensors.size(); ++i) {
    EXPECT_EQ((*actual)[i].type, (*expected)[i].type) << model.tensors[i].name;
  }
}

TEST(ChooseTypes, ExpertsInTensorsOfTheirOwnAreCountedByLayer) {
  // Mixtral as it was first: names sort as expert 0 of each projection, expert 1, ...
  ModelShape model;
  model.traits = {.architecture = "llama",
                  .block_count = 16,
                  .head_count = 8,
                  .head_count_kv = 8,
                  .expert_count = 2};
  for (int layer = 0; layer < 16; ++layer) {
    for (int expert = 0; expert < 2; ++expert) {
      model.add("blk." + std::to_string(layer) + ".ffn_down." + std::to_string(expert) + ".weight",
                {256, 256});
    }
  }
  EXPECT_EQ(choice_for(model, "blk.1.ffn_down.1.weight", "Q4_K_S").type, q5_k);
  EXPECT_EQ(choice_for(model, "blk.2.ffn_down.0.weight", "Q4_K_S").type, q4_k);
  // The smallest mixtures count tensors all the same.
  EXPECT_EQ(choice_for(model, "blk.0.ffn_down.1.weight", "IQ2_XS").type, q2_k);
  EXPECT_EQ(choice_for(model, "blk.1.ffn_down.0.weight", "IQ2_XS").type, iq2_xs);
}

TEST(ChooseTypes, PutsOptionsBeforePatternsBeforeRules) {
  const ModelShape model = make_shape({});
  const RecipeOptions options{.output_type = q8_0,
                              .token_embedding_type = q5_0,
                              .patterns = {{"attn_(k|v)", q6_k}, {"attn_v", q2_k}, {".*", q4_0}}};
  const auto choices = choose_types(model.tensors, model.traits, recipe("Q4_K_M"), options);
  ASSERT_THAT(choices, Succeeds());
  const auto of = [&](const char* name) { return (*choices)[model.position(name)]; };
  EXPECT_EQ(of("output.weight").type, q8_0);
  EXPECT_EQ(of("output.weight").reason, TypeReason::output_option);
  EXPECT_EQ(of("token_embd.weight").type, q5_0);
  EXPECT_EQ(of("blk.3.attn_v.weight").type, q6_k);
  EXPECT_EQ(of("blk.3.attn_v.weight").pattern, 0u);
  EXPECT_EQ(of("blk.3.attn_q.weight").type, q4_0);
  EXPECT_EQ(of("blk.3.attn_q.weight").reason, TypeReason::pattern);
  EXPECT_EQ(of("blk.3.attn_norm.weight").type, f32);  // patterns choose among what is quantized
}

TEST(ChooseTypes, TensorsThatAPatternDecidesAreNotCounted) {
  const ModelShape model = make_shape({.layers = 32});
  const RecipeOptions options{.patterns = {{"blk\\.[0-3]\\.attn_v", q4_0}}};
  EXPECT_EQ(choice_for(model, "blk.4.attn_v.weight", "Q4_K_S", options).type, q5_k);
  EXPECT_EQ(choice_for(model, "blk.4.attn_v.weight", "Q4_K_S").type, q4_k);
}

TEST(ChooseTypes, PureGivesTheBaseTypeToAll) {
  const ModelShape model = make_shape({});
  const RecipeOptions options{.is_pure = true, .patterns = {{"ffn_down", q6_k}}};
  EXPECT_EQ(choice_for(model, "output.weight", "Q4_K_M", options).type, q4_k);
  EXPECT_EQ(choice_for(model, "blk.0.attn_v.weight", "Q4_K_M", options).type, q4_k);
  EXPECT_EQ(choice_for(model, "blk.0.ffn_down.weight", "Q4_K_M", options).type, q6_k);
}

TEST(ChooseTypes, LeavesTheOutputIfAsked) {
  const ModelShape model = make_shape({});
  const TypeChoice choice =
      choice_for(model, "output.weight", "Q4_K_M", {.leaves_output = true, .output_type = q8_0});
  EXPECT_EQ(choice.reason, TypeReason::kept_output);
  EXPECT_EQ(choice.type, f16);
}

TEST(ChooseTypes, CopyKeepsEverything) {
  const ModelShape model = make_shape({});
  EXPECT_EQ(choice_for(model, "output.weight", "COPY").type, f16);
  EXPECT_EQ(choice_for(model, "output.weight", "COPY").reason, TypeReason::copied);
}

TEST(ChooseTypes, PlainRecipesAskNoRules) {
  const ModelShape model = make_shape({});
  const RecipeOptions options{.patterns = {{".*", q4_0}}};
  EXPECT_EQ(choice_for(model, "output.weight", "BF16", options).type, bf16);
  EXPECT_EQ(choice_for(model, "blk.0.ffn_norm.weight", "F16", options).type, f32);
}

TEST(ChooseTypes, FallsBackWhereRowsAreNotWholeBlocks) {
  const struct {
    const char* recipe;
    TensorType chosen;
    TensorType rows_of_96;
  } cases[] = {
      {"Q2_K", q2_k, q4_0},       {"Q3_K_S", q3_k, q4_0},       {"Q4_K_S", q4_k, q5_0},
      {"Q5_K_S", q5_k, q5_1},     {"Q6_K", q6_k, q8_0},         {"IQ4_XS", iq4_xs, iq4_nl},
      {"IQ2_XS", iq2_xs, iq4_nl}, {"IQ3_S", iq3_s, iq4_nl},     {"TQ1_0", tq1_0, q4_0},
      {"IQ1_M", iq1_m, iq4_nl},   {"TQ2_0", tq2_0, q4_0},       {"Q2_0", q2_0, q4_0},
      {"IQ2_M", iq2_s, iq4_nl},   {"IQ3_XXS", iq3_xxs, iq4_nl}, {"IQ2_XXS", iq2_xxs, iq4_nl},
      {"IQ1_S", iq1_s, iq4_nl}};
  for (const auto& expected : cases) {
    SCOPED_TRACE(expected.recipe);
    ModelShape model;
    model.add("blk.0.other.weight", {96, 10});
    model.add("blk.1.other.weight", {80, 10});
    TypeChoice choice = choice_for(model, "blk.0.other.weight", expected.recipe);
    EXPECT_EQ(choice.type, expected.rows_of_96);
    EXPECT_EQ(choice.instead_of, expected.chosen);
    choice = choice_for(model, "blk.1.other.weight", expected.recipe);
    EXPECT_EQ(choice.type, f16);
    EXPECT_EQ(choice.instead_of, expected.chosen);
  }
}

TEST(ChooseTypes, AnOutputWithOddRowsGetsEightBits) {
  ModelShape model;
  model.add("output.weight", {96, 10});
  EXPECT_EQ(choice_for(model, "output.weight", "Q4_K_M").type, q8_0);
  // Rows that fit the base type, but not Q6_K, fall back from it.
  const TypeChoice choice = choice_for(model, "output.weight", "Q4_0");
  EXPECT_EQ(choice.type, q8_0);
  EXPECT_EQ(choice.instead_of, q6_k);
}

TEST(ChooseTypes, RefusesWhatCannotFit) {
  ModelShape model;
  model.add("blk.0.ffn_up.weight", {80, 10});
  const auto refused = choose_types(model.tensors, {}, recipe("Q4_0"), {});
  ASSERT_THAT(refused, FailsWith(Errc::type_does_not_fit));
  EXPECT_EQ(refused.error().subject, "blk.0.ffn_up.weight");
  EXPECT_THAT(refused.error().message(), testing::HasSubstr("80"));
  model = {};
  model.add("output.weight", {96, 10});
  EXPECT_THAT(choose_types(model.tensors, {}, recipe("Q4_K_M"), {.output_type = q6_k}),
              FailsWith(Errc::type_does_not_fit));
}

TEST(ChooseTypes, RefusesAPatternThatIsNone) {
  const ModelShape model = make_shape({});
  const auto refused = choose_types(model.tensors, model.traits, recipe("Q4_K_M"),
                                    {.patterns = {{"attn_(k", q4_0}}});
  ASSERT_THAT(refused, FailsWith(Errc::invalid_argument));
  EXPECT_EQ(refused.error().subject, "attn_(k");
}

TEST(ChooseTypes, APatternCannotTakeExponentialTime) {
  ModelShape model;
  model.add(std::string(60, 'a') + "!.weight", {256, 256});
  EXPECT_THAT(choose_types(model.tensors, {}, recipe("Q4_K_M"), {.patterns = {{"^(a+)+$", q4_0}}}),
              Succeeds());
}

TEST(DemandsImportance, NamesTheTypesThatArePoorWithout) {
  const Recipe& any = recipe("Q4_K_M");
  for (const TensorType type : {iq1_s, iq1_m, iq2_xxs, iq2_xs, iq2_s, iq3_xxs}) {
    EXPECT_TRUE(demands_importance(type, TensorRole::ffn_up, any));
  }
  for (const TensorType type : {q2_k, iq3_s, iq4_xs, q4_0, tq1_0}) {
    EXPECT_FALSE(demands_importance(type, TensorRole::ffn_up, any));
  }
  EXPECT_TRUE(demands_importance(q2_k, TensorRole::ffn_up, recipe("Q2_K_S")));
  EXPECT_FALSE(demands_importance(q2_k, TensorRole::output, recipe("Q2_K_S")));
  EXPECT_FALSE(demands_importance(iq2_s, TensorRole::token_embedding, any));
  EXPECT_TRUE(demands_importance(iq2_xs, TensorRole::token_embedding, any));  // cannot without
}

TEST(Explain, SaysWhyAndWhatWasWantedFirst) {
  ModelShape model;
  model.add("blk.0.ffn_up.weight", {96, 10});
  const TypeChoice choice = choice_for(model, "blk.0.ffn_up.weight", "Q4_K_M");
  EXPECT_EQ(explain(choice, model.tensors[0], {}),
            "base type; rows of 96 are not whole blocks of Q4_K");
}

TEST(Explain, HasWordsOfItsOwnForEveryReasonAndRole) {
  ModelShape model;
  model.add("t", {256, 4});
  RecipeOptions options;
  options.patterns = {{"ffn_(up|down)", q8_0}};
  std::set<std::string> texts;
  std::size_t count = 0;
  for (auto reason = TypeReason::copied; reason <= TypeReason::target;
       reason = static_cast<TypeReason>(static_cast<int>(reason) + 1)) {
    if (reason == TypeReason::mixture) continue;  // below
    texts.insert(explain({.type = q4_k, .reason = reason}, model.tensors[0], options));
    EXPECT_FALSE(name_of(reason).empty());
    ++count;
  }
  for (auto role = TensorRole::output; role <= TensorRole::other;
       role = static_cast<TensorRole>(static_cast<int>(role) + 1)) {
    texts.insert(explain({.type = q4_k, .reason = TypeReason::mixture, .role = role},
                         model.tensors[0], options));
    ++count;
  }
  EXPECT_EQ(texts.size(), count);
  EXPECT_TRUE(texts.contains("asked for: ffn_(up|down)"));
  EXPECT_TRUE(texts.contains("rule for attention keys"));
}

TEST(Recipe, TraitsTakeTheFirstOfAListForEachLayer) {
  const TemporaryFolder folder;
  ModelSketch sketch = sketch_llama();
  for (const char* suffix : {"head_count", "head_count_kv"}) {
    const std::string key = "llama.attention." + std::string(suffix);
    sketch.set_by(key, [=](ModelWriter& writer) {
      const std::array<std::uint32_t, 2> counts = {key.ends_with("kv") ? 2u : 8u, 1u};
      writer.set_array(key, std::span<const std::uint32_t>(counts));
    });
  }
  const auto model = Model::open(sketch.write(folder.path("a.gguf")));
  ASSERT_THAT(model, Succeeds());
  EXPECT_EQ(traits_of(*model).head_count, 8u);
  EXPECT_EQ(traits_of(*model).head_count_kv, 2u);
  const auto without =
      Model::open(sketch.remove("llama.attention.head_count_kv").write(folder.path("b.gguf")));
  ASSERT_THAT(without, Succeeds());
  EXPECT_EQ(traits_of(*without).head_count_kv, 8u);
}

}  // namespace
}  // namespace ingot::test
