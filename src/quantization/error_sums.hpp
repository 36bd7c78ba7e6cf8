// SPDX-License-Identifier: MIT
// The distance of decoded numbers from their source.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "ingot/quantize_model.hpp"

namespace ingot::quantization {

/// The first element that is NaN or infinite.
[[nodiscard]] std::optional<std::size_t> find_not_finite(std::span<const float> numbers) noexcept;

/// Adds the products of source and result to `error`, whose `plain` holds the same numbers.
void add_products(std::span<const float> source, std::span<const float> decoded,
                  TensorError& error) noexcept;

/// Adds the weighted sums of rows of `weights.size()` elements to `error`.
void add_weighted(std::span<const float> source, std::span<const float> decoded,
                  std::span<const float> weights, TensorError& error) noexcept;

}  // namespace ingot::quantization
