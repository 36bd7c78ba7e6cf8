// SPDX-License-Identifier: MIT
// The rows of architectures.def.
#pragma once

#include <cstdint>
#include <string_view>

namespace ingot::estimate {

enum class Windows : std::uint8_t { none, full_last, full_first, by_key };

/// The state of a recurrent layer for each sequence.
enum class State : std::uint8_t {
  none,
  ssm,
  rwkv,
  rwkv_single,
  short_convolution,
  delta_attention
};

enum class Recurrent : std::uint8_t {
  never,
  always,
  beside_attention,
  without_kv_heads,
  without_kv_heads_and_ffn,
  by_interval
};

/// The output of the engine for the tokens.
enum class Purpose : std::uint8_t { generates, generates_without_cache, encodes };

struct ArchitectureRule {
  std::string_view name;
  Purpose purpose = Purpose::generates;
  Windows windows = Windows::none;
  std::uint64_t period = 0;
  std::uint64_t window = 0;  ///< Tokens.
  std::uint64_t only_for_layers =
      0;  ///< The windows are those of models of so many layers; 0: all.
  std::uint64_t own_cache_layers = 0;
  State state = State::none;
  Recurrent recurrent = Recurrent::never;
};

/// nullptr for an architecture that is not in the table.
[[nodiscard]] const ArchitectureRule* find_architecture_rule(std::string_view name) noexcept;

}  // namespace ingot::estimate
