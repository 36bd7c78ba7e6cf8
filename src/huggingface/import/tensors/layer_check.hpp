// SPDX-License-Identifier: MIT
// Whether a plan has every layer, and every layer its tensors.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "huggingface/import/tensors/tensor_plan.hpp"
#include "ingot/error.hpp"

namespace ingot::huggingface {

/// Refuses the first layer without tensors, and the first that lacks tensors of the others.
/// Feed-forward parts are compared separately for layers with and without experts, as a model may
/// have both.
///
/// @param may_differ  Whether layers have different parts by design, so that only the number of
///                    layers can be checked.
/// @param encoder     What the names of the layers have in front: "v." and "a." in projectors.
/// @return  Errc::import_refused, which names what is missing.
[[nodiscard]] Result<void> check_layers(std::span<const PlannedTensor> tensors,
                                        std::uint64_t layer_count, bool may_differ = false,
                                        std::string_view encoder = "enc.");

}  // namespace ingot::huggingface
