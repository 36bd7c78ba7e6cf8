// SPDX-License-Identifier: MIT
// Blocks of the other byte order.
#pragma once

#include <cstddef>
#include <span>

#include "ingot/types.hpp"

namespace ingot::codec {

/// Reverses the bytes of every field of more than one byte, in whole blocks of a live type.
void swap_fields(const TensorTypeInfo& type, std::span<std::byte> blocks) noexcept;

}  // namespace ingot::codec
