// SPDX-License-Identifier: MIT
// How large tensors are and where their data lies.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ingot/error.hpp"
#include "ingot/types.hpp"

namespace ingot::format {

struct Structure;

/// What is wrong with a shape.
enum class ShapeProblem : std::uint8_t { none, overflow, partial_block };

struct TensorSize {
  std::uint64_t elements = 0;
  std::uint64_t bytes = 0;  ///< 0 if the type is not known
  ShapeProblem problem = ShapeProblem::none;
};

/// The size of a tensor. `type` may be nullptr (unknown type): then only the elements are counted.
/// A product that leaves 63 bits is an overflow, counting dimensions of 0 as 1 so that a zero hides
/// nothing.
[[nodiscard]] TensorSize size_of_tensor(std::span<const std::uint64_t> shape,
                                        const TensorTypeInfo* type) noexcept;

/// The error that belongs to a problem of the tensor `name`.
[[nodiscard]] Failure fail_shape(ShapeProblem problem, std::uint64_t file_offset,
                                 std::string_view name, std::span<const std::uint64_t> shape,
                                 const TensorTypeInfo* type);

/// Checks that the data of all tensors lies within the file and no two tensors share bytes; gives
/// tensors of unknown type the bytes up to the next larger offset or the end of the file.
[[nodiscard]] Result<void> check_layout(Structure& structure, std::uint64_t file_bytes);

}  // namespace ingot::format
