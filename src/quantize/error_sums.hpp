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

/// As measure_error, but squares are summed in single precision within runs of some hundred
/// elements: several times as fast, and right to six digits. `has_not_finite` says whether pairs
/// were left out.
[[nodiscard]] QuantizationError compare(std::span<const float> source,
                                        std::span<const float> decoded,
                                        bool& has_not_finite) noexcept;

/// Adds the weighted sums of rows of `weights.size()` elements to `error`.
void add_weighted(std::span<const float> source, std::span<const float> decoded,
                  std::span<const float> weights, TensorError& error) noexcept;

}  // namespace ingot::convert
