// SPDX-License-Identifier: MIT
#include "huggingface/import/tensors/layer_check.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "huggingface/folder/refusal.hpp"
#include "huggingface/rules/name_pattern.hpp"

namespace ingot::huggingface {
namespace {

constexpr std::string_view layer_prefix = "blk.";
/// The most missing tensors that an error names.
constexpr std::size_t max_named = 8;

/// A tensor below its layer, as `attn_q.weight`, and a tensor of the folder that gave it.
using Parts = std::map<std::string_view, std::string_view>;

bool has_experts(const Parts& layer) {
  return std::ranges::any_of(layer, [](const auto& part) {
    return part.first.find("_exps.") != std::string_view::npos ||
           part.first.starts_with("ffn_gate_inp.");
  });
}

/// Whether a tensor belongs to a feed-forward part, which dense layers and those with experts have
/// under other names.
bool is_feed_forward(std::string_view part) {
  constexpr std::array<std::string_view, 4> starts = {"ffn_gate", "ffn_up", "ffn_down",
                                                      "exp_probs_b"};
  return std::ranges::any_of(starts,
                             [&](std::string_view start) { return part.starts_with(start); });
}

std::map<std::uint64_t, Parts> parts_of_layers(std::span<const PlannedTensor> tensors,
                                               std::string_view encoder) {
  std::map<std::uint64_t, Parts> layers;
  for (const PlannedTensor& tensor : tensors) {
    std::string_view name = tensor.info.name;
    if (name.starts_with(encoder)) name.remove_prefix(encoder.size());
    if (!name.starts_with(layer_prefix)) continue;
    const std::string_view rest = name.substr(layer_prefix.size());
    const std::size_t dot = rest.find('.');
    const auto layer = number_of(rest.substr(0, dot));
    if (!layer || dot == rest.npos) continue;
    Parts& parts = layers[*layer];
    // Only the layer that predicts the token after the next one has these.
    const std::string_view part = rest.substr(dot + 1);
    if (!part.starts_with("nextn.")) parts.emplace(part, tensor.info.sources.front());
  }
  return layers;
}

/// The parts that at least one layer has, among those that must have the same tensors as `layer`.
Parts wanted_parts(const std::map<std::uint64_t, Parts>& layers, const Parts& layer) {
  Parts wanted;
  for (const auto& [number, other] : layers) {
    const bool is_alike = has_experts(other) == has_experts(layer);
    for (const auto& [part, source] : other) {
      if (is_alike || !is_feed_forward(part)) wanted.emplace(part, source);
    }
  }
  return wanted;
}

Failure lacks_parts(std::uint64_t layer, const std::vector<std::string_view>& missing,
                    std::string_view source) {
  const std::string prefix = std::string(layer_prefix) + std::to_string(layer) + ".";
  std::string names;
  for (std::size_t i = 0; i < std::min(missing.size(), max_named); ++i) {
    names.append(i == 0 ? "" : ", ").append(prefix).append(missing[i]);
  }
  if (missing.size() > max_named) {
    names += " and " + std::to_string(missing.size() - max_named) + " more";
  }
  return refuse(
      names, "the layer lacks what others have; there the first is made of " + std::string(source));
}

}  // namespace

Result<void> check_layers(std::span<const PlannedTensor> tensors, std::uint64_t layer_count,
                          bool may_differ, std::string_view encoder) {
  const auto layers = parts_of_layers(tensors, encoder);
  for (std::uint64_t layer = 0; layer < layer_count; ++layer) {
    if (layers.count(layer) != 0) continue;
    return refuse("blk." + std::to_string(layer), "the layer has no tensors; config.json counts " +
                                                      std::to_string(layer_count) + " layers");
  }
  if (may_differ) return {};
  // The wanted parts depend only on whether a layer has experts.
  std::map<bool, Parts> wanted;
  for (const auto& [number, layer] : layers) {
    const bool is_sparse = has_experts(layer);
    if (wanted.count(is_sparse) == 0) wanted[is_sparse] = wanted_parts(layers, layer);
    std::vector<std::string_view> missing;
    for (const auto& entry : wanted[is_sparse]) {
      if (layer.count(entry.first) == 0) missing.push_back(entry.first);
    }
    if (!missing.empty()) return lacks_parts(number, missing, wanted[is_sparse][missing.front()]);
  }
  return {};
}

}  // namespace ingot::huggingface
