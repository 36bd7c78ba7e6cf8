// SPDX-License-Identifier: MIT
// Which part of a model each tensor belongs to, and the bytes of each part.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "estimate/profile_state.hpp"
#include "ingot/model.hpp"

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

/// How many experts there are and how many a token uses; both 0 without experts.
struct Experts {
  std::uint64_t count = 0;
  std::uint64_t used = 0;
};

/// Sums the tensors of a model by place into `state`, whose layers must be there, and finds out how
/// their feed-forward parts are built. Tensors of layers beyond are left out, as the engine leaves
/// out layers that predict further tokens. `types` as in MemoryProfile::read.
[[nodiscard]] Result<void> add_weights(const Model& model, std::span<const TensorType> types,
                                       const Experts& experts, detail::ProfileState& state);

/// Adds the tensors of an adapter, each beside the tensor that it changes.
[[nodiscard]] Result<void> add_adapter(const Model& adapter, detail::ProfileState& state);

/// The bytes of all tensors of a model.
[[nodiscard]] Result<std::uint64_t> sum_tensors(const Model& model);

}  // namespace ingot::estimate
