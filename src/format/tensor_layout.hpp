// SPDX-License-Identifier: MIT
// Where the data of tensors lies.
#pragma once

#include <cstdint>

#include "ingot/error.hpp"

namespace ingot::format {

struct Structure;

/// Checks that the data of all tensors lies within the file and no two tensors share bytes; gives
/// tensors of unknown type the bytes up to the next larger offset or the end of the file.
[[nodiscard]] Result<void> check_layout(Structure& structure, std::uint64_t file_bytes);

}  // namespace ingot::format
