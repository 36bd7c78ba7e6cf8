// SPDX-License-Identifier: MIT
#include "text/memory_facts.hpp"

#include <algorithm>
#include <ingot/estimate.hpp>

namespace ingot::cli {
namespace {

/// The context that most people run with.
constexpr std::uint64_t usual_context = 8192;
constexpr std::uint64_t first_context = 2048;

std::optional<MemoryProfile> known_profile(const Model& model) {
  if (model.tensors().empty()) return std::nullopt;
  Result<MemoryProfile> profile = MemoryProfile::read(model);
  if (!profile || !profile->is_known_architecture()) return std::nullopt;
  return *std::move(profile);
}

}  // namespace

std::optional<MemoryFacts> memory_facts(const Model& model) {
  const std::optional<MemoryProfile> profile = known_profile(model);
  if (!profile) return std::nullopt;
  const std::uint64_t own = profile->context_length();
  MemoryFacts facts;
  facts.weights_bytes = profile->weights_bytes();
  facts.context = own > 0 ? std::min(own, usual_context) : usual_context;
  const auto growth = profile->cache_growth();
  const auto card = profile->smallest_card(facts.context);
  if (!growth || !card) return std::nullopt;
  facts.cache_growth_bytes = *growth;
  facts.smallest_card = *card;
  facts.own_context = own;
  if (own > facts.context) facts.card_for_own = profile->smallest_card(own).value_or(std::nullopt);
  return facts;
}

std::vector<MemoryRun> memory_runs(const Model& model) {
  std::vector<MemoryRun> runs;
  const std::optional<MemoryProfile> profile = known_profile(model);
  if (!profile) return runs;
  const std::uint64_t own = profile->context_length();
  const std::uint64_t most = std::min(own > 0 ? own : usual_context, max_context);
  for (std::uint64_t context = std::min(first_context, most);;
       context = std::min(context * 2, most)) {
    RunOptions options;
    options.context = context;
    options.devices = {{"device", std::uint64_t{1} << 62, 0}};
    const auto estimate = profile->estimate(options);
    const auto card = profile->smallest_card(context);
    if (!estimate || !card) return {};
    const MemoryUse& device = estimate->devices[0];
    runs.push_back(
        {context, device.weights_bytes, device.cache_bytes, device.compute_bytes, *card});
    if (context == most) return runs;
  }
}

std::string card_text(std::uint64_t bytes) { return std::to_string(bytes >> 30) + " GB"; }

void write_memory_facts(JsonStream& json, const Model& model) {
  const std::optional<MemoryFacts> facts = memory_facts(model);
  if (!facts) return json.null();
  const auto object = json.object();
  json.member("weights_bytes", facts->weights_bytes);
  json.member("cache_bytes_per_1024_tokens", facts->cache_growth_bytes);
  json.member("context", facts->context);
  json.member("smallest_card_bytes", facts->smallest_card);
}

}  // namespace ingot::cli
