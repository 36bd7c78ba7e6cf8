// SPDX-License-Identifier: MIT
// A file mapped into memory.
#pragma once

#include <memory>

#include "ingot/source.hpp"
#include "io/file_descriptor.hpp"

namespace ingot::io {

/// Maps an open regular file, read-only; takes the descriptor.
[[nodiscard]] Result<std::unique_ptr<Source>> map_descriptor(RegularFile file);

}  // namespace ingot::io
