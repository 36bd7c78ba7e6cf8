// SPDX-License-Identifier: MIT
// The header of a NumPy array file (target ingot::convert).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ingot/export.h"
#include "ingot/types.hpp"

namespace ingot {

/// NumPy's name of the element type that holds a tensor type as it is, e.g. "<f2"; empty for types
/// that it does not have (BF16 and the quantized ones).
[[nodiscard]] INGOT_EXPORT std::string_view npy_descriptor(TensorType type) noexcept;

/// Everything of a `.npy` file (version 1.0) before the data, a multiple of 64 bytes.
///
/// @param descriptor  the element type as NumPy writes it.
/// @param shape       dimension 0, the fastest-varying, first; NumPy's order is the reverse.
[[nodiscard]] INGOT_EXPORT std::string npy_header(std::string_view descriptor,
                                                  std::span<const std::uint64_t> shape);

}  // namespace ingot
