// SPDX-License-Identifier: MIT
// How large tensors are and where their data lies.
#pragma once

#include <cstdint>
#include <span>

#include "ingot/error.hpp"
#include "ingot/types.hpp"

namespace ingot::format {

struct Structure;

struct TensorSize {
  std::uint64_t elements = 0;
  std::uint64_t bytes = 0;  ///< 0 if the type is not known
};

/// The size of a tensor. `type` may be nullptr (unknown type): then only the elements are counted.
/// Errc::size_overflow if a product leaves 63 bits, counting dimensions of 0 as 1 so that a zero
/// hides nothing; Errc::row_not_whole_blocks. The caller adds to an error which tensor it is.
[[nodiscard]] Result<TensorSize> size_of_tensor(std::span<const std::uint64_t> shape,
                                                const TensorTypeInfo* type);

/// Checks that the data of all tensors lies within the file and no two tensors share bytes; gives
/// tensors of unknown type the bytes up to the next larger offset or the end of the file.
[[nodiscard]] Result<void> check_layout(Structure& structure, std::uint64_t file_bytes);

}  // namespace ingot::format
