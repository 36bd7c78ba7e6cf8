// SPDX-License-Identifier: MIT
#include "estimate/work_space.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ingot::estimate {
namespace {

constexpr std::uint64_t float_bytes = 4;

CheckedNumber mask_bytes(const detail::ProfileState& profile, const RunPlan& plan) {
  if (!profile.graph.has_attention) return 0;
  const std::uint64_t element_bytes = plan.uses_flash_attention ? 2 : 4;
  const CheckedNumber row = CheckedNumber(plan.micro_batch) * element_bytes;
  const bool slides = std::ranges::any_of(profile.layers, &Layer::slides);
  const std::uint64_t windows = slides ? plan.sliding_cells : 0;
  return row * plan.context_per_sequence + row * windows;
}

}  // namespace

WorkSpace work_space_of(const detail::ProfileState& profile, const RunPlan& plan) {
  const GraphFloats& graph = profile.graph;
  const CheckedNumber tokens = CheckedNumber(plan.micro_batch) * float_bytes;
  WorkSpace space;
  space.mask = mask_bytes(profile, plan);
  space.embedding = tokens * profile.embedding;
  space.is_gate_fused = graph.is_gate_fused;
  if (!profile.encodes()) {
    space.output =
        tokens * (CheckedNumber(profile.vocabulary) + CheckedNumber(2) * profile.embedding);
  }
  if (graph.has_attention) {
    const CheckedNumber scores = plan.uses_flash_attention
                                     ? CheckedNumber(0)
                                     : CheckedNumber(plan.context_per_sequence) * graph.heads;
    space.attention = space.mask + tokens * (graph.attention + scores);
  }
  if (graph.has_feed_forward) {
    space.feed_forward = space.mask + tokens * graph.feed_forward;
    space.feed_forward_device = space.mask + tokens * graph.feed_forward_device;
  }
  if (graph.has_experts) space.experts = space.mask + tokens * graph.experts;
  if (graph.has_state) space.state = tokens * graph.state;
  return space;
}

CheckedNumber WorkSpace::on_host() const noexcept {
  return max(max(max(output, attention), max(feed_forward, experts)), state);
}

CheckedNumber WorkSpace::layers_on_device() const noexcept {
  return max(max(attention, feed_forward_device), max(experts, state));
}

CheckedNumber WorkSpace::output_on_device() const noexcept {
  return is_gate_fused ? output + mask : output;
}

Result<ComputeTerms> terms_of(const WorkSpace& space) {
  ComputeTerms terms;
  if (!space.on_host().value() || !space.mask.value()) {
    return fail(Errc::size_overflow, "the work space");
  }
  terms.mask = *space.mask.value();
  terms.output = *space.output.value();
  terms.attention = *space.attention.value();
  terms.feed_forward = *space.feed_forward.value();
  terms.experts = *space.experts.value();
  terms.state = *space.state.value();
  const std::array<std::pair<std::string_view, std::uint64_t>, 5> phases = {{
      {"output", terms.output},
      {"attention", terms.attention},
      {"feed_forward", terms.feed_forward},
      {"experts", terms.experts},
      {"state", terms.state},
  }};
  const auto largest = std::ranges::max_element(
      phases, [](const auto& a, const auto& b) { return a.second < b.second; });
  terms.largest = largest->first;
  return terms;
}

}  // namespace ingot::estimate
