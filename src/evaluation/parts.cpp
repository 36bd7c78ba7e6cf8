// SPDX-License-Identifier: MIT
#include "evaluation/parts.hpp"

#include <algorithm>

#include "base/ranges.hpp"
#include "base/strings.hpp"

namespace ingot::evaluation {
namespace {

/// A word of the statement `pass`: `name`, or `name=value`.
struct Word {
  std::string_view name;
  void (*set)(Parts& parts, std::string_view value);
};

double number(std::string_view value) { return parse_number<double>(value).value_or(0.0); }
std::uint32_t count(std::string_view value) {
  return parse_number<std::uint32_t>(value).value_or(0);
}

constexpr Word words[] = {
    {"unweighted_norms", [](Parts& p, auto) { p.norms.lack_weights = true; }},
    {"layer_norms", [](Parts& p, auto) { p.norms.kind = NormKind::layer; }},
    {"rms_norms", [](Parts& p, auto) { p.norms.kind = NormKind::rms; }},
    {"norms_behind", [](Parts& p, auto) { p.norms.are_behind = true; }},
    {"ffn_norm", [](Parts& p, auto name) { p.norms.feed_forward_name = name; }},
    {"halves", [](Parts& p, auto) { p.positions.pairing = Pairing::halves; }},
    {"neighbours", [](Parts& p, auto) { p.positions.pairing = Pairing::neighbours; }},
    {"sections", [](Parts& p, auto) { p.positions.sections = Sections::in_turn; }},
    {"interleaved_sections", [](Parts& p, auto) { p.positions.sections = Sections::interleaved; }},
    {"unrotated", [](Parts& p, auto) { p.positions.pairing = Pairing::none; }},
    {"unrotated_period", [](Parts& p, auto n) { p.positions.unrotated_period = count(n); }},
    {"rotates_only_windows", [](Parts& p, auto) { p.positions.rotates_only_windows = true; }},
    {"may_lack_rotation", [](Parts& p, auto) { p.positions.may_lack_rotation = true; }},
    {"window_base", [](Parts& p, auto n) { p.positions.window_base = number(n); }},
    {"window_is_scaled", [](Parts& p, auto) { p.positions.window_is_scaled = true; }},
    {"yarn_scales_attention", [](Parts& p, auto) { p.positions.yarn_scales_attention = true; }},
    {"alibi", [](Parts& p, auto n) { p.positions.largest_bias = number(n); }},
    {"alibi_at_layers", [](Parts& p, auto n) { p.positions.biased_layers = count(n); }},
    {"attention_scale", [](Parts& p, auto) { p.attention.scale = AttentionScale::key; }},
    {"gemma2_scale", [](Parts& p, auto) { p.attention.scale = AttentionScale::gemma2; }},
    {"gemma3_scale", [](Parts& p, auto) { p.attention.scale = AttentionScale::gemma3; }},
    {"attention_scale_one", [](Parts& p, auto) { p.attention.scale = AttentionScale::one; }},
    {"attention_scale_inverse",
     [](Parts& p, auto) { p.attention.scale = AttentionScale::inverse; }},
    {"value_norms", [](Parts& p, auto) { p.attention.has_value_norms = true; }},
    {"factors_spare_windows", [](Parts& p, auto) { p.positions.factors_spare_windows = true; }},
    {"unbiased_ffn", [](Parts& p, auto) { p.has_unbiased_ffn = true; }},
    {"sparse_layers", [](Parts& p, auto n) { p.sparse_layers = count(n); }},
    {"attention_cap", [](Parts& p, auto n) { p.attention.cap = number(n); }},
    {"norms_after_rotation", [](Parts& p, auto) { p.attention.norms_after_rotation = true; }},
    {"plain_head_norms", [](Parts& p, auto) { p.attention.has_plain_norms = true; }},
    {"clamps", [](Parts& p, auto) { p.attention.clamps = true; }},
    {"chunk", [](Parts& p, auto n) { p.attention.chunk = count(n); }},
    {"cools_late", [](Parts& p, auto) { p.attention.cools_late = true; }},
    {"cools_by_key", [](Parts& p, auto) { p.attention.cools_by_key = true; }},
    {"may_see_later", [](Parts& p, auto) { p.attention.may_see_later = true; }},
    {"sees_later", [](Parts& p, auto) { p.attention.sees_later = true; }},
    {"symmetric_windows", [](Parts& p, auto) { p.attention.has_symmetric_windows = true; }},
    {"window_period", [](Parts& p, auto n) { p.attention.window_period = count(n); }},
    {"full_first", [](Parts& p, auto) { p.attention.is_first_full = true; }},
    {"gated_queries", [](Parts& p, auto) { p.attention.has_gated_queries = true; }},
    {"activation_by_key", [](Parts& p, auto) { p.reads_activation = true; }},
    {"gelu", [](Parts& p, auto) { p.activation = Activation::gelu; }},
    {"relu", [](Parts& p, auto) { p.activation = Activation::relu; }},
    {"relu_squared", [](Parts& p, auto) { p.activation = Activation::relu_squared; }},
    {"xielu", [](Parts& p, auto) { p.activation = Activation::xielu; }},
    {"clamped_swiglu", [](Parts& p, auto) { p.activation = Activation::clamped_swiglu; }},
    {"sigmoid", [](Parts& p, auto) { p.experts.routing = Routing::sigmoid; }},
    {"softmax_of_chosen", [](Parts& p, auto) { p.experts.routing = Routing::softmax_of_chosen; }},
    {"normalised", [](Parts& p, auto) { p.experts.are_normalised = true; }},
    {"normalised_by_key", [](Parts& p, auto) { p.experts.read_key = true; }},
    {"ranked_by_logits", [](Parts& p, auto) { p.experts.rank_by_logits = true; }},
    {"weighs_inputs", [](Parts& p, auto) { p.experts.weigh_inputs = true; }},
    {"routes_inputs", [](Parts& p, auto) { p.experts.route_inputs = true; }},
    {"ssm_alternates_heads", [](Parts& p, auto) { p.state_space.alternates_heads = true; }},
    {"ssm_steps_last", [](Parts& p, auto) { p.state_space.steps_last = true; }},
    {"tiled_keys", [](Parts& p, auto) { p.delta_net.tiles_keys = true; }},
    {"sigmoid_gates", [](Parts& p, auto) { p.delta_net.has_sigmoid_gates = true; }},
    {"embedding_root", [](Parts& p, auto) { p.scales.embedding_by_root = true; }},
    {"embedding_scale", [](Parts& p, auto n) { p.scales.embedding = number(n); }},
    {"residual_scale", [](Parts& p, auto) { p.scales.residual_by_key = true; }},
    {"residual_of_depth", [](Parts& p, auto n) { p.scales.residual_of_depth = number(n); }},
    {"logit_divisor", [](Parts& p, auto) { p.scales.logits_divided = true; }},
    {"logit_factor", [](Parts& p, auto) { p.scales.logits_multiplied = true; }},
    {"base_width", [](Parts& p, auto n) { p.scales.base_width = number(n); }},
    {"halves_states", [](Parts& p, auto) { p.scales.halves_states = true; }},
    {"logit_cap", [](Parts& p, auto n) { p.scales.logit_cap = number(n); }},
};

}  // namespace

Result<Parts> parts_of(const Architecture& row) {
  Parts parts;
  const bool has_means = std::ranges::any_of(row.keys, [](const ArchitectureKey& key) {
    return key.is_required && key.name == "attention.layer_norm_epsilon";
  });
  if (has_means) parts.norms.kind = NormKind::layer;
  for (const std::string_view text : row.pass) {
    const std::size_t end = std::min(text.find('='), text.size());
    const Word* word = find_row(words, &Word::name, text.substr(0, end));
    if (word == nullptr) {
      return fail(Errc::internal, row.name, "\"" + std::string(text) + "\" is no part of a pass");
    }
    word->set(parts, text.substr(std::min(end + 1, text.size())));
  }
  return parts;
}

}  // namespace ingot::evaluation
