// SPDX-License-Identifier: MIT
#include "estimate/kept_state.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "ingot/metadata_keys.hpp"
#include "model/open/model_header.hpp"

namespace ingot::estimate {
namespace {

/// A number that the row of the architecture tells.
Result<std::uint64_t> number_of_row(const Architecture& row, const Model& model,
                                    std::string_view name, std::optional<std::uint64_t> layer,
                                    std::uint64_t fallback) {
  const auto number = memory_number(row, ModelHeader(model), name, layer);
  if (!number) return fallback;
  if (*number >= 0 && static_cast<std::uint64_t>(*number) <= max_header_number) {
    return static_cast<std::uint64_t>(*number);
  }
  return fail(Errc::estimate_impossible, "the " + std::string(name) + " of the cache",
              "found " + std::to_string(*number));
}

}  // namespace

Result<void> read_state_size(const HeaderReader& keys, detail::ProfileState& state) {
  const State kind = state.rule != nullptr ? state.rule->state : State::none;
  const std::uint64_t heads = state.layers.empty() ? 0 : state.layers.front().heads;
  CheckedNumber rolling;
  CheckedNumber kept;
  switch (kind) {
    case State::none:
      return {};
    case State::ssm: {
      INGOT_TRY(const std::uint64_t kernel, keys.number_or(suffixes::ssm_conv_kernel, 0));
      INGOT_TRY(const std::uint64_t inner, keys.number_or(suffixes::ssm_inner_size, 0));
      INGOT_TRY(const std::uint64_t size, keys.number_or(suffixes::ssm_state_size, 0));
      INGOT_TRY(const std::uint64_t groups, keys.number_or(suffixes::ssm_group_count, 0));
      INGOT_TRY(const std::uint64_t state_heads, keys.number_or(suffixes::ssm_time_step_rank, 0));
      state.state = {inner, size, groups, state_heads, kernel};
      rolling = CheckedNumber(kernel > 0 ? kernel - 1 : 0) *
                (CheckedNumber(inner) + CheckedNumber(2) * groups * size);
      kept = CheckedNumber(size) * inner;
      state.graph.state = CheckedNumber(4) * inner + CheckedNumber(2) * state.embedding;
      state.graph.has_state = true;
      break;
    }
    case State::rwkv:
    case State::rwkv_single: {
      INGOT_TRY(const std::uint64_t shifts,
                keys.number_or("token_shift_count", kind == State::rwkv ? 2 : 1));
      INGOT_TRY(const std::uint64_t size, keys.number_or("wkv.head_size", 0));
      rolling = CheckedNumber(shifts) * state.embedding;
      kept = CheckedNumber(state.embedding) * size;
      break;
    }
    case State::short_convolution: {
      INGOT_TRY(const std::uint64_t length, keys.number_or("shortconv.l_cache", 0));
      rolling = CheckedNumber(state.embedding) * (length > 0 ? length - 1 : 0);
      break;
    }
    case State::delta_attention: {
      INGOT_TRY(const std::uint64_t kernel, keys.number_or(suffixes::ssm_conv_kernel, 0));
      INGOT_TRY(const std::uint64_t width, keys.number_or("kda.head_dim", 0));
      rolling = CheckedNumber(3) * (kernel > 0 ? kernel - 1 : 0) * heads * width;
      kept = CheckedNumber(width) * width * heads;
      break;
    }
    case State::lightning_attention: {
      const std::uint64_t width = state.layers.empty() ? 0 : state.layers.front().key_width;
      kept = CheckedNumber(width) * width * heads;
      // Measured: three tables of pairs of tokens for each head, and what they are made of.
      state.graph.state = CheckedNumber(7) * heads * width + state.embedding;
      state.graph.state_pairs = 3 * heads;
      state.graph.has_state = true;
      break;
    }
  }
  if (!rolling.value() || !kept.value()) return fail(Errc::size_overflow, "the state of a layer");
  state.rolling_elements = *rolling.value();
  state.state_elements = *kept.value();
  return {};
}

Result<void> read_further_caches(const Architecture& row, const Model& model,
                                 detail::ProfileState& state) {
  if (state.layers.empty()) return {};
  for (std::size_t i = 0; i < state.layers.size(); ++i) {
    Layer& layer = state.layers[i];
    INGOT_TRY(layer.indexer_width, number_of_row(row, model, "indexer", i, 0));
    INGOT_TRY(layer.compressed, number_of_row(row, model, "compressed", i, 0));
    INGOT_TRY(layer.state_floats, number_of_row(row, model, "state", i, 0));
  }
  INGOT_TRY(const std::uint64_t shared, number_of_row(row, model, "shared", std::nullopt, 0));
  state.is_latent = state.is_latent || shared != 0;
  const HeaderReader keys(model, state.architecture);
  INGOT_TRY(state.indexer_top_k, keys.number_or("attention.indexer.top_k", 0));
  INGOT_TRY(const std::uint64_t floats, number_of_row(row, model, "work", std::nullopt, 0));
  state.graph.whole = floats;
  INGOT_TRY(state.loops, number_of_row(row, model, "loops", std::nullopt, 1));
  INGOT_TRY(const std::uint64_t heads, number_of_row(row, model, "router", std::nullopt, 0));
  if (heads == 0) return {};
  const Layer& usual = state.layers.back();
  Layer& router = state.router.emplace();
  router.heads = router.kv_heads = heads;
  router.key_width = usual.key_width;
  router.value_width = usual.value_width;
  router.has_cache = usual.has_cache;
  return {};
}

}  // namespace ingot::estimate
