// SPDX-License-Identifier: MIT
// Which part of a model a tensor belongs to, by its name.
#pragma once

#include <cstdint>
#include <string_view>

namespace ingot::estimate {

enum class Part : std::uint8_t {
  input,  ///< looked up for each token; stays on the host
  layer,
  everywhere,  ///< small, and copied to each device that has layers
  output
};

struct TensorPlace {
  Part part = Part::output;
  std::uint64_t layer = 0;    ///< If it is part of one.
  std::string_view in_layer;  ///< The name after "blk.N.", e.g. "ffn_up.weight".
};

[[nodiscard]] TensorPlace place_of(std::string_view name) noexcept;

/// Whether a tensor of a layer holds the experts among which each token chooses a few.
[[nodiscard]] bool holds_experts(std::string_view in_layer) noexcept;

}  // namespace ingot::estimate
