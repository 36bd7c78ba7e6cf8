// SPDX-License-Identifier: MIT
// How far decoded numbers are from their source.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "ingot/quantize_model.hpp"

namespace ingot::convert {

/// The first element that is NaN or infinite.
[[nodiscard]] std::optional<std::size_t> find_not_finite(std::span<const float> numbers) noexcept;

/// The error of `decoded` against `source`, unweighted. Sums have a fixed order. Elements where
/// either number is not finite are left out; `has_not_finite` says whether there were any.
[[nodiscard]] QuantizationError compare(std::span<const float> source,
                                        std::span<const float> decoded,
                                        bool& has_not_finite) noexcept;

/// Adds the weighted sums of rows of `weights.size()` elements to `error`.
void add_weighted(std::span<const float> source, std::span<const float> decoded,
                  std::span<const float> weights, QuantizationError& error) noexcept;

}  // namespace ingot::convert
