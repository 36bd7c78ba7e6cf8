// SPDX-License-Identifier: MIT
// The mixtures of every recipe, tensor by tensor, against the rules written a second time: here as
// the conditions that a reader of the rules would write, there (recipe_table.cpp) as a table.
#include <gmock/gmock.h>

#include "ingot/recipe.hpp"
#include "support/expect_error.hpp"
#include "support/model_shapes.hpp"

namespace ingot::test {
namespace {

using enum TensorType;

/// The state that the rules need, in the words of their description.
struct Rules {
  std::string file;  // the recipe
  TensorType base;
  std::string arch;
  std::uint64_t layers;
  std::uint64_t grouping;
  std::uint64_t experts;
  bool is_80_layer_llama;
  bool has_imatrix;

  bool is(std::initializer_list<const char*> names) const {
    for (const char* name : names) {
      if (file == name) return true;
    }
    return false;
  }
  static bool more_bits(std::uint64_t i, std::uint64_t n) {
    return i < n / 8 || i >= 7 * n / 8 || (i - n / 8) % 3 == 2;
  }

  TensorType output() const {
    if (file == "MXFP4_MOE") return q8_0;
    if (arch == "falcon") return q8_0;
    if (is({"IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ2_M", "IQ3_XXS"})) return q5_k;
    return base == q8_0 ? q8_0 : q6_k;
  }
  TensorType embedding() const {
    if (file == "MXFP4_MOE") return q8_0;
    if (is({"IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS"})) return q2_k;
    if (is({"IQ2_S", "IQ2_M", "IQ3_XXS"})) return iq3_s;
    if (is({"TQ1_0", "TQ2_0", "Q2_0"})) return q4_k;
    return base;
  }
  bool is_smallest() const { return is({"IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ2_M"}); }
  bool is_upper() const { return is({"IQ2_S", "IQ2_M"}); }

  TensorType value(std::uint64_t i, std::uint64_t n) const {
    if (file == "MXFP4_MOE") return q8_0;
    if (is_smallest()) {
      if (grouping >= 4 || experts >= 4) return q4_k;
      return is_upper() ? iq3_s : q2_k;
    }
    TensorType type = base;
    if (file == "Q2_K") type = grouping >= 4 ? q4_k : q3_k;
    if (file == "Q2_K_S" && grouping >= 4) type = q4_k;
    if (file == "Q3_K_M") type = i < 2 ? q5_k : q4_k;
    if (file == "Q3_K_L") type = q5_k;
    if (file == "Q4_K_S" && i < 4) type = q5_k;
    if (is({"Q4_K_M", "Q5_K_M"}) && more_bits(i, n)) type = q6_k;
    if (file == "IQ3_XXS") type = grouping >= 4 ? q4_k : has_imatrix ? iq3_xxs : iq3_s;
    if (is({"IQ3_XS", "IQ3_S"}) && grouping >= 4) type = q4_k;
    if (file == "IQ3_M") type = q4_k;
    if (is({"IQ4_NL", "IQ4_XS"}) && grouping >= 4) type = q5_k;
    if (is_80_layer_llama && (type == q3_k || type == q4_k)) type = q5_k;
    return experts == 8 ? q8_0 : type;
  }
  TensorType key() const {
    if (file == "MXFP4_MOE") return q8_0;
    if (is_smallest()) return experts == 8 ? q4_k : base;
    if (experts == 8) return q8_0;
    if (file == "IQ3_XXS") return iq2_s;
    return file == "IQ3_XS" ? iq3_xxs : base;
  }
  TensorType query() const {
    if (file == "MXFP4_MOE") return q8_0;
    if (file == "IQ3_XXS") return iq2_s;
    return file == "IQ3_XS" ? iq3_xxs : base;
  }
  TensorType attention_output() const {
    if (file == "MXFP4_MOE") return q8_0;
    if (is_smallest()) {
      if (experts == 8) return q5_k;
      if (is({"IQ1_S", "IQ1_M"})) return iq2_xxs;
      return is_upper() ? iq3_s : base;
    }
    if (arch == "falcon") return file == "Q3_K_L" ? q4_k : base;
    if (experts == 8) {
      return is({"Q2_K", "IQ3_XS", "IQ3_XXS", "Q3_K_S", "Q3_K_M", "IQ4_NL", "Q4_K_S", "Q4_K_M",
                 "IQ3_S", "IQ3_M", "IQ4_XS"})
                 ? q5_k
                 : base;
    }
    if (file == "Q2_K") return q3_k;
    if (file == "IQ3_XXS") return iq3_s;
    if (file == "Q3_K_L") return q5_k;
    return is({"Q3_K_M", "IQ3_M"}) ? q4_k : base;
  }
  TensorType down(std::uint64_t i) const {
    const std::uint64_t n = layers;
    const bool is_falcon = arch == "falcon";
    if (file == "MXFP4_MOE") return experts > 1 ? mxfp4 : q8_0;
    if (is_smallest()) return i < n / 8 ? (is_upper() ? iq3_s : q2_k) : base;
    if (file == "Q2_K") return q3_k;
    if (file == "Q2_K_S") return i < n / 8 ? q4_k : base;
    if (file == "Q3_K_M") {
      if (i < n / 16) return q5_k;
      return !is_falcon || more_bits(i, n) ? q4_k : base;
    }
    if (file == "Q3_K_L") return is_falcon ? q4_k : q5_k;
    if (file == "Q4_K_S") return i < n / 8 && !is_falcon ? q5_k : base;
    if (file == "Q4_K_M") {
      if (is_falcon) return i < n / 16 ? q6_k : more_bits(i, n) ? q5_k : base;
      return more_bits(i, n) ? q6_k : base;
    }
    if (file == "Q5_K_M") return more_bits(i, n) ? q6_k : base;
    if (file == "IQ3_XXS") return has_imatrix ? base : i < n / 8 ? q4_k : q3_k;
    if (file == "IQ3_M") return i < n / 8 || (experts == 8 && more_bits(i, n)) ? q4_k : base;
    if (is({"IQ4_NL", "IQ4_XS"})) return !has_imatrix && i < n / 8 ? q5_k : base;
    if (file == "Q4_0") return has_imatrix && i < n / 8 ? q4_1 : base;
    if (file == "Q5_0") return has_imatrix && i < n / 8 ? q5_1 : base;
    return base;
  }
  TensorType up(std::uint64_t i) const {
    if (file == "MXFP4_MOE") return experts > 1 ? mxfp4 : q8_0;
    const bool is_middle = i >= layers / 8 && i < 7 * layers / 8;
    return file == "IQ3_XS" && is_middle ? iq3_xxs : base;
  }

  TensorType choose(const ModelShape& model, const TensorInfo& tensor,
                    std::uint64_t running_value) const {
    const std::string name(tensor.name);
    if (tensor.shape.size() < 2 || name.find("ffn_gate_inp") != std::string::npos) {
      return tensor.type;
    }
    if (base == f32 || base == f16 || base == bf16) return base;
    const bool is_tied = model.position("output.weight") == model.tensors.size();
    if (name == "output.weight") return output();
    if (name == "token_embd.weight") return is_tied ? output() : embedding();
    const std::uint64_t layer = std::stoull(name.substr(4));
    const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
    if (has("attn_v.") || has("attn_qkv")) return value(running_value, layers);
    if (has("attn_k.")) return key();
    if (has("attn_q.")) return query();
    if (has("attn_output")) return attention_output();
    // Layers are counted as names are sorted by number: the running number is the layer.
    return has("ffn_down") ? down(layer) : up(layer);
  }
};

struct NamedShape {
  const char* name;
  ShapeOptions options;
};

const NamedShape shapes[] = {
    {"llama", {.layers = 32}},
    {"llama_grouped", {.layers = 32, .heads = 32, .heads_kv = 8, .width = 1024}},
    {"llama_70b", {.layers = 80, .heads = 64, .heads_kv = 8, .width = 1024}},
    {"llama_80_layers_of_full_heads", {.layers = 80}},
    {"llama_small", {.layers = 3}},
    {"qwen2", {.architecture = "qwen2", .layers = 28, .heads = 28, .heads_kv = 4, .width = 1792}},
    {"qwen2_tied",
     {.architecture = "qwen2",
      .layers = 24,
      .heads = 14,
      .heads_kv = 2,
      .has_output = false,
      .width = 1792}},
    {"mixtral", {.layers = 32, .heads = 32, .heads_kv = 8, .experts = 8, .width = 1024}},
    {"eight_experts_of_full_heads", {.layers = 16, .experts = 8}},
    {"many_experts", {.architecture = "qwen2moe", .layers = 24, .experts = 60}},
    {"two_experts", {.layers = 16, .experts = 2}},
    {"falcon", {.architecture = "falcon", .layers = 60, .has_fused_attention = true}},
    {"unknown", {.architecture = "frobnicate", .layers = 12}},
};

class EveryRecipe : public testing::TestWithParam<std::tuple<NamedShape, bool>> {};

TEST_P(EveryRecipe, FollowsTheRules) {
  const auto& [shape, has_imatrix] = GetParam();
  const ModelShape model = make_shape(shape.options);
  for (const Recipe& recipe : recipes()) {
    if (recipe.is_copy()) continue;
    SCOPED_TRACE(std::string(recipe.name));
    const auto choices =
        choose_types(model.tensors, model.traits, recipe, {.has_importance = has_imatrix});
    ASSERT_THAT(choices, Succeeds());
    const ShapeOptions& options = shape.options;
    const Rules rules{.file = std::string(recipe.name),
                      .base = recipe.base,
                      .arch = options.architecture,
                      .layers = options.layers,
                      .grouping = options.heads / options.heads_kv,
                      .experts = options.experts,
                      .is_80_layer_llama = options.architecture == "llama" &&
                                           options.layers == 80 &&
                                           options.heads != options.heads_kv,
                      .has_imatrix = has_imatrix};
    std::uint64_t value = 0;  // the shapes list their layers in ascending order
    for (std::size_t i = 0; i < model.tensors.size(); ++i) {
      const TensorInfo& tensor = model.tensors[i];
      const bool is_value = tensor.name.find("attn_v.") != std::string_view::npos ||
                            tensor.name.find("attn_qkv") != std::string_view::npos;
      const TensorType expected = rules.choose(model, tensor, value);
      if (is_value) ++value;
      EXPECT_EQ(find_type((*choices)[i].type)->name, find_type(expected)->name) << tensor.name;
    }
  }
}

std::string case_of(const testing::TestParamInfo<std::tuple<NamedShape, bool>>& tested) {
  return std::string(std::get<0>(tested.param).name) +
         (std::get<1>(tested.param) ? "_with_imatrix" : "");
}

INSTANTIATE_TEST_SUITE_P(Shapes, EveryRecipe,
                         testing::Combine(testing::ValuesIn(shapes), testing::Bool()), case_of);

}  // namespace
}  // namespace ingot::test
