// SPDX-License-Identifier: MIT
// The header of a NumPy array file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ingot::cli {

/// Everything of a `.npy` file (version 1.0) before the data, a multiple of 64 bytes.
///
/// @param descriptor  the element type as NumPy writes it, e.g. "<f4".
/// @param shape       dimension 0, the fastest-varying, first; NumPy's order is the reverse.
[[nodiscard]] std::string npy_header(std::string_view descriptor,
                                     std::span<const std::uint64_t> shape);

}  // namespace ingot::cli
