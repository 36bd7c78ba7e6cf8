// SPDX-License-Identifier: MIT
#include "commands/fit/fit_json.hpp"

#include <array>

#include "text/value_text.hpp"

namespace ingot::cli {
namespace {

std::optional<bool> fits(Verdict verdict) {
  if (verdict == Verdict::unknown) return std::nullopt;
  return verdict != Verdict::does_not_fit;
}

void write_use(JsonStream& json, const MemoryUse& use) {
  const auto object = json.object();
  json.member("name", use.name);
  json.member("first_layer", use.first_layer);
  json.member("layer_count", use.layer_count);
  json.member("has_output", use.has_output);
  json.member("weights_bytes", use.weights_bytes);
  json.member("mapped_bytes", use.mapped_bytes);
  json.member("cache_bytes", use.cache_bytes);
  json.member("compute_bytes", use.compute_bytes);
  json.member("output_bytes", use.output_bytes);
  json.member("projector_bytes", use.projector_bytes);
  json.member("total_bytes", use.total_bytes);
  json.member("weights_read_bytes", use.weights_read_bytes);
  json.member("capacity_bytes", use.capacity_bytes);
  json.member("verdict", name_of(use.verdict));
  json.member("fits", fits(use.verdict));
}

void write_caches(JsonStream& json, const FitResult& result) {
  json.objects("caches", result.estimate.caches, [&](const CacheUse& use) {
    json.member("kind", name_of(use.kind));
    json.member("layers", use.layers);
    json.member("cells", use.cells);
    json.member("streams", use.streams);
    json.member("key_bytes", use.key_bytes);
    json.member("value_bytes", use.value_bytes);
  });
}

void write_compute(JsonStream& json, const ComputeTerms& terms) {
  const auto object = json.object("compute");
  json.member("mask_bytes", terms.mask);
  json.member("output_bytes", terms.output);
  json.member("attention_bytes", terms.attention);
  json.member("feed_forward_bytes", terms.feed_forward);
  json.member("experts_bytes", terms.experts);
  json.member("state_bytes", terms.state);
  json.member("largest", terms.largest);
}

std::string_view kind_name(ChangeKind kind) {
  constexpr std::array<std::string_view, 7> names = {
      "ubatch_size", "cache_type",  "cache_type_and_ubatch_size", "n_cpu_moe", "gpu_layers",
      "ctx_size",    "quantization"};
  return names[static_cast<std::size_t>(kind)];
}

void write_change(JsonStream& json, const FitResult& result, const Change& change) {
  const auto object = json.object();
  json.member("kind", kind_name(change.kind));
  const bool is_weights = change.kind == ChangeKind::weights;
  json.member_if(!is_weights, "options", option_text(change));
  json.member_if(is_weights, "weights_bytes", change.weights_bytes);
  json.key("type");
  is_weights&& result.smaller ? json.value(result.smaller->recipe) : json.null();
}

void write_advice(JsonStream& json, const FitResult& result) {
  const auto object = json.object("advice");
  json.member("gpu_layers", result.advice.gpu_layers);
  json.member("context", result.advice.context);
  json.member("smallest_card_bytes", result.smallest_card);
  const auto array = json.array("changes");
  for (const Change& change : result.advice.changes) write_change(json, result, change);
}

void write_run(JsonStream& json, const FitResult& result) {
  const MemoryEstimate& estimate = result.estimate;
  json.member("context", estimate.context);
  json.member("context_per_sequence", estimate.context_per_sequence);
  json.member("context_length", result.profile.context_length());
  json.member("sequences", estimate.sequences);
  json.member("batch_size", result.options.batch);
  json.member("ubatch_size", estimate.micro_batch);
  json.member("cache_type_k", type_text(result.options.key_type));
  json.member("cache_type_v", type_text(result.options.value_type));
  json.member("flash_attention", estimate.uses_flash_attention);
  json.member("layer_count", result.profile.layer_count());
  json.member("gpu_layers", estimate.gpu_layers);
}

}  // namespace

void write_fit_json(JsonStream& json, const FitResult& result) {
  const MemoryEstimate& estimate = result.estimate;
  const auto object = json.object();
  json.member("file", result.file);
  json.member("architecture", result.profile.architecture());
  json.member("is_known_architecture", result.profile.is_known_architecture());
  json.member("verdict", name_of(estimate.verdict));
  json.member("fits", fits(estimate.verdict));
  write_run(json, result);
  json.member("weights_bytes", estimate.weights_bytes);
  json.member("cache_bytes", estimate.cache_bytes);
  json.member("output_bytes", estimate.output_bytes);
  write_caches(json, result);
  write_compute(json, estimate.compute);
  json.begin_array("devices");
  for (const MemoryUse& use : estimate.devices) write_use(json, use);
  json.end();
  json.key("host");
  write_use(json, estimate.host);
  json.begin_object("tokens_per_second_bound");
  json.member("empty_cache", estimate.bound_at_start);
  json.member("full_cache", estimate.bound_at_end);
  json.end();
  write_advice(json, result);
  json.values("notes", result.profile.notes());
  json.values("not_counted", not_counted(result.options));
  if (!result.model.is_verified()) json.member("verified", false);
}

}  // namespace ingot::cli
