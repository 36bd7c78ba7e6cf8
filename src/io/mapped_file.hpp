// SPDX-License-Identifier: MIT
// A file mapped into memory.
#pragma once

#include <memory>
#include <string>

#include "ingot/source.hpp"
#include "io/file_descriptor.hpp"

namespace ingot::io {

/// Maps an open regular file, read-only; the descriptor is not needed afterwards.
[[nodiscard]] Result<std::unique_ptr<Source>> map_descriptor(int descriptor,
                                                             std::uint64_t size_bytes);

}  // namespace ingot::io
