// SPDX-License-Identifier: MIT
// Whether a plan has every layer, and every layer its tensors.
#pragma once

#include <cstdint>
#include <span>

#include "import/tensors/tensor_plan.hpp"
#include "ingot/error.hpp"

namespace ingot::hf {

/// The first layer without tensors is refused, and the first that lacks tensors which the others
/// have. The feed-forward parts of layers with experts and of those without are apart: models have
/// both.
///
/// @return  Errc::import_refused, which names what is missing.
[[nodiscard]] Result<void> check_layers(std::span<const PlannedTensor> tensors,
                                        std::uint64_t layer_count);

}  // namespace ingot::hf
