// SPDX-License-Identifier: MIT
// One offer for each tensor, such that all fit a size and cost little.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ingot/quantize_model.hpp"

namespace ingot::quantization {

/// The cost of a tensor as one type.
struct TypeOffer {
  TensorType type = TensorType::f32;
  std::uint64_t size_bytes = 0;
  double cost = 0.0;  ///< The cost of its errors, expected over the whole tensor.
};

struct ChosenOffers {
  std::vector<std::size_t> positions;  ///< The positions in the offers of each tensor.
  TargetOutcome outcome;
};

/// Chooses one offer for each tensor, so that the bytes stay within `budget_bytes` and the costs
/// add up to little:
/// - Each tensor begins with its smallest offer; steps along the lower convex hull of its offers
/// are
///   taken, those first that save most for a byte, as long as they fit. With the first step that
///   does not fit taken in part, this would be the least cost of all, which bounds every choice.
/// - What is left is filled with any offers that fit, those first that save most.
/// - Then one tensor gives up bytes for another, as long as both together save.
///
/// @param offers  none empty. O(n log n) in all of them, some hundred times.
/// @return  Errc::target_too_small if the smallest offers together exceed the budget.
[[nodiscard]] Result<ChosenOffers> choose_offers(std::span<const std::vector<TypeOffer>> offers,
                                                 std::uint64_t budget_bytes);

}  // namespace ingot::quantization
