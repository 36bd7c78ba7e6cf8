// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cmath>

#include "evaluation/keys/key_reader.hpp"
#include "ingot/metadata_keys.hpp"

namespace ingot::evaluation {
namespace {

/// The scaling by YaRN: its growth of rotated elements, and where it begins.
Result<void> read_yarn(const KeyReader& keys, Settings& settings) {
  RopeSettings& rope = settings.rope;
  rope.is_yarn = true;
  INGOT_TRY(rope.fast_turns, keys.real_or("rope.scaling.yarn_beta_fast", 32.0));
  INGOT_TRY(rope.slow_turns, keys.real_or("rope.scaling.yarn_beta_slow", 1.0));
  if (rope.original_context == 0 || !(rope.fast_turns > 0.0) || !(rope.slow_turns > 0.0)) {
    return refuse(settings.prefix + std::string(suffixes::rope_scaling_original_context_length),
                  "YaRN needs a context, and turns above 0");
  }
  if (rope.scale >= 1.0) return {};
  const double growth = 0.1 * std::log(1.0 / rope.scale);
  if (settings.parts.positions.yarn_scales_attention) {
    INGOT_TRY(const double factor, keys.real_or("rope.scaling.yarn_log_multiplier", 0.0));
    // Converters write a tenth of the factor. With one, elements do not grow; scores do instead.
    const double score_growth =
        rope.magnitude * (1.0 + growth * (factor == 0.0 ? 1.0 : factor * 10.0));
    settings.attention_factor = static_cast<float>(score_growth * score_growth);
    if (factor != 0.0) return {};
  }
  rope.magnitude *= 1.0 + growth;
  return {};
}

/// Which pairs are of the fourth coordinate, and so do not rotate in texts.
void read_sections(const Model& model, Settings& settings) {
  const Sections kind = settings.parts.positions.sections;
  const std::string key = settings.prefix + "rope.dimension_sections";
  const ModelHeader header(model);
  if (kind == Sections::none || header.array_size(key) != std::size_t{4}) return;
  std::array<std::size_t, 4> sizes{};
  std::size_t sum = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t size = header.number(key, i).value_or(0);
    sizes[i] = static_cast<std::size_t>(std::clamp<std::int64_t>(size, 0, max_size));
    sum += sizes[i];
  }
  if (sum == 0) return;
  for (std::size_t pair = 0; pair < settings.rope.rotated / 2; ++pair) {
    const std::size_t place = pair % sum;
    settings.rope.fixed_pairs.push_back(kind == Sections::in_turn ? place >= sum - sizes[3]
                                                                  : place >= 3 * sizes[place % 3]);
  }
}

}  // namespace

Result<void> read_rope(const Model& model, const KeyReader& keys, Settings& settings) {
  RopeSettings& rope = settings.rope;
  const PositionFacts& facts = settings.parts.positions;
  if (facts.pairing == Pairing::none) return {};
  if (facts.may_lack_rotation) {
    INGOT_TRY(const bool is_rotated, keys.flag_or(suffixes::rope_scaling_finetuned, true));
    if (!is_rotated) return {};
  }
  INGOT_TRY(const std::uint64_t rotated,
            keys.number_or(suffixes::rope_dimension_count, settings.key_size, max_size));
  rope.rotated = static_cast<std::size_t>(rotated);
  const std::size_t window_key = settings.window_key_size;
  const std::size_t window_rotated = window_key > 0 ? window_key : rope.rotated;
  if (rope.rotated % 2 != 0) {
    return refuse(settings.prefix + std::string(suffixes::rope_dimension_count),
                  "it must be even, not " + std::to_string(rotated));
  }
  INGOT_TRY(rope.window_rotated, keys.size_or("rope.dimension_count_swa", window_rotated));
  if (rope.window_rotated % 2 != 0) {
    return refuse(settings.prefix + "rope.dimension_count_swa", "it must be even");
  }
  INGOT_TRY(rope.base, keys.real_or(suffixes::rope_freq_base, 10000.0));
  if (rope.base <= 0.0) {
    return refuse(settings.prefix + std::string(suffixes::rope_freq_base), "it must be above 0");
  }
  const std::string kind_key = settings.prefix + std::string(suffixes::rope_scaling_type);
  const auto kind = model.get_or(kind_key, std::string_view("linear"));
  constexpr std::string_view kinds[] = {"none", "linear", "longrope", "yarn"};
  if (std::ranges::find(kinds, kind) == std::ranges::end(kinds)) {
    return refuse_kind(kind_key, "scaling of the kind \"" + std::string(kind) +
                                     "\" is unknown here; none, linear, longrope and yarn are "
                                     "supported");
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
  INGOT_TRY(rope.magnitude, keys.real_or("rope.scaling.attn_factor", 1.0));
  INGOT_TRY(rope.original_context, keys.number_or(suffixes::rope_scaling_original_context_length,
                                                  settings.context_length, max_tokens));
  const double usual_base = facts.window_base > 0.0 ? facts.window_base : rope.base;
  INGOT_TRY(rope.window_base, keys.real_or("rope.freq_base_swa", usual_base));
  rope.window_magnitude = rope.magnitude;
  if (kind == "yarn") INGOT_TRY_VOID(read_yarn(keys, settings));
  read_sections(model, settings);
  if (facts.window_is_scaled) {
    rope.window_scale = rope.scale;
    rope.window_magnitude = rope.magnitude;
  }
  return {};
}

}  // namespace ingot::evaluation
