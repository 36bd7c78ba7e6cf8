// SPDX-License-Identifier: MIT
#include "evaluation/settings.hpp"

#include <cmath>

#include "ingot/metadata_keys.hpp"

namespace ingot::evaluation {
namespace {

// Bounds that no network reaches, so that no product of three of them exceeds 64 bits.
constexpr std::uint64_t max_size = std::uint64_t{1} << 20;
constexpr std::uint64_t max_layers = 10000;
constexpr std::uint64_t max_tokens = std::uint64_t{1} << 40;

// Keys that are not in metadata_keys.def.
constexpr std::string_view embedding_scale = "embedding_scale";
constexpr std::string_view residual_scale = "residual_scale";
constexpr std::string_view logit_scale = "logit_scale";
constexpr std::string_view attention_scale = "attention.scale";
constexpr std::string_view attention_cap = "attn_logit_softcapping";
constexpr std::string_view logit_cap = "final_logit_softcapping";
constexpr std::string_view expert_weights_scale = "expert_weights_scale";
constexpr std::string_view rope_attention_factor = "rope.scaling.attn_factor";
constexpr std::string_view window_rope_base = "rope.freq_base_swa";

/// Reads keys `<architecture>.<suffix>`.
class KeyReader {
 public:
  KeyReader(const Model& model, std::string prefix) : model_(model), prefix_(std::move(prefix)) {}

  [[nodiscard]] bool has(std::string_view suffix) const {
    return model_.find(prefix_ + std::string(suffix)) != nullptr;
  }

  [[nodiscard]] Result<std::uint64_t> number(std::string_view suffix, std::uint64_t lowest,
                                             std::uint64_t highest) const {
    const std::string key = prefix_ + std::string(suffix);
    INGOT_TRY(const auto number, model_.get<std::uint64_t>(key));
    if (number < lowest || number > highest) {
      return refuse(key, "it is " + std::to_string(number) + "; " + std::to_string(lowest) +
                             " to " + std::to_string(highest) + " are supported");
    }
    return number;
  }
  [[nodiscard]] Result<std::uint64_t> number_or(std::string_view suffix, std::uint64_t fallback,
                                                std::uint64_t highest) const {
    return has(suffix) ? number(suffix, 0, highest) : Result<std::uint64_t>(fallback);
  }
  [[nodiscard]] Result<std::size_t> size(std::string_view suffix) const {
    return number(suffix, 1, max_size);
  }
  /// A number from 1; the fallback if the key is missing or 0.
  [[nodiscard]] Result<std::size_t> size_or(std::string_view suffix, std::size_t fallback) const {
    INGOT_TRY(const std::uint64_t found, number_or(suffix, 0, max_size));
    return found == 0 ? fallback : static_cast<std::size_t>(found);
  }

  [[nodiscard]] Result<bool> flag_or(std::string_view suffix, bool fallback) const {
    return has(suffix) ? model_.get<bool>(prefix_ + std::string(suffix)) : Result<bool>(fallback);
  }

  [[nodiscard]] Result<double> real(std::string_view suffix) const {
    const std::string key = prefix_ + std::string(suffix);
    INGOT_TRY(const auto real, model_.get<double>(key));
    if (!std::isfinite(real)) return refuse(key, "it is not a finite number");
    return real;
  }
  [[nodiscard]] Result<double> real_or(std::string_view suffix, double fallback) const {
    return has(suffix) ? real(suffix) : Result<double>(fallback);
  }

 private:
  const Model& model_;
  std::string prefix_;
};

/// The pass masks later tokens, whatever the architecture.
Result<void> refuse_encoders(const KeyReader& keys, const Settings& settings) {
  INGOT_TRY(const bool is_causal, keys.flag_or(suffixes::attention_causal, true));
  if (is_causal) return {};
  return refuse_kind(settings.prefix + std::string(suffixes::attention_causal),
                     "it is false, so tokens see later ones; only true is supported");
}

Result<void> read_sizes(const KeyReader& keys, Settings& settings) {
  INGOT_TRY(settings.width, keys.size(suffixes::embedding_length));
  INGOT_TRY(settings.layer_count, keys.number(suffixes::block_count, 1, max_layers));
  INGOT_TRY(settings.head_count, keys.size(suffixes::attention_head_count));
  INGOT_TRY(settings.kv_head_count,
            keys.size_or(suffixes::attention_head_count_kv, settings.head_count));
  if (settings.head_count % settings.kv_head_count != 0) {
    return refuse(settings.prefix + std::string(suffixes::attention_head_count),
                  std::to_string(settings.head_count) + " heads cannot share " +
                      std::to_string(settings.kv_head_count) + " heads of keys");
  }
  const std::size_t usual_size = settings.width / settings.head_count;
  INGOT_TRY(settings.key_size, keys.size_or(suffixes::attention_key_length, usual_size));
  INGOT_TRY(settings.value_size, keys.size_or(suffixes::attention_value_length, usual_size));
  if (settings.key_size == 0 || settings.value_size == 0) {
    return refuse(settings.prefix + std::string(suffixes::attention_head_count),
                  "more heads than elements");
  }
  if (settings.head_count * settings.key_size > max_size ||
      settings.head_count * settings.value_size > max_size) {
    return refuse(settings.prefix + std::string(suffixes::attention_head_count),
                  "all heads together have too many elements");
  }
  INGOT_TRY(settings.context_length, keys.number_or(suffixes::context_length, 0, max_tokens));
  INGOT_TRY(const double epsilon, keys.real(settings.kind.norm == NormKind::rms
                                                ? suffixes::attention_layer_norm_rms_epsilon
                                                : suffixes::attention_layer_norm_epsilon));
  settings.epsilon = static_cast<float>(epsilon);
  return {};
}

Result<void> read_feed_forward(const KeyReader& keys, Settings& settings) {
  const Architecture& kind = settings.kind;
  INGOT_TRY(const std::uint64_t experts, keys.number_or(suffixes::expert_count, 0, max_size));
  settings.expert_count = static_cast<std::size_t>(experts);
  if (kind.expert_weights == ExpertWeights::none && settings.expert_count > 0) {
    return refuse_kind(settings.prefix + std::string(suffixes::expert_count),
                       "experts are not known in this architecture");
  }
  if (settings.expert_count == 0) {
    if (kind.expert_weights != ExpertWeights::none && !kind.may_lack_experts) {
      return refuse(settings.prefix + std::string(suffixes::expert_count),
                    "there are no experts, and the architecture needs them");
    }
    INGOT_TRY(settings.feed_forward, keys.size(suffixes::feed_forward_length));
    return {};
  }
  INGOT_TRY(settings.experts_used,
            keys.number(suffixes::expert_used_count, 1, settings.expert_count));
  INGOT_TRY(settings.feed_forward, keys.size_or(suffixes::feed_forward_length, 0));
  // Mixtral's experts are as wide as the key for layers without experts; in the architectures of
  // qwen that is the width of all experts of a token together.
  const std::size_t usual =
      kind.may_lack_experts ? settings.feed_forward : settings.feed_forward / settings.experts_used;
  INGOT_TRY(settings.expert_feed_forward,
            keys.size_or(suffixes::expert_feed_forward_length, usual));
  if (settings.expert_feed_forward == 0) {
    return refuse(settings.prefix + std::string(suffixes::feed_forward_length),
                  "no key has the width of an expert");
  }
  if (kind.has_shared_expert) {
    INGOT_TRY(settings.shared_feed_forward,
              keys.size_or(suffixes::expert_shared_feed_forward_length, settings.feed_forward));
  }
  INGOT_TRY(const double scale, keys.real_or(expert_weights_scale, 0.0));
  if (scale != 0.0) settings.expert_scale = static_cast<float>(scale);
  return {};
}

Result<void> read_window(const KeyReader& keys, Settings& settings) {
  const Architecture& kind = settings.kind;
  if (kind.window_period == 0) return {};
  INGOT_TRY(const std::uint64_t window,
            keys.number_or(suffixes::attention_sliding_window, kind.usual_window, max_tokens));
  settings.window = static_cast<std::size_t>(window);
  INGOT_TRY(settings.window_period,
            keys.size_or(suffixes::attention_sliding_window_pattern, kind.window_period));
  return {};
}

Result<void> read_rope(const Model& model, const KeyReader& keys, Settings& settings) {
  RopeSettings& rope = settings.rope;
  INGOT_TRY(const std::uint64_t rotated,
            keys.number_or(suffixes::rope_dimension_count, settings.key_size, settings.key_size));
  rope.rotated = static_cast<std::size_t>(rotated);
  if (rope.rotated % 2 != 0) {
    return refuse(settings.prefix + std::string(suffixes::rope_dimension_count),
                  "it must be even, not " + std::to_string(rotated));
  }
  INGOT_TRY(rope.base, keys.real_or(suffixes::rope_freq_base, 10000.0));
  if (rope.base <= 0.0) {
    return refuse(settings.prefix + std::string(suffixes::rope_freq_base), "it must be above 0");
  }
  const std::string kind_key = settings.prefix + std::string(suffixes::rope_scaling_type);
  const auto kind = model.get_or(kind_key, std::string_view("linear"));
  if (kind != "none" && kind != "linear" && kind != "longrope") {
    return refuse_kind(kind_key, "scaling of the kind \"" + std::string(kind) +
                                     "\" is unknown here; none, linear and longrope are supported");
  }
  INGOT_TRY(double factor, keys.real_or(suffixes::rope_scaling_factor, 0.0));
  if (factor == 0.0) {
    INGOT_TRY(factor, keys.real_or(suffixes::rope_scale_linear, 0.0));
  }
  if (factor < 0.0) {
    return refuse(settings.prefix + std::string(suffixes::rope_scaling_factor),
                  "it must not be negative");
  }
  if (kind != "none" && factor != 0.0) rope.scale = 1.0 / factor;
  INGOT_TRY(rope.magnitude, keys.real_or(rope_attention_factor, 1.0));
  INGOT_TRY(rope.original_context, keys.number_or(suffixes::rope_scaling_original_context_length,
                                                  settings.context_length, max_tokens));
  const double usual_base =
      settings.kind.window_rope_base > 0.0 ? settings.kind.window_rope_base : rope.base;
  INGOT_TRY(rope.window_base, keys.real_or(window_rope_base, usual_base));
  if (settings.kind.window_is_scaled) rope.window_scale = rope.scale;
  return {};
}

float usual_attention_scale(const Settings& settings) {
  const AttentionScale kind = settings.kind.attention_scale;
  const bool is_27b = (kind == AttentionScale::gemma2 && settings.layer_count == 46) ||
                      (kind == AttentionScale::gemma3 && settings.layer_count == 62);
  const std::size_t size = is_27b ? settings.width / settings.head_count : settings.key_size;
  return 1.0F / std::sqrt(static_cast<float>(size));
}

Result<void> read_scales(const KeyReader& keys, Settings& settings) {
  const Architecture& kind = settings.kind;
  settings.attention_scale = usual_attention_scale(settings);
  if (kind.attention_scale == AttentionScale::key) {
    INGOT_TRY(const double scale, keys.real_or(attention_scale, 0.0));
    if (scale != 0.0) settings.attention_scale = static_cast<float>(scale);
  }
  if (kind.embedding_scale == EmbeddingScale::root) {
    settings.embedding_scale = std::sqrt(static_cast<float>(settings.width));
  } else if (kind.embedding_scale == EmbeddingScale::key) {
    INGOT_TRY(const double scale, keys.real_or(embedding_scale, 0.0));
    if (scale != 0.0) settings.embedding_scale = static_cast<float>(scale);
  }
  if (kind.has_granite_scales) {
    INGOT_TRY(const double residual, keys.real_or(residual_scale, 0.0));
    if (residual != 0.0) settings.residual_scale = static_cast<float>(residual);
    INGOT_TRY(const double logit, keys.real(logit_scale));
    if (logit == 0.0) {
      return refuse(settings.prefix + std::string(logit_scale), "it must not be 0");
    }
    settings.logit_scale = static_cast<float>(1.0 / logit);
    if (keys.has(suffixes::rope_scaling_finetuned)) {
      return refuse_kind(settings.prefix + std::string(suffixes::rope_scaling_finetuned),
                         "models that switch their rotation by this key are not supported");
    }
  }
  if (kind.caps_logits) {
    INGOT_TRY(const double attention, keys.real_or(attention_cap, 50.0));
    INGOT_TRY(const double logits, keys.real_or(logit_cap, 30.0));
    settings.attention_cap = static_cast<float>(attention);
    settings.logit_cap = static_cast<float>(logits);
  }
  return {};
}

}  // namespace

Failure refuse(std::string_view subject, std::string detail) {
  return fail(Errc::network_invalid, std::string(subject), std::move(detail));
}

Failure refuse_kind(std::string_view subject, std::string detail) {
  return fail(Errc::network_unsupported, std::string(subject), std::move(detail));
}

Result<Settings> read_settings(const Model& model) {
  INGOT_TRY(const auto name, model.get<std::string_view>(keys::general_architecture));
  const Architecture* kind = find_architecture(name);
  if (kind == nullptr) {
    return refuse_kind(keys::general_architecture, "the forward pass of \"" + std::string(name) +
                                                       "\" is unknown; known are " +
                                                       names_of_known_architectures());
  }
  Settings settings;
  settings.kind = *kind;
  settings.prefix = std::string(name) + ".";
  const KeyReader keys(model, settings.prefix);
  INGOT_TRY_VOID(refuse_encoders(keys, settings));
  INGOT_TRY_VOID(read_sizes(keys, settings));
  INGOT_TRY_VOID(read_feed_forward(keys, settings));
  INGOT_TRY_VOID(read_window(keys, settings));
  INGOT_TRY_VOID(read_rope(model, keys, settings));
  INGOT_TRY_VOID(read_scales(keys, settings));
  return settings;
}

}  // namespace ingot::evaluation
