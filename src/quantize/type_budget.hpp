// SPDX-License-Identifier: MIT
// Types for a target size: the least error that fits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ingot/quantize_model.hpp"

namespace ingot::convert {

/// The cost of a tensor as one type.
struct TypeOffer {
  TensorType type = TensorType::f32;
  std::uint64_t size_bytes = 0;
  double error = 0.0;  ///< Expected sum of (weighted) squared errors over the whole tensor.
};

/// Chooses one offer for each tensor, so that the bytes stay within `budget_bytes` and the errors
/// add up to as little as a greedy choice finds: each tensor begins with its smallest offer; then
/// steps along the lower convex hull of its offers are taken, those first that save most error for
/// a byte, as long as they fit. Positions in the offers of each tensor, which must not be empty.
///
/// @return  Errc::target_too_small if the smallest offers together exceed the budget.
[[nodiscard]] Result<std::vector<std::size_t>> choose_offers(
    std::span<const std::vector<TypeOffer>> offers, std::uint64_t budget_bytes);

/// Measures, on sampled rows, what each tensor of the plan that may be quantized freely costs as
/// each type that is possible for it, and chooses types for them by the target of the options.
[[nodiscard]] Result<void> fit_to_target(const Model& model, const QuantizeModelOptions& options,
                                         QuantizePlan& plan, const QuantizeProgress& progress);

/// The file type of a model of such tensors: that of the type of most weights in matrices, without
/// the embeddings and the output if there are others.
[[nodiscard]] std::optional<std::uint32_t> guess_file_type(const QuantizePlan& plan);

}  // namespace ingot::convert
