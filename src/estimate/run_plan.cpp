// SPDX-License-Identifier: MIT
#include "estimate/run_plan.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace ingot::estimate {
namespace {

using detail::ProfileState;

constexpr std::uint64_t cell_step = 256;  // contexts and windows are rounded up to it

Failure refuse(std::string what, std::string detail) {
  return fail(Errc::run_refused, std::move(what), std::move(detail));
}

Failure senseless(std::string what, std::string detail) {
  return fail(Errc::invalid_argument, std::move(what), std::move(detail));
}

Result<void> check_numbers(const RunOptions& options) {
  if (options.context > max_context) return senseless("context", "at most 2^30 tokens");
  if (options.batch == 0 || options.micro_batch == 0) return senseless("batch", "it is 0");
  if (options.sequences == 0 || options.sequences > max_sequences) {
    return senseless("sequences", "1 to " + std::to_string(max_sequences) + " are possible");
  }
  if (options.devices.size() > max_devices) return senseless("devices", "at most 64");
  if (!options.tensor_split.empty() && options.tensor_split.size() > options.devices.size()) {
    return senseless("tensor_split", "there are more shares than devices");
  }
  for (const double share : options.tensor_split) {
    if (!(share >= 0) || std::isinf(share))
      return senseless("tensor_split", "a share is no number");
  }
  return {};
}

/// "F16, F32, BF16"
std::string cache_type_names() {
  std::string names;
  for (const TensorType type : cache_types) {
    names += (names.empty() ? "" : ", ") + std::string(find_type(type)->name);
  }
  return names;
}

Result<void> check_cache_type(const ProfileState& profile, TensorType type, bool is_key,
                              bool uses_flash_attention) {
  const std::string option = is_key ? "cache-type-k" : "cache-type-v";
  if (std::find(cache_types.begin(), cache_types.end(), type) == cache_types.end()) {
    return refuse(option, "caches have one of the types " + cache_type_names());
  }
  const TensorTypeInfo& info = *find_type(type);
  if (info.block_elements == 1) return {};
  if (!is_key && !uses_flash_attention) {
    return refuse(option, "quantized values need flash attention; use F16, or allow it");
  }
  for (const Layer& layer : profile.layers) {
    if (!layer.has_cache) continue;
    if (is_key && layer.indexer_width % info.block_elements != 0) {
      return refuse(option, "the indexer's keys of " + std::to_string(layer.indexer_width) +
                                " are not whole blocks of " + std::string(info.name));
    }
    const std::uint64_t width = is_key ? layer.key_width : layer.value_width;
    // Without flash attention the engine stores the keys of all heads as one row.
    const std::uint64_t heads = uses_flash_attention ? 1 : layer.kv_heads;
    const auto row = checked_mul(width, heads);
    if (!row) return fail(Errc::size_overflow, "the keys of a token");
    if (*row % info.block_elements != 0) {
      return refuse(
          option, (heads == 1 ? "heads of " : "keys of " + std::to_string(heads) + " x ") +
                      std::to_string(width) + " are not whole blocks of " + std::string(info.name));
    }
  }
  return {};
}

Result<void> check_cache_types(const ProfileState& profile, const RunOptions& options,
                               bool uses_flash_attention) {
  const bool has_cache = std::ranges::any_of(profile.layers, &Layer::has_cache);
  INGOT_TRY_VOID(check_cache_type(profile, options.key_type, true, uses_flash_attention));
  INGOT_TRY_VOID(check_cache_type(profile, options.value_type, false, uses_flash_attention));
  if (profile.is_latent && has_cache && options.key_type != options.value_type) {
    return refuse("cache-type-k",
                  "this model keeps keys and values in one cache, so both types must be equal");
  }
  return {};
}

/// The width of the Hadamard matrix that spreads outliers before a row of the cache is quantized;
/// only where the heads of all layers are as wide, and a multiple of 64.
std::uint64_t rotation_of(const ProfileState& profile, TensorType type, bool is_key) {
  constexpr std::uint64_t least = 64;
  std::uint64_t width = 0;
  for (const Layer& layer : profile.layers) {
    if (!layer.has_cache) continue;
    const std::uint64_t found = is_key ? layer.key_width : layer.value_width;
    if (width != 0 && found != width) return 0;
    width = found;
  }
  if (find_type(type)->block_elements == 1 || width == 0 || width % least != 0) return 0;
  // The largest power of two that divides the keys' heads; for values always 64.
  return is_key ? width & (~width + 1) : least;
}

Result<void> plan_context(const ProfileState& profile, const RunOptions& options, RunPlan& plan) {
  constexpr std::uint64_t usual_context = 4096;  // if neither the user nor the model gives one
  std::uint64_t wanted = options.context != 0 ? options.context : profile.context_length;
  if (wanted == 0) wanted = usual_context;
  if (wanted > max_context) return senseless("context", "at most 2^30 tokens");
  if (options.is_cache_unified) {
    plan.context = rounded_cells(wanted);
    plan.context_per_sequence = plan.context;
    plan.streams = 1;
  } else {
    plan.context_per_sequence =
        rounded_cells(std::max<std::uint64_t>(wanted / options.sequences, 1));
    plan.context = plan.context_per_sequence * options.sequences;
    plan.streams = options.sequences;
  }
  // The engine bounds the batch of a causal model by the context before it is rounded.
  plan.micro_batch =
      std::min({options.micro_batch, options.batch, profile.has_cache() ? wanted : plan.context});
  plan.sequences = options.sequences;
  plan.graph_tokens =
      (plan.micro_batch + options.sequences - 1) / options.sequences * options.sequences;
  const std::uint64_t sharing = options.is_cache_unified ? options.sequences : 1;
  // Both are below 2^33 x 2^16, so this fits.
  const std::uint64_t window = profile.window * sharing + plan.micro_batch;
  plan.sliding_cells = options.keeps_full_windows
                           ? plan.context_per_sequence
                           : std::min(plan.context_per_sequence,
                                      rounded_cells(std::min(plan.context_per_sequence, window)));
  return {};
}

/// Ends of the devices' shares of the layers, cumulative, from 0 to 1. Floats as in the engine, so
/// that the same layer falls to the same side of a border.
std::vector<float> share_ends(const RunOptions& options) {
  std::vector<float> ends;
  float sum = 0;
  for (std::size_t i = 0; i < options.devices.size(); ++i) {
    float share = static_cast<float>(options.devices[i].usable_bytes);
    if (!options.tensor_split.empty()) {
      share = i < options.tensor_split.size() ? static_cast<float>(options.tensor_split[i]) : 0;
    }
    sum += share;
    ends.push_back(sum);
  }
  for (std::size_t i = 0; i < ends.size(); ++i) {
    ends[i] = sum > 0 ? ends[i] / sum : static_cast<float>(i + 1) / static_cast<float>(ends.size());
  }
  return ends;
}

void plan_places(const ProfileState& profile, const RunOptions& options, RunPlan& plan) {
  const std::uint64_t positions = profile.layers.size() + 1;
  plan.places.assign(static_cast<std::size_t>(positions), RunPlan::on_host);
  if (options.devices.empty()) return;
  plan.gpu_layers = options.gpu_layers < 0
                        ? positions
                        : std::min(positions, static_cast<std::uint64_t>(options.gpu_layers));
  const std::vector<float> ends = share_ends(options);
  const std::uint64_t first = positions - plan.gpu_layers;
  for (std::uint64_t i = first; i < positions; ++i) {
    const float place = static_cast<float>(i - first) / static_cast<float>(plan.gpu_layers);
    const auto end = std::upper_bound(ends.begin(), ends.end(), place);
    const auto device = static_cast<std::size_t>(end - ends.begin());
    plan.places[static_cast<std::size_t>(i)] = std::min(device, ends.size() - 1);
  }
}

}  // namespace

std::uint64_t rounded_cells(std::uint64_t cells) noexcept {
  return (cells + cell_step - 1) / cell_step * cell_step;
}

Result<RunPlan> plan_run(const ProfileState& profile, const RunOptions& options) {
  INGOT_TRY_VOID(check_numbers(options));
  RunPlan plan;
  plan.uses_flash_attention = options.flash_attention != FlashAttention::off;
  INGOT_TRY_VOID(check_cache_types(profile, options, plan.uses_flash_attention));
  INGOT_TRY_VOID(plan_context(profile, options, plan));
  plan.key_rotation = rotation_of(profile, options.key_type, true);
  plan.value_rotation = rotation_of(profile, options.value_type, false);
  plan.casts_keys = options.key_type == TensorType::f32;
  plan.casts_values = options.value_type == TensorType::f32;
  const TensorTypeInfo& value_type = *find_type(options.value_type);
  plan.value_bytes = value_type.block_elements == 1 ? value_type.block_bytes : 0;
  for (const Layer& layer : profile.layers) {
    const auto values = checked_mul(layer.value_width, layer.kv_heads);
    if (!values) return fail(Errc::size_overflow, "the values of a token");
    plan.largest_values = std::max(plan.largest_values, *values);
  }
  plan_places(profile, options, plan);
  return plan;
}

}  // namespace ingot::estimate
