// SPDX-License-Identifier: MIT
// Types for a target size: the least error that fits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ingot/quantize_model.hpp"

namespace ingot::quantization {

/// Measures, on sampled rows, the cost of each possible type for each freely quantized tensor of
/// the plan, and chooses types for them by the target of the options. A tensor costs alpha times
/// its relative error where sensitivities are known; else the root of the product of relative and
/// absolute error, which predicts the damage better than either.
[[nodiscard]] Result<void> fit_to_target(const Model& model, const QuantizeModelOptions& options,
                                         QuantizePlan& plan, const QuantizeProgress& progress);

/// The file type of a model of such tensors: that of the type of most weights in matrices, without
/// the embeddings and the output if there are others.
[[nodiscard]] std::optional<std::uint32_t> guess_file_type(const QuantizePlan& plan);

}  // namespace ingot::quantization
