// SPDX-License-Identifier: MIT
// A pipe: bytes that can be read once, from front to back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ingot/error.hpp"

namespace ingot::io {

/// Whether a descriptor can be read front to back: everything but a directory can.
[[nodiscard]] bool is_stream(int descriptor) noexcept;

/// Reads up to `destination.size()` bytes from a stream; fewer only at its end.
[[nodiscard]] Result<std::size_t> read_stream(int descriptor, std::span<std::byte> destination);

/// Reads a stream to its end and drops the bytes; returns their number.
[[nodiscard]] Result<std::uint64_t> drain_stream(int descriptor);

}  // namespace ingot::io
