// SPDX-License-Identifier: MIT
#include "estimate/tensor_place.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace ingot::estimate {
namespace {

constexpr std::array<std::string_view, 3> layer_prefixes = {"blk.", "enc.blk.", "dec.blk."};

// As the engine sorts them: what begins with one of these is no part of a layer or of the output.
constexpr std::array<std::string_view, 7> input_prefixes = {
    "token_embd.",           "token_embd_norm.",      "token_types.",        "position_embd.",
    "per_layer_token_embd.", "per_layer_model_proj.", "per_layer_proj_norm."};
constexpr std::array<std::string_view, 3> copied_prefixes = {"rope_freqs.", "rope_factors_long.",
                                                             "rope_factors_short."};

template <std::size_t count>
bool begins_with_one(std::string_view name,
                     const std::array<std::string_view, count>& prefixes) noexcept {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace

TensorPlace place_of(std::string_view name) noexcept {
  for (const std::string_view prefix : layer_prefixes) {
    if (!name.starts_with(prefix)) continue;
    const std::string_view rest = name.substr(prefix.size());
    std::uint64_t layer = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), layer);
    const auto digits = static_cast<std::size_t>(end - rest.data());
    if (error == std::errc() && digits < rest.size() && rest[digits] == '.') {
      return {Part::layer, layer, rest.substr(digits + 1)};
    }
  }
  if (begins_with_one(name, input_prefixes)) return {Part::input, 0, {}};
  if (begins_with_one(name, copied_prefixes)) return {Part::everywhere, 0, {}};
  return {Part::output, 0, {}};
}

bool holds_experts(std::string_view in_layer) noexcept {
  if (in_layer.find("_exps.") != std::string_view::npos) return true;
  // Older files have one tensor for each expert: "ffn_up.3.weight".
  for (const std::string_view prefix : {"ffn_up.", "ffn_gate.", "ffn_down."}) {
    if (in_layer.starts_with(prefix) && in_layer.size() > prefix.size()) {
      const char next = in_layer[prefix.size()];
      if (next >= '0' && next <= '9') return true;
    }
  }
  return false;
}

}  // namespace ingot::estimate
