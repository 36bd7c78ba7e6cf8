// SPDX-License-Identifier: MIT
#include "evaluation/settings.hpp"

#include <algorithm>
#include <cmath>

#include "base/checked.hpp"
#include "evaluation/keys/key_reader.hpp"
#include "evaluation/token_math.hpp"
#include "ingot/metadata_keys.hpp"

namespace ingot::evaluation {
namespace {

/// Whether tokens see later ones, and what becomes of their states.
Result<void> read_purpose(const KeyReader& keys, Settings& settings) {
  const AttentionFacts& facts = settings.parts.attention;
  INGOT_TRY(settings.is_causal, keys.flag_or(suffixes::attention_causal, true));
  if (!settings.is_causal && !facts.may_see_later && !facts.sees_later) {
    return refuse_kind(settings.prefix + std::string(suffixes::attention_causal),
                       "it is false, so tokens see later ones; for this architecture only true is "
                       "supported");
  }
  if (facts.sees_later) settings.is_causal = false;
  const auto memory = settings.row->memory.value_or(ArchitectureMemory{});
  settings.is_encoder = !settings.is_causal || memory.purpose == Purpose::encodes;
  constexpr auto unknown = static_cast<std::uint64_t>(Pooling::unknown);
  INGOT_TRY(const std::uint64_t pooling, keys.number_or("pooling_type", 0, ~std::uint64_t{0}));
  settings.pooling = static_cast<Pooling>(std::min(pooling, unknown));
  return {};
}

Result<void> read_sizes(const KeyReader& keys, Settings& settings) {
  INGOT_TRY(settings.width, keys.size(suffixes::embedding_length));
  INGOT_TRY(const std::uint64_t blocks, keys.number(suffixes::block_count, 1, max_layers));
  INGOT_TRY(const std::uint64_t next, keys.number_or("nextn_predict_layers", 0, blocks - 1));
  settings.layer_count = static_cast<std::size_t>(blocks - next);
  INGOT_TRY(const std::size_t heads,
            keys.layer_size_or(suffixes::attention_head_count, 0, std::size_t{1}));
  if (heads > settings.width) {
    return refuse(settings.prefix + std::string(suffixes::attention_head_count),
                  std::to_string(heads) + " heads; a model has at most one an element");
  }
  INGOT_TRY(settings.key_size,
            keys.size_or(suffixes::attention_key_length, heads == 0 ? 0 : settings.width / heads));
  INGOT_TRY(settings.window_key_size, keys.size_or("attention.key_length_swa", 0));
  for (const std::string_view suffix :
       {suffixes::feed_forward_length, suffixes::expert_feed_forward_length,
        suffixes::expert_shared_feed_forward_length, suffixes::attention_value_length}) {
    INGOT_TRY_VOID(keys.layer_size_or(suffix, 0, 0));
  }
  INGOT_TRY(settings.context_length, keys.number_or(suffixes::context_length, 0, max_tokens));
  INGOT_TRY(const double epsilon, keys.real(settings.parts.norms.kind == NormKind::rms
                                                ? suffixes::attention_layer_norm_rms_epsilon
                                                : suffixes::attention_layer_norm_epsilon));
  settings.epsilon = static_cast<float>(epsilon);
  return {};
}

Result<void> read_experts(const KeyReader& keys, Settings& settings) {
  INGOT_TRY(const std::uint64_t count, keys.number_or(suffixes::expert_count, 0, max_size));
  if (count == 0) return {};
  ExpertSettings& experts = settings.experts;
  const ExpertFacts& facts = settings.parts.experts;
  INGOT_TRY(experts.used, keys.layer_size_or(suffixes::expert_used_count, 0, 0));
  if (experts.used == 0 || experts.used > count) {
    return refuse(settings.prefix + std::string(suffixes::expert_used_count),
                  std::to_string(experts.used) + " of " + std::to_string(count) + " experts");
  }
  INGOT_TRY(const std::uint64_t routing, keys.number_or("expert_gating_func", 0, std::uint64_t{3}));
  experts.routing = routing == 0 ? facts.routing : static_cast<Routing>(routing - 1);
  INGOT_TRY(experts.are_normalised, facts.read_key ? keys.flag_or("expert_weights_norm", false)
                                                   : Result<bool>(facts.are_normalised));
  INGOT_TRY(experts.scale, keys.factor_or("expert_weights_scale", 1.0));
  INGOT_TRY(experts.groups, keys.size_or("expert_group_count", 1));
  INGOT_TRY(experts.groups_used, keys.size_or("expert_group_used_count", experts.groups));
  if (count % experts.groups != 0 || experts.groups_used > experts.groups ||
      experts.used > count / experts.groups * experts.groups_used ||
      (experts.groups > 1 && count / experts.groups < 2)) {
    return refuse(
        settings.prefix + "expert_group_count",
        std::to_string(count) + " experts make no " + std::to_string(experts.groups) + " groups");
  }
  return {};
}

/// Which layers have a window: the rule of the row, or the key of the pattern.
Result<void> read_windows(const Model& model, const KeyReader& keys, Settings& settings) {
  settings.windows.assign(settings.layer_count, false);
  INGOT_TRY(const std::size_t shared, keys.size_or("attention.shared_kv_layers", 0));
  if (shared > 0)
    settings.own_cache_layers = settings.layer_count - std::min(shared, settings.layer_count);
  const AttentionFacts& facts = settings.parts.attention;
  ArchitectureMemory rule = settings.row->memory.value_or(ArchitectureMemory{});
  if (facts.window_period > 0) {
    rule.windows = facts.is_first_full ? LayerWindows::full_first : LayerWindows::full_last;
    rule.period = facts.window_period;
  }
  if (rule.own_cache_layers > 0) {
    settings.own_cache_layers = static_cast<std::size_t>(rule.own_cache_layers);
  }
  if (rule.windows == LayerWindows::none) return {};
  if (rule.only_for_layers != 0 && rule.only_for_layers != settings.layer_count) return {};
  INGOT_TRY(const std::uint64_t window,
            keys.number_or(suffixes::attention_sliding_window, rule.window, max_tokens));
  settings.window = static_cast<std::size_t>(window);
  if (window == 0) return {};
  if (facts.chunk > 0) settings.window = facts.chunk;
  const std::string pattern =
      settings.prefix + std::string(suffixes::attention_sliding_window_pattern);
  const ModelHeader header(model);
  const bool has_list = header.array_size(pattern).has_value();
  if (rule.windows == LayerWindows::by_key && !has_list) {
    return refuse(pattern, "it must have a number for each layer");
  }
  std::size_t period = to_size(rule.period);
  if (!has_list) {
    INGOT_TRY(period, keys.size_or(suffixes::attention_sliding_window_pattern, period));
  }
  for (std::size_t i = 0; i < settings.layer_count; ++i) {
    const bool is_last = rule.windows == LayerWindows::full_last;
    settings.windows[i] = has_list     ? header.number(pattern, i).value_or(0) != 0
                          : period < 1 ? true
                          : is_last    ? i % period + 1 < period
                                       : i % period != 0;
    settings.has_windows = settings.has_windows || settings.windows[i];
  }
  return {};
}

Result<void> read_attention(const KeyReader& keys, Settings& settings) {
  const AttentionFacts& facts = settings.parts.attention;
  if (facts.scale == AttentionScale::key) {
    INGOT_TRY(settings.attention_scale, keys.factor_or("attention.scale", 0.0));
  }
  const bool is_27b = (facts.scale == AttentionScale::gemma2 && settings.layer_count == 46) ||
                      (facts.scale == AttentionScale::gemma3 && settings.layer_count == 62);
  if (is_27b) {
    INGOT_TRY(const std::size_t heads, keys.size(suffixes::attention_head_count));
    settings.attention_scale = 1.0F / std::sqrt(static_cast<float>(settings.width / heads));
  }
  if (facts.scale == AttentionScale::one) settings.attention_scale = 1.0F;
  if (facts.scale == AttentionScale::inverse) {
    settings.attention_scale = 1.0F / static_cast<float>(settings.key_size);
  }
  if (facts.cap != 0.0) {
    INGOT_TRY(const double cap, keys.real_or("attn_logit_softcapping", facts.cap));
    settings.attention_cap = static_cast<float>(cap);
  }
  if (facts.clamps) {
    INGOT_TRY(const double clamp, keys.real_or(suffixes::attention_clamp_kqv, 0.0));
    settings.clamp = static_cast<float>(std::max(clamp, 0.0));
  }
  if (const std::optional<double> bias = settings.parts.positions.largest_bias) {
    INGOT_TRY(const double largest, keys.real_or(suffixes::attention_max_alibi_bias, *bias));
    settings.largest_bias = static_cast<float>(largest);
  }
  if (settings.parts.positions.biased_layers == settings.layer_count) {
    settings.parts.positions.pairing = Pairing::none;
    settings.largest_bias = 8.0F;
  }
  if (facts.cools_late && settings.has_windows) {
    settings.cooling = facts.chunk;
    settings.cooling_offset = 1;
    settings.cooling_rate = 0.1F;
  }
  if (facts.cools_by_key) {
    INGOT_TRY(settings.cooling_rate, keys.factor_or("attention.temperature_scale", 0.0));
    if (settings.cooling_rate != 0.0F) {
      settings.cooling = static_cast<std::size_t>(settings.rope.original_context);
    }
  }
  return {};
}

Result<void> read_scales(const KeyReader& keys, Settings& settings) {
  const ScaleFacts& facts = settings.parts.scales;
  const double layers = static_cast<double>(settings.layer_count);
  const double width = static_cast<double>(settings.width);
  if (facts.embedding_by_root) {
    settings.embedding_scale = std::sqrt(static_cast<float>(settings.width));
  } else if (facts.embedding != 0.0) {
    INGOT_TRY(settings.embedding_scale, keys.factor_or("embedding_scale", facts.embedding));
  }
  if (facts.residual_by_key || facts.residual_of_depth != 0.0) {
    const double usual =
        facts.residual_of_depth != 0.0 ? facts.residual_of_depth / std::sqrt(layers) : 1.0;
    INGOT_TRY(settings.residual_scale, keys.factor_or("residual_scale", usual));
  }
  INGOT_TRY(const std::size_t period, keys.size_or("rescale_every_n_layers", 0));
  if (facts.halves_states) settings.halving_period = period;
  if (facts.logits_divided || facts.logits_multiplied) {
    const double usual = facts.base_width != 0.0 ? width / facts.base_width : 1.0;
    INGOT_TRY(const float scale, keys.factor_or("logit_scale", usual));
    if (facts.base_width == 0.0 && keys.has("logit_scale") && facts.logits_divided) {
      INGOT_TRY(const double given, keys.real("logit_scale"));
      if (given == 0.0) return refuse(settings.prefix + "logit_scale", "it must not be 0");
    }
    settings.logit_scale = facts.logits_divided ? 1.0F / scale : scale;
  }
  if (facts.logit_cap != 0.0) {
    INGOT_TRY(const double cap, keys.real_or("final_logit_softcapping", facts.logit_cap));
    settings.logit_cap = static_cast<float>(cap);
  }
  return {};
}

/// The activation of models of which some have another one.
Result<void> read_activation(const Model& model, Settings& settings) {
  const std::string key = settings.prefix + "hidden_activation";
  if (!settings.parts.reads_activation || model.find(key) == nullptr) return {};
  INGOT_TRY(const auto name, model.get<std::string_view>(key));
  if (name == "silu" || name == "swish") {
    settings.parts.activation = Activation::silu;
  } else if (!name.starts_with("gelu")) {
    return refuse_kind(key,
                       "\"" + std::string(name) + "\" is unknown here; gelu and silu are known");
  }
  return {};
}

/// The numbers of xielu: keys of whole names, with a number or a list of them.
Result<void> read_curves(const Model& model, Settings& settings) {
  if (settings.parts.activation != Activation::xielu) return {};
  settings.curves.resize(settings.layer_count);
  constexpr std::pair<const char*, float CurveSettings::*> members[] = {
      {"xielu.alpha_n", &CurveSettings::negative},
      {"xielu.alpha_p", &CurveSettings::positive},
      {"xielu.beta", &CurveSettings::beta},
      {"xielu.eps", &CurveSettings::epsilon}};
  for (const auto& [key, member] : members) {
    const Value* value = model.find(key);
    if (value == nullptr) return refuse(key, "the architecture needs it");
    const bool is_list = value->is_array();
    if (is_list && value->as_array().size() < settings.layer_count) {
      return refuse(key, "it has fewer numbers than there are layers");
    }
    for (std::size_t i = 0; i < settings.layer_count; ++i) {
      INGOT_TRY(const double number,
                is_list ? value->as_array()[i].get<double>() : value->get<double>());
      if (!std::isfinite(number)) return refuse(key, "it is not a finite number");
      settings.curves[i].*member = static_cast<float>(number);
    }
  }
  for (CurveSettings& curve : settings.curves) {
    curve.negative = curve.beta + softplus(curve.negative);
    curve.positive = softplus(curve.positive);
  }
  return {};
}

std::string names_of_known_architectures() {
  std::string names;
  for (const std::string_view name : architecture_names()) {
    if (!find_architecture(name)->is_evaluated) continue;
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  return names;
}

}  // namespace

Failure refuse(std::string_view subject, std::string detail) {
  return fail(Errc::network_invalid, std::string(subject), std::move(detail));
}

Failure refuse_kind(std::string_view subject, std::string detail) {
  return fail(Errc::network_unsupported, std::string(subject), std::move(detail));
}

Result<std::size_t> read_layer_size(const Model& model, const Settings& settings,
                                    std::string_view suffix, std::size_t layer,
                                    std::size_t fallback) {
  return KeyReader(model, settings.prefix).layer_size_or(suffix, layer, fallback);
}

Result<Settings> read_settings(const Model& model) {
  INGOT_TRY(const auto name, model.get<std::string_view>(keys::general_architecture));
  Settings settings;
  settings.row = find_architecture(name);
  if (settings.row == nullptr || !settings.row->is_evaluated) {
    return refuse_kind(keys::general_architecture, "the forward pass of \"" + std::string(name) +
                                                       "\" is unknown; known are " +
                                                       names_of_known_architectures());
  }
  INGOT_TRY(settings.parts, parts_of(*settings.row));
  settings.prefix = std::string(name) + ".";
  const KeyReader keys(model, settings.prefix);
  INGOT_TRY_VOID(read_purpose(keys, settings));
  INGOT_TRY_VOID(read_sizes(keys, settings));
  INGOT_TRY_VOID(read_experts(keys, settings));
  INGOT_TRY_VOID(read_windows(model, keys, settings));
  INGOT_TRY_VOID(read_rope(model, keys, settings));
  INGOT_TRY_VOID(read_attention(keys, settings));
  INGOT_TRY_VOID(read_scales(keys, settings));
  INGOT_TRY_VOID(read_activation(model, settings));
  INGOT_TRY_VOID(read_curves(model, settings));
  INGOT_TRY(settings.is_parallel, keys.flag_or("use_parallel_residual", false));
  return settings;
}

}  // namespace ingot::evaluation
