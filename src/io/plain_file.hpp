// SPDX-License-Identifier: MIT
// A file read with pread.
#pragma once

#include <memory>

#include "ingot/source.hpp"
#include "io/file_descriptor.hpp"

namespace ingot::io {

/// Reads an open regular file; takes the descriptor.
[[nodiscard]] std::unique_ptr<Source> read_descriptor(RegularFile file);

}  // namespace ingot::io
