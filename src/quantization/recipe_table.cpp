// SPDX-License-Identifier: MIT
// The recipes: the only place where they are written. A row names what differs from the base type.
#include "quantization/recipe_table.hpp"

#include <array>
#include <iterator>

namespace ingot::quantization {
namespace {

using enum TensorType;

constexpr Recipe recipe(std::string_view name, TensorType base, std::string_view description) {
  for (const FileTypeInfo& type : file_types) {
    if (type.name == name) return {name, description, base, type.number};
  }
  return {name, description, base, std::nullopt};
}

constexpr Rule grouped_q4_k = Case{is_grouped, q4_k};
/// Falcon's attention output stays at the base type, whatever else holds.
constexpr Case falcon_base{is_falcon, base_type};
constexpr Rule experts_q5_k = {falcon_base, Case{has_eight_experts, q5_k}};
constexpr Rule experts_q5_k_else(TensorType type) {
  return {falcon_base, Case{has_eight_experts, q5_k}, Case{always, type}};
}

// The smallest types: attention values and the first down projections decide about quality.
constexpr Rule small_value(TensorType type) {
  return {Case{is_grouped, q4_k}, Case{has_four_experts, q4_k}, Case{always, type}};
}
constexpr Mixture small(Recipe named, TensorType embedding, TensorType better,
                        Rule attention_output) {
  return {.recipe = named,
          .output = q5_k,
          .embedding = embedding,
          .value = small_value(better),
          .key = Case{has_eight_experts, q4_k},
          .query = {},
          .attention_output = attention_output,
          .down = Case{in_first_eighth, better},
          .up = {},
          .rest = {},
          .spares_values = false,
          .counts_layers = false};
}
constexpr Rule small_attention_output(TensorType type) {
  return {Case{has_eight_experts, q5_k}, Case{always, type}};
}

// clang-format off
constexpr Mixture table[] = {
    {.recipe = recipe("F32", f32, "single precision")},
    {.recipe = recipe("F16", f16, "half precision")},
    {.recipe = recipe("Q4_0", q4_0, "4 bits, simple"),
     .down = Case{is_weighted | in_first_eighth, q4_1}},
    {.recipe = recipe("Q4_1", q4_1, "4 bits with minimum, simple")},
    {.recipe = recipe("Q8_0", q8_0, "8 bits, almost lossless"), .output = base_type},
    {.recipe = recipe("Q5_0", q5_0, "5 bits, simple"),
     .down = Case{is_weighted | in_first_eighth, q5_1}},
    {.recipe = recipe("Q5_1", q5_1, "5 bits with minimum, simple")},
    {.recipe = recipe("Q2_K", q2_k, "2 to 3 bits"),
     .value = {Case{is_grouped, q4_k}, Case{always, q3_k}},
     .attention_output = experts_q5_k_else(q3_k),
     .down = q3_k},
    {.recipe = recipe("Q3_K_S", q3_k, "3 bits, small"),
     .attention_output = experts_q5_k},
    {.recipe = recipe("Q3_K_M", q3_k, "3 bits, medium"),
     .value = {Case{in_first_two, q5_k}, Case{always, q4_k}},
     .attention_output = experts_q5_k_else(q4_k),
     .down = {Case{in_first_sixteenth, q5_k}, Case{is_falcon | gets_more_bits, q4_k}, falcon_base,
              Case{always, q4_k}}},
    {.recipe = recipe("Q3_K_L", q3_k, "3 bits, large"),
     .value = q5_k,
     .attention_output = {Case{is_falcon, q4_k}, Case{has_eight_experts, base_type},
                          Case{always, q5_k}},
     .down = {Case{is_falcon, q4_k}, Case{always, q5_k}}},
    {.recipe = recipe("Q4_K_S", q4_k, "4 bits, small"),
     .value = Case{in_first_four, q5_k},
     .attention_output = experts_q5_k,
     .down = {falcon_base, Case{in_first_eighth, q5_k}}},
    {.recipe = recipe("Q4_K_M", q4_k, "4 bits, medium: a good start"),
     .value = Case{gets_more_bits, q6_k},
     .attention_output = experts_q5_k,
     .down = {Case{is_falcon | in_first_sixteenth, q6_k}, Case{is_falcon | gets_more_bits, q5_k},
              falcon_base, Case{gets_more_bits, q6_k}}},
    {.recipe = recipe("Q5_K_S", q5_k, "5 bits, small")},
    {.recipe = recipe("Q5_K_M", q5_k, "5 bits, medium"),
     .value = Case{gets_more_bits, q6_k},
     .down = Case{gets_more_bits, q6_k}},
    {.recipe = recipe("Q6_K", q6_k, "6 bits")},
    small(recipe("IQ2_XXS", iq2_xxs, "2.06 bits; wants an importance matrix"), q2_k, q2_k,
          Case{has_eight_experts, q5_k}),
    small(recipe("IQ2_XS", iq2_xs, "2.31 bits; wants an importance matrix"), q2_k, q2_k,
          Case{has_eight_experts, q5_k}),
    {.recipe = recipe("Q2_K_S", q2_k, "2 bits, small; wants an importance matrix"),
     .value = grouped_q4_k,
     .down = Case{in_first_eighth, q4_k}},
    {.recipe = recipe("IQ3_XS", iq3_s, "3.3 bits; wants an importance matrix"),
     .value = grouped_q4_k,
     .key = iq3_xxs,
     .query = iq3_xxs,
     .attention_output = experts_q5_k,
     .up = Case{in_middle, iq3_xxs}},
    {.recipe = recipe("IQ3_XXS", iq3_xxs, "3.06 bits; wants an importance matrix"),
     .output = q5_k,
     .embedding = iq3_s,
     .value = {Case{is_grouped, q4_k}, Case{is_unweighted, iq3_s}},
     .key = iq2_s,
     .query = iq2_s,
     .attention_output = experts_q5_k_else(iq3_s),
     .down = {Case{is_unweighted | in_first_eighth, q4_k}, Case{is_unweighted, q3_k}}},
    small(recipe("IQ1_S", iq1_s, "1.56 bits; wants an importance matrix"), q2_k, q2_k,
          small_attention_output(iq2_xxs)),
    {.recipe = recipe("IQ4_NL", iq4_nl, "4.5 bits, non-linear"),
     .value = Case{is_grouped, q5_k},
     .attention_output = experts_q5_k,
     .down = Case{is_unweighted | in_first_eighth, q5_k}},
    {.recipe = recipe("IQ3_S", iq3_s, "3.44 bits"),
     .value = grouped_q4_k,
     .attention_output = experts_q5_k},
    {.recipe = recipe("IQ3_M", iq3_s, "3.66 bits"),
     .value = q4_k,
     .attention_output = experts_q5_k_else(q4_k),
     .down = {Case{in_first_eighth, q4_k}, Case{has_eight_experts | gets_more_bits, q4_k}}},
    small(recipe("IQ2_S", iq2_xs, "2.5 bits; wants an importance matrix"), iq3_s, iq3_s,
          small_attention_output(iq3_s)),
    small(recipe("IQ2_M", iq2_s, "2.7 bits; wants an importance matrix"), iq3_s, iq3_s,
          small_attention_output(iq3_s)),
    {.recipe = recipe("IQ4_XS", iq4_xs, "4.25 bits, non-linear"),
     .value = Case{is_grouped, q5_k},
     .attention_output = experts_q5_k,
     .down = Case{is_unweighted | in_first_eighth, q5_k}},
    small(recipe("IQ1_M", iq1_m, "1.75 bits; wants an importance matrix"), q2_k, q2_k,
          small_attention_output(iq2_xxs)),
    {.recipe = recipe("BF16", bf16, "bfloat16")},
    {.recipe = recipe("TQ1_0", tq1_0, "1.69 bits, ternary"), .embedding = q4_k},
    {.recipe = recipe("TQ2_0", tq2_0, "2.06 bits, ternary"), .embedding = q4_k},
    {.recipe = recipe("MXFP4_MOE", mxfp4, "MXFP4 for experts, Q8_0 for the rest"),
     .output = q8_0,
     .rest = {Case{is_stacked, base_type}, Case{always, q8_0}},
     .spares_values = false},
    {.recipe = recipe("Q1_0", q1_0, "1.13 bits, signs only")},
    {.recipe = recipe("Q2_0", q2_0, "2.25 bits"), .embedding = q4_k},
    {.recipe = recipe("COPY", f32, "every tensor as it is")},
};
// clang-format on

}  // namespace

std::span<const Mixture> mixtures() noexcept { return table; }

std::span<const Recipe> recipe_list() noexcept {
  static constexpr auto list = [] {
    std::array<Recipe, std::size(table)> recipes;
    for (std::size_t i = 0; i < recipes.size(); ++i) recipes[i] = table[i].recipe;
    return recipes;
  }();
  return list;
}

}  // namespace ingot::quantization
