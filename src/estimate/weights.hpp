// SPDX-License-Identifier: MIT
// Where the bytes of a model's tensors lie.
#pragma once

#include <cstdint>
#include <span>

#include "estimate/profile_state.hpp"
#include "ingot/model.hpp"

namespace ingot::estimate {

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
